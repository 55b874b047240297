/** The dialog that asks why an item is skipped. */

import { openDialog } from "../shared/dialogs.js";
import { button, byId, h } from "../shared/view.js";

/** @param {(reason: string | null) => void} skip */
export function openSkipDialog(skip) {
  const field = h(
    "div",
    { class: "field" },
    h("label", { for: "skip-reason" }, "Reason (optional)"),
    h("textarea", { id: "skip-reason", rows: 2, maxlength: 20_000, dir: "auto" }),
  );
  const reason = () => /** @type {HTMLTextAreaElement} */ (byId("skip-reason"));
  const footer = (/** @type {() => void} */ close) => {
    const go = () => {
      const text = reason().value.trim() || null;
      close();
      skip(text);
    };
    return [button("Keep rating", close), button("Skip this item", go, { class: "primary" })];
  };
  const message = "Criteria without an answer stay unanswered, and you continue with the next item.";
  openDialog("Skip this item?", [h("p", {}, message), field], { class: "narrow", footer });
  reason().focus();
}
