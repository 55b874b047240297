/** Which key was meant, on any keyboard, and whether it was meant for us. */

/**
 * The name of a key as it stands in a table of keys: `1`, `u`, `?`, `[`, `Enter`, `ArrowUp`, `Ctrl+Enter`; null where
 * it belongs to the browser, to an input method or to a text field.
 * @param {KeyboardEvent} event
 * @returns {string | null}
 */
export function keyName(event) {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey) return "Ctrl+Enter";
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key.length > 1) return event.key;
  if (/^[0-9?[\]a-z]$/i.test(event.key)) return event.key.toLowerCase();
  return byPlace(event);
}

/**
 * Keyboards without Latin letters, or with digits on the shifted level: by where the key is.
 * @param {KeyboardEvent} event
 */
function byPlace(event) {
  if (event.shiftKey) return event.key;
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
  if (digit) return digit[1];
  const foreign = event.key.codePointAt(0) > 0x7f;
  const letter = /^Key([A-Z])$/.exec(event.code);
  if (foreign && letter) return letter[1].toLowerCase();
  if (foreign && event.code === "BracketLeft") return "[";
  if (foreign && event.code === "BracketRight") return "]";
  return event.key;
}

/**
 * Whether somebody is writing here.
 * @param {EventTarget | null} target
 */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

/**
 * Whether Enter and Space belong to what has the focus: not where pressing it would choose or open what is open.
 * @param {EventTarget | null} target
 */
function isPressable(target) {
  const own = "button:not([role=radio], [aria-expanded=true]), a[href], summary, [role=button]";
  return target instanceof HTMLElement && target.matches(own);
}

/**
 * Listens for the keys of a table. Nothing happens while a dialog is open or while somebody is writing, but Ctrl+Enter
 * and the fields' own keys.
 * @param {Record<string, (event: KeyboardEvent) => void>} table
 */
export function listen(table) {
  document.addEventListener("keydown", (event) => {
    const name = keyName(event);
    if (name === null || document.querySelector("dialog[open]")) return;
    if (name !== "Ctrl+Enter" && isTyping(event.target)) return;
    if ((name === "Enter" || name === " ") && isPressable(event.target)) return;
    if (event.repeat && !name.startsWith("Arrow")) return;
    const act = table[name];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
