/** One unit: the criteria that are asked of it, one of them open, and what is asked once for all of them. */

import { CriterionView } from "./criterion_view.js";
import { element } from "./element.js";
import { Writing, percentage } from "./writing.js";

export class UnitView {
  /**
   * @param {import("./work.js").Work} work
   * @param {number} position
   * @param {import("./criterion_view.js").Bench} bench
   */
  constructor(work, position, bench) {
    this.work = work;
    this.position = position;
    this.bench = bench;
    this.criteria = work.form.criteria.map((criterion) => new CriterionView(work, position, criterion, bench));
    this.open = this.firstOpen();
    this.confidence = work.form.confidence === "off" ? null : this.makeConfidence();
    this.notes = work.form.notes === "off" ? null : this.makeNotes();
    this.complaint = element("p", { class: "complaint notice caution", role: "alert", hidden: true });
    const asks = [this.confidence?.element, this.notes?.element];
    const once = element("div", { class: "once", hidden: !asks.some(Boolean) }, asks);
    this.element = element(
      "div",
      { class: "unit" },
      this.criteria.map((view) => view.element),
      once,
      this.complaint,
    );
    this.update();
  }

  makeConfidence() {
    const label = this.work.form.confidence === "required" ? "How sure are you?" : "How sure are you? (optional)";
    const save = (text) => {
      const value = percentage(text);
      if (value !== undefined) this.changeLead({ confidence: value }, "confidence");
    };
    const hint = "From 0 to 100 percent, for all ratings together";
    const id = `confidence-${this.position}`;
    return new Writing({ id, label, hint, kind: "percent", save, ...this.ways("confidence") });
  }

  makeNotes() {
    const label = this.work.form.notes === "required" ? "Notes" : "Notes (optional)";
    const save = (text) => this.changeLead({ notes: text.trim() === "" ? null : text }, "notes");
    return new Writing({ id: `notes-${this.position}`, label, kind: "lines", save, ...this.ways("notes") });
  }

  ways(part) {
    return { accept: () => this.bench.acceptAfter(part), leave: () => this.bench.leave() };
  }

  changeLead(changes, typing) {
    this.work.change(this.position, this.work.form.lead, changes, typing);
  }

  /** The first criterion without an answer, or the first. */
  firstOpen() {
    const asked = this.work.asked(this.position);
    const open = asked.find((criterion) => this.work.answer(this.position, criterion.id).status === null);
    return (open ?? asked[0]).id;
  }

  /** @param {string} id */
  view(id) {
    return this.criteria.find((view) => view.criterion.id === id);
  }

  get current() {
    return this.view(this.open);
  }

  /** Opens a criterion and puts the focus there. */
  goTo(id) {
    this.complain("");
    this.open = id;
    this.update();
    this.current.focus();
    this.current.element.scrollIntoView({ block: "nearest" });
  }

  /** The criterion so many places on among those asked, or null. */
  neighbour(step) {
    const asked = this.work.asked(this.position).map((criterion) => criterion.id);
    return asked[asked.indexOf(this.open) + step] ?? null;
  }

  /** @param {import("./answers.js").Lack} lack */
  pointAt(lack) {
    if (lack.part === "value" || lack.part === "evidence") this.goTo(lack.criterion);
    if (lack.part === "rationale") {
      this.goTo(lack.criterion);
      this.view(lack.criterion).focusRationale();
    }
    if (lack.part === "confidence") this.confidence?.focus();
    if (lack.part === "notes") this.notes?.focus();
    const once = lack.part === "confidence" || lack.part === "notes";
    const { words } = lack;
    const title = this.view(lack.criterion).criterion.title;
    const wanted = once ? words[0].toUpperCase() + words.slice(1) : `${title}: ${words}`;
    this.complain(`Not finished yet. ${wanted}.`, this.place(lack));
  }

  /** Below which element a lack is spoken of. @param {import("./answers.js").Lack} lack */
  place({ criterion, part }) {
    if (part === "confidence" || part === "notes") return this[part]?.element;
    const view = this.view(criterion);
    return { value: view.body.firstElementChild, rationale: view.rationale?.element, evidence: view.citations }[part];
  }

  /**
   * @param {string} words empty: there is nothing to complain about any more
   * @param {Element | null} [place] below which they are to be seen; otherwise below everything
   */
  complain(words, place = null) {
    this.complaint.hidden = words === "";
    this.complaint.textContent = words;
    if (words === "") return;
    (place ?? this.element.lastElementChild).after(this.complaint);
    this.complaint.scrollIntoView({ block: "nearest" });
  }

  /** What is being written goes out now. */
  save() {
    for (const view of this.criteria) {
      view.rationale?.now();
      if (view.answering instanceof Writing) view.answering.now();
    }
    this.confidence?.now();
    this.notes?.now();
  }

  update() {
    const asked = this.work.asked(this.position).map((criterion) => criterion.id);
    if (!asked.includes(this.open)) this.open = this.firstOpen();
    for (const view of this.criteria) {
      view.element.hidden = !asked.includes(view.criterion.id);
      view.update(view.criterion.id === this.open);
    }
    const lead = this.work.answer(this.position, this.work.form.lead);
    this.confidence?.show(lead.confidence === null ? "" : String(lead.confidence));
    this.notes?.show(lead.notes ?? "");
    this.confidence?.lock(this.work.task.locked);
    this.notes?.lock(this.work.task.locked);
  }
}
