/** The units in dispute, the worst first, to choose from. */

import { element, textElement } from "./element.js";

export class DisputeList {
  /** @param {(unit: string) => void} choose */
  constructor(choose) {
    this.choose = choose;
    /** @type {any[]} */
    this.disputes = [];
    this.list = element("ol", { class: "disputes" });
    this.element = element("div", {}, this.list);
  }

  /**
   * @param {any[]} disputes
   * @param {boolean} more whether there are others beyond these
   */
  take(disputes, more) {
    this.disputes = disputes;
    this.rows = new Map(disputes.map((dispute) => [dispute.unit, this.row(dispute)]));
    this.list.replaceChildren(...[...this.rows.values()].map(({ element: row }) => row));
    if (more) this.list.append(element("li", { class: "muted small" }, "There are more; they follow once some of these are ruled on."));
  }

  row(dispute) {
    const apart = `${Math.round(dispute.disagreement * 100)}% apart`;
    const fate = element("span", { class: "badge good", hidden: !dispute.ruled }, "ruled");
    const open = element(
      "button",
      { type: "button", class: "quiet", on: { click: () => this.choose(dispute.unit) } },
      textElement("span", dispute.text || dispute.item, { class: "excerpt" }),
      element("span", { class: "row small muted" }, textElement("span", dispute.unit, { class: "id" }), element("span", { class: "number" }, apart), fate),
    );
    return { element: element("li", {}, open), open, fate };
  }

  /** @param {string | null} unit the one in hand */
  mark(unit) {
    for (const [id, { open }] of this.rows ?? []) {
      if (id === unit) open.setAttribute("aria-current", "true");
      else open.removeAttribute("aria-current");
    }
    this.rows?.get(unit)?.open.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {string} unit
   * @param {boolean} ruled
   */
  settle(unit, ruled) {
    const dispute = this.disputes.find((one) => one.unit === unit);
    if (!dispute || dispute.ruled === ruled) return;
    dispute.ruled = ruled;
    this.rows.get(unit).fate.hidden = !ruled;
  }

  /** How many are not ruled on. */
  get open() {
    return this.disputes.filter((dispute) => !dispute.ruled).length;
  }

  /**
   * The next unit without a ruling after this one, or before; null where there is none.
   * @param {string | null} unit
   * @param {number} step
   * @param {boolean} unruled
   */
  beside(unit, step, unruled = false) {
    const at = this.disputes.findIndex((dispute) => dispute.unit === unit);
    for (let next = at + step; next >= 0 && next < this.disputes.length; next += step) {
      if (!unruled || !this.disputes[next].ruled) return this.disputes[next].unit;
    }
    return null;
  }
}
