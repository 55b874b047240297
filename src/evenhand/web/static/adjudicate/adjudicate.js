/** The adjudication page: from dispute to dispute, and what its keys and buttons do. */

import { announce } from "../shared/announce.js";
import { get, requestError } from "../shared/api.js";
import { counted } from "../shared/formatting.js";
import { button, byId, h, render, row } from "../shared/view.js";
import { putRuling } from "../workbench/outbox.js";
import { showSaveStatus } from "../workbench/save_status.js";
import { ratingPane, sourcesPane } from "../workbench/unit.js";
import { Workbench } from "../workbench/workbench.js";
import { aliasesOf } from "./aliases.js";
import { disagreement, disputeList, nextDispute } from "./dispute_list.js";
import { ratingsTable } from "./ratings_table.js";

const WIDE = "(min-width: 78.01rem)"; // where the list of disputes has a pane of its own

class AdjudicationPage extends Workbench {
  /** @param {Form} form */
  constructor(form) {
    super(form, `${form.study.id}/ruling/${form.rater}`, putRuling);
    this.readsOnly = form.rater === ""; // the study's owner looks on and does not rule
    /** @type {Dispute[]} */
    this.disputes = [];
    this.hasMore = false;
    /** @type {JudgedRating[]} everyone's ratings of the open unit */
    this.ratings = [];
    /** @type {string | null} the unit that is being loaded */
    this.wanted = null;
    /** @type {Set<TaskId>} units with all rulings given, but not all saved */
    this.complete = new Set();
    this.isEnding = false; // the list is loaded again once everything is saved
    this.isLoaded = false;
    this.hidesNames = this.storage.get("names") !== "shown";
    /** @type {{message: string, retry: () => void} | null} */
    this.error = null;
  }

  async start() {
    byId("looking").hidden = !this.readsOnly;
    /** @type {HTMLDetailsElement} */ (byId("menu")).open = matchMedia(WIDE).matches;
    byId("names").addEventListener("click", () => this.toggleNames());
    this.prepareFilters();
    this.listen();
    if (!this.readsOnly) showSaveStatus(byId("status"), this.outbox);
    this.outbox.addEventListener("change", () => this.noteSaved());
    await this.outbox.send();
    await this.load(new URLSearchParams(location.hash.slice(1)).get("unit"));
  }

  prepareFilters() {
    const options = this.form.criteria.map(({ id, title }) => new Option(title, id));
    byId("criterion").append(...options);
    byId("criterion-field").hidden = options.length < 2;
    for (const name of ["criterion", "ruled", "models"]) byId(name).addEventListener("change", () => this.load());
  }

  keyActions() {
    return { ...super.keyActions(), names: () => this.toggleNames() };
  }

  // Drawing

  drawPage() {
    const current = this.tasks.current?.number ?? null;
    const open = (/** @type {string} */ unit) => this.open(unit);
    render(byId("banners"), [this.banners(), this.errorBanner()]);
    render(byId("disputes"), [disputeList(this.disputes, { more: this.hasMore, current, open })]);
    byId("names").setAttribute("aria-pressed", String(this.hidesNames));
    const unruled = this.disputes.filter((dispute) => !dispute.ruled).length;
    if (this.isLoaded) byId("count").textContent = unruled === 0 ? "none left" : `${unruled} without a ruling`;
    byId("nothing").hidden = !this.isLoaded || this.isOpen || this.disputes.length > 0;
    for (const id of ["rating", "bar"]) byId(id).hidden = !this.isOpen;
    byId("sources").hidden = !this.arrangement?.sources.length;
    if (this.arrangement) this.drawUnit(this.arrangement);
  }

  /** @param {Arrangement} arrangement */
  drawUnit(arrangement) {
    const { context, cited } = this;
    const { number } = this.tasks.task;
    render(byId("sources"), [h("div", { key: number }, sourcesPane(context, arrangement, cited))]);
    render(byId("rating"), ratingPane(context, arrangement, cited));
    render(byId("bar"), this.bar());
  }

  get context() {
    const aliases = aliasesOf(String(this.tasks.task.number), this.ratings);
    const name = (/** @type {string} */ rater) => (this.hidesNames ? aliases.get(rater) ?? rater : rater);
    const options = { name, isHidden: this.hidesNames, quote: (/** @type {Span} */ span) => this.quote(span) };
    const badge = (/** @type {Criterion} */ { id }) => {
      const share = this.disagreements[id];
      const isModel = (/** @type {JudgedRating} */ { criterion, kind }) => criterion === id && kind !== "person";
      const isOfPeople = this.ui.open === id && !this.countsModels && this.ratings.some(isModel);
      const words = disagreement(share) + (isOfPeople ? " among people" : "");
      return share > 0 && h("span", { class: "badge caution disagreement" }, words);
    };
    const introduction = (/** @type {Criterion} */ criterion) => [
      ratingsTable(criterion, this.ratings, options),
      !this.readsOnly && h("p", { class: "yours" }, "Your ruling"),
    ];
    return { ...super.context, badge, introduction };
  }

  /** The evidence that the adjudicator or any rater cited for the open criterion. */
  get cited() {
    const ratings = this.ratings.filter((rating) => rating.criterion === this.ui.open);
    return [...super.cited, ...ratings.flatMap((rating) => rating.evidence)];
  }

  bar() {
    const step = (/** @type {string} */ label, /** @type {string} */ shortcut, /** @type {number} */ by) =>
      button(label, () => this.stepUnit(by), { shortcut, class: "quiet" });
    const undo = button("Undo", () => this.undo(), { shortcut: "U", class: "quiet" });
    const done = button("Done, next", () => this.finish(), { shortcut: "Ctrl ⏎", class: "primary" });
    const steps = [step("Previous", "[", -1), step(this.readsOnly ? "Next" : "Later", "]", 1)];
    return [row(steps, !this.readsOnly && undo), !this.readsOnly && done];
  }

  errorBanner() {
    if (!this.error) return null;
    const { message, retry } = this.error;
    const again = () => {
      this.error = null;
      this.draw();
      retry();
    };
    return h("div", { class: "notice bad", role: "alert" }, h("p", {}, message), row(button("Try again", again)));
  }

  toggleNames() {
    this.hidesNames = !this.hidesNames;
    this.storage.set("names", this.hidesNames ? "hidden" : "shown");
    this.draw();
    announce(this.hidesNames ? "Names are hidden." : "Names are shown.");
  }

  // The list

  get countsModels() {
    return isChecked("models");
  }

  /** What the filters ask for, as the query of a request. */
  get query() {
    const include = this.countsModels ? "models" : "people";
    const query = new URLSearchParams({ open: String(!isChecked("ruled")), include });
    const criterion = /** @type {HTMLSelectElement} */ (byId("criterion")).value;
    if (criterion) query.set("criterion", criterion);
    return query;
  }

  /**
   * @param {string | null} [wanted] the unit to open; by default the first without a ruling
   * @returns {Promise<void>}
   */
  async load(wanted = null) {
    try {
      const { disputes, more } = await get(`/api/disputes?${this.query}`);
      Object.assign(this, { disputes, hasMore: more, isLoaded: true });
      const first = wanted ?? nextDispute(disputes, null, 1, { unruled: true }) ?? disputes[0]?.unit ?? null;
      if (first !== null) return await this.open(first);
      this.closeTask();
      this.draw();
    } catch (error) {
      this.showError(error, () => this.load(wanted));
    }
  }

  /** @param {string} unit @returns {Promise<void>} */
  async open(unit) {
    this.drafts.saveAll();
    this.wanted = unit;
    try {
      const found = await get(`/api/disputes/unit?${new URLSearchParams({ unit })}`);
      if (this.wanted === unit) this.show(found); // unless another one was chosen meanwhile
    } catch (error) {
      if (this.wanted === unit) this.showError(error, () => this.open(unit));
    }
  }

  /** @param {Entry} entry */
  openAt({ task, criterion }) {
    if (criterion && this.isOpen && task === this.tasks.task.number) this.goTo(criterion);
    else this.open(String(task));
  }

  /** @param {number} by */
  stepUnit(by) {
    const unit = nextDispute(this.disputes, this.tasks.current?.number ?? null, by);
    if (unit !== null) this.open(unit);
  }

  /** @param {unknown} error @param {() => void} retry */
  showError(error, retry) {
    this.error = { message: requestError(error).message, retry };
    this.draw();
  }

  // The unit

  /** @param {DisputedUnit} found */
  show({ unit, fields, units, ratings }) {
    this.ratings = ratings;
    const results = { title: null, feedback: null, others: null };
    this.openTask({ number: unit, purpose: "ruling", state: "open", locked: this.readsOnly, fields, units, ...results });
    this.openCriterion(this.firstUnruled() ?? this.disputed[0] ?? this.ui.open);
    history.replaceState(null, "", `#${new URLSearchParams({ unit })}`);
    this.draw();
    for (const id of ["sources", "rating"]) byId(id).scrollTop = 0;
    scrollTo(0, 0); // on a phone, the page scrolls as a whole
    byId("disputes").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    this.showUnit();
    this.focusAnswer();
    announce(`${unit}: ${counted(this.disputed.length, "criterion", "criteria")} in dispute`);
  }

  /** How far raters disagree on this unit, by criterion. @returns {Record<string, number>} */
  get disagreements() {
    return this.disputes.find((dispute) => dispute.unit === this.tasks.task.number)?.by_criterion ?? {};
  }

  /** The criteria in dispute, in the order in which they are asked. */
  get disputed() {
    return this.form.criteria.map(({ id }) => id).filter((id) => this.disagreements[id] > 0);
  }

  /** The first criterion in dispute without a ruling, or null. */
  firstUnruled() {
    const { position } = this.ui;
    const asked = this.tasks.asked(position).map(({ id }) => id);
    return this.disputed.find((id) => asked.includes(id) && this.tasks.answer(position, id).status === null) ?? null;
  }

  /** What the rulings on the criteria in dispute lack. */
  missing() {
    return this.tasks.missing(this.ui.position).filter(({ criterion }) => this.disputed.includes(criterion));
  }

  leaveField() {
    document.getElementById(`${this.currentId}-head`)?.focus();
  }

  undo() {
    const change = this.tasks.history.pop();
    if (!change || change.task !== this.tasks.current?.number) return announce("Nothing to undo here.");
    this.tasks.undo(change);
    this.complete.delete(change.task);
    this.setRuled(change.task, this.firstUnruled() === null);
    this.goTo(change.criterion);
    return announce("Undone.");
  }

  // Continuing

  /** Enter: what this criterion still needs, the next one in dispute, or the next dispute. */
  accept() {
    if (!this.isOpen || this.readsOnly) return this.finish();
    this.drafts.saveAll();
    const missing = this.missing().find(({ criterion }) => criterion === this.ui.open);
    const next = this.firstUnruled();
    if (missing) this.pointAt(missing);
    else if (next) this.goTo(next);
    else this.finish();
  }

  /** Opens the next dispute without a ruling, or says what this one lacks. */
  finish() {
    if (!this.isOpen) return;
    this.drafts.saveAll();
    if (this.readsOnly) return this.stepUnit(1);
    const [missing] = this.missing();
    if (missing) return this.pointAt(missing);
    const { number } = this.tasks.task;
    this.complete.add(number);
    this.noteSaved();
    const unruled = { unruled: true };
    const next = nextDispute(this.disputes, number, 1, unruled) ?? nextDispute(this.disputes, null, 1, unruled);
    if (next !== null && next !== number) return void this.open(next);
    this.isEnding = true;
    this.endIfSaved();
  }

  /** Marks the units whose rulings have all arrived. */
  noteSaved() {
    if (this.isOpen && !this.readsOnly && this.disputed.length > 0 && this.firstUnruled() === null) {
      this.complete.add(this.tasks.task.number);
    }
    const waiting = new Set(this.outbox.entries().map((entry) => entry.task));
    for (const unit of this.complete) {
      if (waiting.has(unit)) continue;
      this.setRuled(unit, true);
      this.complete.delete(unit);
    }
    this.endIfSaved();
    this.drawSoon();
  }

  /** @param {TaskId} unit @param {boolean} ruled */
  setRuled(unit, ruled) {
    const dispute = this.disputes.find((one) => one.unit === unit);
    if (dispute) dispute.ruled = ruled;
  }

  /** Once the last ruling is saved, checks whether there are new disputes. */
  endIfSaved() {
    if (!this.isEnding || this.outbox.entries().length > 0) return;
    this.isEnding = false;
    this.load();
  }
}

/** @param {string} name of a filter */
const isChecked = (name) => /** @type {HTMLInputElement} */ (byId(name)).checked;

async function start() {
  try {
    await new AdjudicationPage(await get("/api/disputes/form")).start();
  } catch (error) {
    const message = requestError(error).message;
    render(byId("banners"), [h("p", { class: "notice bad", role: "alert" }, message)]);
  }
}

start();
