/** Dialogs: their frame, and the small ones of the rating page. The browser keeps the focus inside. */

import { renewed } from "./double_click.js";
import { button, element, textElement } from "./element.js";
import { isTyping } from "./keys.js";

let count = 0;

/**
 * Opens a dialog that is gone when it is closed.
 * @param {string} title
 * @param {Node[]} body
 * @param {{class?: string, footer?: (close: () => void) => Node[]}} [options]
 */
export function openDialog(title, body, { footer, ...attributes } = {}) {
  count += 1;
  const id = `dialog-${count}`;
  const close = () => dialog.close();
  const dialog = /** @type {HTMLDialogElement} */ (
    element(
      "dialog",
      { "aria-labelledby": id, ...attributes, on: { close: () => dialog.remove() } },
      element("header", {}, element("h2", { id }, title), button("Close", close, { class: "quiet" })),
      element("div", { class: "body stack", tabindex: "0", role: "group", "aria-label": title }, body),
      footer ? element("footer", {}, footer(close)) : null,
    )
  );
  finishDialog(dialog);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Closes a dialog where it is pressed beside it, and brings the caret back with the focus: Chromium leaves it where the
 * dialog was pressed, and letters would go nowhere.
 * @param {HTMLDialogElement} dialog
 */
export function finishDialog(dialog) {
  dialog.addEventListener("close", () => {
    renewed();
    const field = /** @type {HTMLElement | null} */ (document.activeElement);
    if (!isTyping(field)) return;
    field?.blur();
    field?.focus();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target !== dialog) return;
    const box = dialog.getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) dialog.close();
  });
}

const KEYS = [
  ["1 – 9", "Choose a level by its number, a label by its place"],
  ["Enter", "Accept and go on: to the next criterion, the next unit, the next item"],
  ["Ctrl Enter", "Finish this unit and go on; also while writing"],
  ["↑ ↓", "To the criterion before or after"],
  ["← →", "Among the choices, without choosing; Space chooses"],
  ["U", "Take the last answer back; again for the one before"],
  ["X", "Cannot assess"],
  ["S", "Leave an optional criterion out"],
  ["0", "Unanswerable, where that is an answer"],
  ["R", "Write why"],
  ["N", "Write notes"],
  ["C", "Cite the selected words"],
  ["E", "Choose evidence from a list"],
  ["[ ]", "To the unit before or after"],
  ["B", "Back to the task before"],
  ["T", "Your tasks"],
  ["G", "Guideline"],
  ["Esc", "Leave a text field, close a dialog"],
  ["?", "These keys"],
];

export function openKeys() {
  const rows = KEYS.map(([keys, words]) => {
    const names = keys.split(/ (?!–|9)/).map((key) => element("kbd", {}, key));
    return element("div", {}, element("dt", {}, names), element("dd", {}, words));
  });
  const hint = element("p", { class: "muted small" }, "Keys rest while you write in a field.");
  openDialog("Keys", [element("dl", { class: "keys" }, rows), hint]);
}

/**
 * Asks why an item is skipped.
 * @param {(reason: string | null) => void} skip
 */
export function openSkip(skip) {
  const attributes = { id: "skip-reason", rows: 2, maxlength: 20_000, dir: "auto" };
  const reason = /** @type {HTMLTextAreaElement} */ (element("textarea", attributes));
  const words = "Whatever has no answer yet is left without one, and you go on to the next item.";
  const body = [
    element("p", {}, words),
    element("div", { class: "field" }, element("label", { for: "skip-reason" }, "Reason (optional)"), reason),
  ];
  const footer = (close) => {
    const go = button("Skip this item", () => {
      go.disabled = true;
      close();
      skip(reason.value.trim() || null);
    }, { class: "primary" });
    return [button("Keep rating", close), go];
  };
  openDialog("Skip this item?", body, { class: "narrow", footer });
  reason.focus();
}

/**
 * Evidence to choose without a pointer: arrows go up and down, Enter cites and takes back.
 * @param {{span: any, field: string, words: string}[]} choices
 * @param {(span: any) => boolean} isCited
 * @param {(span: any) => void} toggle
 */
export function openEvidence(choices, isCited, toggle) {
  const made = choices.map(({ span, words }) => {
    const one = element("button", { type: "button", class: "piece", "aria-pressed": String(isCited(span)) });
    one.append(textElement("span", words));
    one.addEventListener("click", () => {
      toggle(span);
      one.setAttribute("aria-pressed", String(isCited(span)));
    });
    return one;
  });
  const parts = choices.flatMap(({ field }, at) => [
    field === choices[at - 1]?.field ? null : element("h3", { dir: "auto" }, field),
    made[at],
  ]);
  const hint = element("p", { class: "muted small" }, "Arrow keys go up and down, Enter cites or takes back.");
  const list = element("div", { class: "pieces stack tight" }, parts);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = made.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    made[(at + step + made.length) % made.length]?.focus();
  });
  openDialog("Choose evidence", [hint, list], { class: "wide" });
  (made.find((one) => one.getAttribute("aria-pressed") === "true") ?? made[0])?.focus();
}
