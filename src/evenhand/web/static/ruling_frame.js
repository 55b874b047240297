/** What stays on the adjudication page whatever is in hand: the filters, the panes, the bar with the buttons, banners. */

import { Refused, Unreachable } from "./api.js";
import { finishDialog, openDialog } from "./dialogs.js";
import { button, byId, element, textElement } from "./element.js";

const WIDE = "(min-width: 78.01rem)"; // where the list of disputes has a pane of its own

export class RulingFrame {
  /** @param {import("./ruling_bench.js").RulingBench} bench */
  constructor(bench) {
    this.bench = bench;
    this.guideline = /** @type {HTMLDialogElement} */ (byId("guideline"));
    finishDialog(this.guideline);
    byId("open-guideline").addEventListener("click", () => this.openGuideline());
    byId("close-guideline").addEventListener("click", () => this.guideline.close());
    byId("open-keys").addEventListener("click", openRulingKeys);
    byId("names").addEventListener("click", () => bench.toggleNames());
    byId("looking").hidden = !bench.reads;
    const menu = /** @type {HTMLDetailsElement} */ (byId("menu"));
    menu.open = matchMedia(WIDE).matches;
    this.drawFilters();
    this.drawBar();
  }

  drawFilters() {
    const choices = this.bench.form.criteria.map((criterion) => element("option", { value: criterion.id }, criterion.title));
    byId("criterion").append(...choices);
    byId("criterion-field").hidden = choices.length < 2;
    for (const name of ["criterion", "ruled", "models"]) byId(name).addEventListener("change", () => this.bench.load());
  }

  /** What the filters ask for, as the query of a request. */
  get query() {
    const checked = (name) => /** @type {HTMLInputElement} */ (byId(name)).checked;
    const asked = new URLSearchParams({ open: String(!checked("ruled")), include: checked("models") ? "models" : "people" });
    const criterion = /** @type {HTMLSelectElement} */ (byId("criterion")).value;
    if (criterion) asked.set("criterion", criterion);
    return asked;
  }

  /** @param {number} open how many disputes have no ruling */
  count(open) {
    byId("count").textContent = open === 0 ? "none left" : `${open} without a ruling`;
  }

  drawBar() {
    const { bench } = this;
    const before = button("Previous", () => bench.step(-1), { key: "[", class: "quiet" });
    const later = button(bench.reads ? "Next" : "Later", () => bench.step(1), { key: "]", class: "quiet" });
    const undo = bench.reads ? null : button("Undo", () => bench.undo(), { key: "U", class: "quiet" });
    const done = bench.reads ? null : button("Done, next", () => bench.finish(), { key: "Ctrl ⏎", class: "primary" });
    byId("bar").replaceChildren(element("div", { class: "row" }, before, later, undo), ...[done].filter(Boolean));
  }

  /** @param {import("./task_view.js").TaskView | null} view the unit in hand */
  show(view) {
    byId("texts").replaceChildren(...(view?.beside ?? []));
    byId("rated").replaceChildren(...(view?.rating ?? []));
    byId("texts").hidden = !view || view.beside.length === 0;
    for (const name of ["rated", "bar"]) byId(name).hidden = !view;
    byId("nothing").hidden = view !== null;
    for (const name of ["texts", "rated"]) byId(name).scrollTop = 0;
  }

  openGuideline() {
    if (!this.guideline.open) this.guideline.showModal();
  }

  /**
   * @param {unknown} fault
   * @param {() => void} again
   */
  trouble(fault, again) {
    if (!(fault instanceof Refused) && !(fault instanceof Unreachable)) throw fault;
    const notice = element("div", { class: "notice bad", role: "alert" }, element("p", {}, fault.message));
    const retry = button("Try again", () => {
      notice.remove();
      again();
    });
    notice.append(element("div", { class: "row" }, retry));
    byId("banners").append(notice);
  }

  /** What needs somebody although it is not in view. */
  drawBanners() {
    const { bench } = this;
    const { outbox, view, work } = bench;
    const here = (entry) => view && entry.task === work.task.number;
    const refused = outbox.entries().filter((entry) => entry.refused && !here(entry));
    const ended = outbox.state === "ended";
    const banners = refused.map((entry) => {
      const go = button("Go there", () => bench.open(String(entry.task)), { class: "primary" });
      const words = textElement("p", `The ruling on ${entry.task} was not saved. ${entry.refused.error}`);
      return element("div", { class: "notice bad waiting", role: "alert" }, words, element("div", { class: "row" }, go));
    });
    const words = "You are signed out. Your rulings are kept in this browser: open your invite link again, and they will be sent.";
    if (ended) banners.unshift(element("p", { class: "notice bad waiting", role: "alert" }, words));
    const drawn = banners.map((banner) => banner.textContent).join("\n");
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    for (const banner of byId("banners").querySelectorAll(".waiting")) banner.remove();
    byId("banners").append(...banners);
  }
}

const KEYS = [
  ["1 – 9", "Choose a level by its number, a label by its place"],
  ["Enter", "Accept and go on: to the next criterion in dispute, the next dispute"],
  ["Ctrl Enter", "Done, and on to the next dispute; also while writing"],
  ["↑ ↓", "To the criterion before or after"],
  ["[ ]", "To the dispute before or after"],
  ["U", "Take the last answer back"],
  ["X", "Cannot assess"],
  ["R", "Write why"],
  ["N", "Write notes"],
  ["C", "Cite the selected words"],
  ["E", "Choose evidence from a list"],
  ["H", "Hide or show names"],
  ["G", "Guideline"],
  ["?", "These keys"],
];

export function openRulingKeys() {
  const rows = KEYS.map(([keys, words]) =>
    element("div", {}, element("dt", {}, keys.split(/ (?!–|9)/).map((key) => element("kbd", {}, key))), element("dd", {}, words)),
  );
  openDialog("Keys", [element("dl", { class: "keys" }, rows)]);
}
