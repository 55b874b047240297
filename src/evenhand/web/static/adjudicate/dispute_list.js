/** The units on which raters disagree, the worst first. */

import { h, textElement } from "../shared/view.js";

/** @param {number} share */
export const disagreement = (share) => `${Math.round(share * 100)}% disagreement`;

/**
 * @param {Dispute[]} disputes
 * @param {{more: boolean, current: TaskId | null, open: (unit: string) => void}} state `more`: whether there are others
 */
export function disputeList(disputes, { more, current, open }) {
  const rows = disputes.map((dispute) => {
    const details = [
      textElement("span", dispute.unit, { class: "id" }),
      h("span", { class: "number" }, disagreement(dispute.disagreement)),
      dispute.ruled && h("span", { class: "badge good" }, "ruled"),
    ];
    const attributes = {
      type: "button",
      class: "quiet",
      "aria-current": dispute.unit === current ? "true" : null,
      onclick: () => open(dispute.unit),
    };
    const excerpt = textElement("span", dispute.text || dispute.item, { class: "excerpt" });
    return h("li", { key: dispute.unit }, h("button", attributes, excerpt, h("span", { class: "row small muted" }, details)));
  });
  const rest = h("li", { class: "muted small" }, "There are more. They will appear once some of these have been ruled on.");
  return h("ol", { class: "disputes" }, rows, more && rest);
}

/**
 * The next unit in the list after this one, or before it; null if there is none.
 * @param {Dispute[]} disputes @param {TaskId | null} unit null: from the start
 * @param {number} step @param {{unruled?: boolean}} [options] unruled: only units without a ruling
 */
export function nextDispute(disputes, unit, step, { unruled = false } = {}) {
  const at = disputes.findIndex((dispute) => dispute.unit === unit);
  for (let next = at + step; next >= 0 && next < disputes.length; next += step) {
    if (!unruled || !disputes[next].ruled) return disputes[next].unit;
  }
  return null;
}
