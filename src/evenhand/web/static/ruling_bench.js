/** Whoever adjudicates, at work: what the keys and buttons of the adjudication page do. */

import { aliasesOf } from "./aliases.js";
import { announce } from "./announce.js";
import { get, request } from "./api.js";
import { Clock } from "./clock.js";
import { openEvidence } from "./dialogs.js";
import { DisputeList } from "./dispute_list.js";
import { byId, element } from "./element.js";
import { Citing } from "./evidence.js";
import { listen } from "./keys.js";
import { Outbox } from "./outbox.js";
import { RulingFrame, openRulingKeys } from "./ruling_frame.js";
import { saidTable } from "./said_table.js";
import { Shelf } from "./shelf.js";
import { showStatus } from "./status.js";
import { TaskView } from "./task_view.js";
import { slice } from "./text.js";
import { Work } from "./work.js";

export class RulingBench {
  /** @param {any} form */
  constructor(form) {
    this.form = form;
    this.reads = form.rater === ""; // the owner looks on and does not rule
    this.shelf = new Shelf(`${form.study.id}/ruling/${form.rater}`);
    this.outbox = new Outbox(this.shelf, carry);
    this.work = new Work(form, this.outbox, this.shelf, new Clock());
    this.list = new DisputeList((unit) => this.open(unit));
    byId("disputes").append(this.list.element);
    /** @type {TaskView | null} */
    this.view = null;
    this.ending = false;
    /** @type {Set<string>} units whose rulings are all given, but not all saved */
    this.complete = new Set();
    this.hidden = this.shelf.get("names") !== "shown";
    this.citing = new Citing(() => this.view?.citable() ?? [], (span) => this.view?.unit.current.toggleCitation(span));
    this.frame = new RulingFrame(this);
    if (!this.reads) showStatus(byId("status"), this.outbox);
    this.work.addEventListener("change", () => this.update());
    this.outbox.addEventListener("change", () => {
      this.noteRuled();
      this.endIfSaved();
      this.frame.drawBanners();
    });
    this.outbox.addEventListener("refused", (event) => this.hearRefusal(/** @type {CustomEvent} */ (event).detail.entry));
    listen(this.keys());
  }

  keys() {
    const digits = Object.fromEntries([..."0123456789"].map((digit) => [digit, () => this.view?.unit.current.press(digit)]));
    return {
      ...digits,
      Enter: () => this.accept(),
      "Ctrl+Enter": () => this.finish(),
      ArrowUp: () => this.stepCriterion(-1),
      ArrowDown: () => this.stepCriterion(1),
      "[": () => this.step(-1),
      "]": () => this.step(1),
      x: () => this.view?.unit.current.cannotAssess(),
      u: () => this.undo(),
      r: () => this.view?.unit.current.focusRationale(),
      n: () => this.view?.unit.notes?.focus(),
      c: () => this.citing.act(),
      e: () => this.chooseEvidence(),
      h: () => this.toggleNames(),
      g: () => this.frame.openGuideline(),
      "?": openRulingKeys,
    };
  }

  async start() {
    await this.outbox.send();
    await this.load(new URLSearchParams(location.hash.slice(1)).get("unit"));
  }

  // The list

  /** @param {string | null} [wanted] the unit to open; otherwise the first without a ruling */
  async load(wanted = null) {
    try {
      const { disputes, more } = await get(`/api/disputes?${this.frame.query}`);
      this.list.take(disputes, more);
      this.frame.count(this.list.open);
      const first = wanted ?? this.list.beside(null, 1, true) ?? disputes[0]?.unit ?? null;
      if (first === null) this.showNothing();
      else await this.open(first);
    } catch (fault) {
      this.frame.trouble(fault, () => this.load(wanted));
    }
  }

  /** @param {string} unit */
  async open(unit) {
    this.view?.unit.save();
    this.wanted = unit;
    try {
      const found = await get(`/api/disputes/unit?${new URLSearchParams({ unit })}`);
      // Whoever chose another meanwhile does not want this one any more.
      if (this.wanted === unit) this.show(found);
    } catch (fault) {
      if (this.wanted === unit) this.frame.trouble(fault, () => this.open(unit));
    }
  }

  /** @param {number} by */
  step(by) {
    const unit = this.list.beside(this.work.task?.number ?? null, by);
    if (unit !== null) this.open(unit);
  }

  // The unit

  /** @param {any} found a unit with what everybody said of it */
  show(found) {
    this.found = found;
    const { fields, units } = found;
    this.work.take({ number: found.unit, purpose: "ruling", state: "open", locked: this.reads, title: null, fields, units, feedback: null, others: null });
    this.view = new TaskView(this.work, this);
    this.view.notices.hidden = true;
    this.apart = this.list.disputes.find((dispute) => dispute.unit === found.unit)?.by_criterion ?? {};
    const { unit } = this.view;
    unit.open = this.nextOpen() ?? this.inDispute()[0] ?? unit.open;
    history.replaceState(null, "", `#${new URLSearchParams({ unit: found.unit })}`);
    this.frame.show(this.view);
    this.list.mark(found.unit);
    this.drawSaid();
    this.update();
    unit.current.focus();
    announce(`${found.unit}: ${this.inDispute().length === 1 ? "1 criterion" : `${this.inDispute().length} criteria`} in dispute`);
  }

  /** The criteria on which raters disagree here, in the order in which they are asked. */
  inDispute() {
    return this.form.criteria.map((criterion) => criterion.id).filter((id) => this.apart[id] > 0);
  }

  /** The first criterion in dispute without a ruling, or null. */
  nextOpen() {
    const asked = this.work.asked(this.view.position).map((criterion) => criterion.id);
    return this.inDispute().find((id) => asked.includes(id) && this.work.answer(this.view.position, id).status === null) ?? null;
  }

  /** Puts what raters said above the choices of each criterion. */
  drawSaid() {
    const aliases = aliasesOf(this.found.unit, this.found.ratings);
    const name = (rater) => (this.hidden ? aliases.get(rater) : rater);
    for (const view of this.view.unit.criteria) {
      view.body.querySelector(".said")?.remove();
      view.body.querySelector(".yours")?.remove();
      const how = { name, hidden: this.hidden, quote: (span) => this.quote(span) };
      const yours = this.reads ? "" : element("p", { class: "yours" }, "Your ruling");
      view.answering.element.before(saidTable(view.criterion, this.found.ratings, how), yours);
      view.head.querySelector(".apart")?.remove();
      const apart = this.apart[view.criterion.id];
      if (apart > 0) view.value.before(element("span", { class: "badge caution apart" }, `${Math.round(apart * 100)}% apart`));
    }
    byId("names").setAttribute("aria-pressed", String(this.hidden));
  }

  toggleNames() {
    this.hidden = !this.hidden;
    this.shelf.set("names", this.hidden ? "hidden" : "shown");
    if (this.view) this.drawSaid();
    announce(this.hidden ? "Names are hidden." : "Names are shown.");
  }

  update() {
    if (!this.view) return;
    this.view.update();
    const { open } = this.view.unit;
    const cited = this.found.ratings.filter((rating) => rating.criterion === open).flatMap((rating) => rating.evidence);
    const own = this.work.answer(this.view.position, open).evidence;
    for (const field of this.view.fields.values()) field.draw([...own, ...cited]);
  }

  // What criteria and fields ask of the page around them

  goTo(criterion) {
    this.view?.unit.goTo(criterion);
    this.update();
  }

  goToUnit() {}

  leave() {
    this.view?.unit.current.head.focus();
  }

  /** The words of a span, whichever way its field is shown. */
  quote({ field, start, end }) {
    const parts = this.found.fields.find((one) => one.name === field)?.parts ?? [];
    const words = parts.map(({ offset, text }) => slice(text, Math.max(0, start - offset), Math.max(0, end - offset)));
    return words.filter((one) => one !== "").join(" … ") || `(not in this item: ${field})`;
  }

  chooseEvidence() {
    const views = this.view?.citable() ?? [];
    if (views.length === 0) return;
    const { current } = this.view.unit;
    const choices = views.flatMap((view) =>
      view.choices(this.form.study.language).map((span) => ({ span, field: view.field.title, words: view.words(span) })),
    );
    const isCited = (span) => current.answer.evidence.some((one) => JSON.stringify(one) === JSON.stringify(span));
    openEvidence(choices, isCited, (span) => current.toggleCitation(span));
  }

  stepCriterion(by) {
    const next = this.view?.unit.neighbour(by);
    if (next) this.goTo(next);
  }

  undo() {
    const change = this.work.history.pop();
    if (!change || change.task !== this.work.task?.number) return announce("There is nothing to take back here.");
    this.work.takeBack(change);
    this.complete.delete(change.task);
    this.list.settle(change.task, this.nextOpen() === null);
    this.goTo(change.criterion);
    return announce("Taken back.");
  }

  // Going on

  /** Enter: what this criterion still wants, the next one in dispute, or the next dispute. */
  accept() {
    if (!this.view) return;
    const { unit } = this.view;
    unit.save();
    const lack = this.lacks().find((one) => one.criterion === unit.open);
    const next = this.nextOpen();
    if (lack && !this.reads) unit.pointAt(lack);
    else if (next && !this.reads) this.goTo(next);
    else this.finish();
  }

  acceptAfter() {
    this.finish();
  }

  /** What a ruling on the criteria in dispute lacks. */
  lacks() {
    const ruled = this.inDispute();
    return this.work.lacks(this.view.position).filter((lack) => ruled.includes(lack.criterion));
  }

  /** Goes to the next dispute without a ruling, or says what this one lacks. */
  finish() {
    if (!this.view) return;
    const { unit } = this.view;
    unit.save();
    if (this.reads) return this.step(1);
    const [lack] = this.lacks();
    if (lack) return unit.pointAt(lack);
    const { number } = this.work.task;
    this.complete.add(number);
    this.noteRuled();
    const next = this.list.beside(number, 1, true) ?? this.list.beside(null, 1, true);
    if (next !== null && next !== number) return void this.open(next);
    this.ending = true;
    return this.endIfSaved();
  }

  /** With the last ruling saved, looks whether there is anything new in dispute. */
  endIfSaved() {
    if (!this.ending || this.outbox.entries().length > 0) return;
    this.ending = false;
    this.load();
  }

  /** @param {import("./outbox.js").Entry} entry */
  hearRefusal(entry) {
    // Nobody's answer: it was written when the criterion did not apply.
    if (entry.refused.present?.status === "not_asked" && this.work.task?.number === entry.task) this.work.settle(entry, true);
  }

  /** Once the server has a ruling, the list says so. */
  noteRuled() {
    if (this.view && !this.reads && this.inDispute().length > 0 && this.nextOpen() === null) this.complete.add(this.work.task.number);
    const waiting = new Set(this.outbox.entries().map((entry) => entry.task));
    for (const unit of this.complete) {
      if (waiting.has(unit)) continue;
      this.list.settle(unit, true);
      this.complete.delete(unit);
    }
    this.frame.count(this.list.open);
  }

  showNothing() {
    this.view = null;
    this.work.task = null;
    this.frame.show(null);
    this.list.mark(null);
  }
}

/**
 * Brings a ruling to the server.
 * @param {import("./outbox.js").Entry} entry whose task is the unit
 */
function carry(entry) {
  const condition = entry.after === null ? { "If-None-Match": "*" } : { "If-Match": `"${entry.after}"` };
  const body = { ...entry.body, unit: entry.task, criterion: entry.criterion };
  return request("PUT", "/api/rulings", body, { "X-Evenhand-Protocol": entry.digest, ...condition });
}
