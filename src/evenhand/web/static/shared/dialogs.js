/** Modal dialogs. The browser keeps the focus inside them. */

import { pageChanged } from "./double_click.js";
import { isTyping } from "./keyboard.js";
import { button, h, render } from "./view.js";

let count = 0;

/**
 * Opens a dialog that is removed when it is closed. `show` replaces its contents.
 * @param {string} title @param {Child[]} body
 * @param {{class?: string, footer?: (close: () => void) => Child[]}} [options]
 */
export function openDialog(title, body, { footer, ...attributes } = {}) {
  count += 1;
  const id = `dialog-${count}`;
  const dialog = document.createElement("dialog");
  const close = () => dialog.close();
  /** @param {Child[]} content */
  const show = (content) => {
    const header = h("header", {}, h("h2", { id, dir: "auto" }, title), button("Close", close, { class: "quiet" }));
    const main = h("div", { class: "body stack", tabindex: "0", role: "group", "aria-label": title }, content);
    const bottom = footer ? h("footer", {}, footer(close)) : null;
    render(dialog, [header, main, bottom], { "aria-labelledby": id, ...attributes });
  };
  show(body);
  prepareDialog(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return { element: dialog, close, show };
}

/**
 * Makes a click outside a dialog close it. Also restores the text cursor together with the focus: Chromium leaves it
 * where the dialog was clicked, and what is typed would go nowhere.
 * @param {HTMLDialogElement} dialog
 */
export function prepareDialog(dialog) {
  dialog.addEventListener("close", () => {
    pageChanged();
    const field = document.activeElement;
    if (!(field instanceof HTMLElement) || !isTyping(field)) return;
    field.blur();
    field.focus();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target !== dialog) return;
    const box = dialog.getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) dialog.close();
  });
}
