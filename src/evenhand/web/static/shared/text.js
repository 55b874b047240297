/** Places in texts. The server counts code points, as Python does; the browser counts UTF-16 units. */

/** The number of code points before a UTF-16 index. @param {string} text @param {number} [index] */
export function codePoints(text, index = text.length) {
  return Array.from(text.slice(0, index)).length;
}

/** The part of a text between two code-point offsets. @param {string} text @param {number} start @param {number} end */
export function slice(text, start, end) {
  return Array.from(text).slice(start, end).join("");
}
