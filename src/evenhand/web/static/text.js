/** Texts of others as nodes: never as markup, and without power over what stands beside them. */

const OVERRIDE = /[\u202D\u202E]/u;

/**
 * A text as nodes. Bidirectional overrides stand each alone in an element that shows them, so that they turn nothing
 * else round. The nodes together hold exactly the text: offsets into their `textContent` are offsets into it.
 * @param {string} text
 * @returns {DocumentFragment}
 */
export function textNodes(text) {
  const fragment = document.createDocumentFragment();
  for (const piece of text.split(/([\u202D\u202E])/u)) {
    if (piece === "") continue;
    if (!OVERRIDE.test(piece)) {
      fragment.append(piece);
      continue;
    }
    const control = document.createElement("bdi");
    control.className = "control";
    control.dataset.code = `U+${piece.charCodeAt(0).toString(16).toUpperCase()}`;
    control.textContent = piece;
    fragment.append(control);
  }
  return fragment;
}

/**
 * How many code points precede a UTF-16 index: the server counts characters as Python does.
 * @param {string} text
 * @param {number} index
 */
export function codePoints(text, index = text.length) {
  let count = 0;
  for (let at = 0; at < index; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return count;
}

/**
 * The UTF-16 index of a code-point offset.
 * @param {string} text
 * @param {number} offset
 */
export function utf16(text, offset) {
  let at = 0;
  for (let count = 0; count < offset && at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

/**
 * The part of a text between two code-point offsets.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 */
export function slice(text, start, end) {
  return text.slice(utf16(text, start), utf16(text, end));
}
