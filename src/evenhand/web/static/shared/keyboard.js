/** Keyboard shortcuts: which key was pressed on any keyboard layout, and whether it is a shortcut at all. */

/**
 * The name of a key as a table of shortcuts spells it: `1`, `u`, `?`, `[`, `Enter`, `ArrowUp`, `Ctrl+Enter`; null if it
 * belongs to the browser or to an input method.
 * @param {KeyboardEvent} event @returns {string | null}
 */
export function keyName(event) {
  if (isComposing(event) || event.defaultPrevented) return null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey) return "Ctrl+Enter";
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key.length > 1) return event.key;
  if (/^[0-9?[\]a-z]$/i.test(event.key)) return event.key.toLowerCase();
  return keyByPosition(event);
}

/** Whether an input method is composing a character; Safari only sets the key code. @param {KeyboardEvent} event */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

/** For keyboards without Latin letters, or with digits on the shifted level. @param {KeyboardEvent} event */
function keyByPosition(event) {
  if (event.shiftKey) return event.key;
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
  if (digit) return digit[1];
  const isForeign = Number(event.key.codePointAt(0)) > 0x7f;
  const letter = /^Key([A-Z])$/.exec(event.code);
  if (isForeign && letter) return letter[1].toLowerCase();
  if (isForeign && event.code === "BracketLeft") return "[";
  if (isForeign && event.code === "BracketRight") return "]";
  return event.key;
}

/** Whether an element takes text. @param {EventTarget | null} target */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

/** Whether Enter and Space press the element: not a choice, nor what is open. @param {EventTarget | null} target */
function isPressable(target) {
  const own = "button:not([role=radio], [aria-expanded=true]), a[href], summary, [role=button]";
  return target instanceof HTMLElement && target.matches(own);
}

/**
 * Listens for shortcuts. They rest while a dialog is open or the page is inert; while text is typed, only Ctrl+Enter works.
 * @param {Record<string, (key: string) => void>} shortcuts by key name
 */
export function listenForShortcuts(shortcuts) {
  document.addEventListener("keydown", (event) => {
    const name = keyName(event);
    if (name === null || document.querySelector("dialog[open], [inert]")) return;
    if (name !== "Ctrl+Enter" && isTyping(event.target)) return;
    if ((name === "Enter" || name === " ") && isPressable(event.target)) return;
    if (event.repeat && !name.startsWith("Arrow")) return;
    const run = shortcuts[name];
    if (!run) return;
    event.preventDefault();
    run(name);
  });
}
