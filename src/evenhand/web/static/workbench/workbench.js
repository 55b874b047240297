/** What rating and adjudicating have in common: one open task, its criteria, answers, keys and citations. */

import { ActiveTime } from "../shared/active_time.js";
import { prepareDialog } from "../shared/dialogs.js";
import { pageChanged } from "../shared/double_click.js";
import { BrowserStorage } from "../shared/storage.js";
import { button, byId, h, row, textElement } from "../shared/view.js";
import { UNANSWERABLE, isSameSpan } from "./answers.js";
import { indexOfDigit } from "./choices.js";
import { CiteButton, openEvidenceDialog } from "./citations.js";
import { criterionId } from "./criterion.js";
import { arrange, fieldsOf, quote } from "./fields.js";
import { bindKeys, openKeyHelp } from "./key_bindings.js";
import { Outbox } from "./outbox.js";
import { outdatedNotice } from "./save_status.js";
import { TaskState } from "./task_state.js";
import { Drafts, focusField } from "./text_field.js";

const SIGNED_OUT = "You are signed out. Your answers are kept in this browser. Open your invite link again to send them.";

/** Answers that have a button of their own, by its label. @type {Record<OtherAnswer, Partial<Answer>>} */
const OTHER_ANSWERS = {
  Unanswerable: { status: "rated", value: UNANSWERABLE },
  "Cannot assess": { status: "cannot_assess", value: null },
  "Leave out": { status: "skipped", value: null },
};

export class Workbench {
  /** @param {Form} form @param {string} storageName @param {(entry: Entry) => Promise<any>} [put] sends an answer */
  constructor(form, storageName, put) {
    this.form = form;
    this.criteria = Object.fromEntries(form.criteria.map((criterion) => [criterion.id, criterion]));
    this.storage = new BrowserStorage(storageName);
    this.outbox = new Outbox(this.storage, form.study.digest, put);
    this.tasks = new TaskState(form, this.outbox, this.storage, new ActiveTime());
    this.drafts = new Drafts(() => this.drawSoon());
    /** @type {PageState} */
    this.ui = { position: 1, open: "", cursor: null, complaint: null };
    /** @type {Arrangement | null} null: no task is shown */
    this.arrangement = null;
    this.cite = new CiteButton(() => this.citableFields(), (span) => this.toggleCitation(span));
    this.guideline = /** @type {HTMLDialogElement} */ (byId("guideline"));
    /** @type {string | undefined} the field that the criterion shown last is checked against */
    this.checked = undefined;
    this.isDrawing = false;
    this.willDraw = false;
  }

  /** Starts listening; to be called once the page can be drawn. */
  listen() {
    prepareDialog(this.guideline);
    byId("open-guideline").addEventListener("click", () => this.openGuideline());
    byId("close-guideline").addEventListener("click", () => this.guideline.close());
    byId("open-keys").addEventListener("click", () => openKeyHelp(this.keyActions()));
    bindKeys(this.keyActions());
    this.tasks.addEventListener("change", () => this.drawSoon());
    this.outbox.addEventListener("refused", (event) => this.showRefused(/** @type {CustomEvent} */ (event).detail.entry));
    addEventListener("pagehide", () => this.drafts.saveAll());
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.drafts.saveAll());
  }

  /** @returns {KeyActions} */
  keyActions() {
    const onTask = (/** @type {(key: string) => void} */ act) => (/** @type {string} */ key) => {
      if (this.isOpen) act(key);
    };
    return {
      digit: onTask((digit) => this.pressDigit(digit)),
      accept: () => this.accept(),
      finish: () => this.finish(),
      stepCriterion: onTask((key) => this.stepCriterion(key === "ArrowUp" ? -1 : 1)),
      stepUnit: onTask((key) => this.stepUnit(key === "[" ? -1 : 1)),
      undo: () => this.undo(),
      cannotAssess: onTask(() => this.answerWith("Cannot assess")),
      rationale: onTask(() => focusField(`${this.currentId}-why`)),
      notes: onTask(() => focusField("notes")),
      cite: () => this.cite.citeSelection(),
      chooseEvidence: onTask(() => this.chooseEvidence()),
      guideline: () => this.openGuideline(),
      help: () => openKeyHelp(this.keyActions()),
    };
  }

  // Drawing

  /** Draws the page now, unless it is being drawn: a field that is removed saves its text, and that is drawn later. */
  draw() {
    if (this.isDrawing) return this.drawSoon();
    this.isDrawing = true;
    try {
      this.drawPage();
    } finally {
      this.isDrawing = false;
    }
  }

  /** Draws the page once for all changes of this moment. */
  drawSoon() {
    if (this.willDraw) return;
    this.willDraw = true;
    queueMicrotask(() => {
      this.willDraw = false;
      this.draw();
    });
  }

  drawPage() {}

  /** @returns {Context} */
  get context() {
    const { form, tasks, ui, drafts } = this;
    const asked = tasks.asked(ui.position);
    if (!asked.some((criterion) => criterion.id === ui.open)) ui.open = this.firstOpen();
    return { form, tasks, ui, drafts, actions: this, badge: () => null, introduction: () => null };
  }

  /** The evidence cited for the open criterion. */
  get cited() {
    return this.tasks.answer(this.ui.position, this.ui.open).evidence;
  }

  /** What needs attention although it is not in view: answers that were refused or are outdated, a session that ended. */
  banners() {
    const isInView = (/** @type {Entry} */ { task, position, criterion }) =>
      this.isOpen && task === this.tasks.task.number && position === this.ui.position && criterion === this.ui.open;
    const refused = this.outbox.entries().filter((entry) => entry.refused && !isInView(entry));
    const signedOut = h("p", { class: "notice bad", role: "alert" }, SIGNED_OUT);
    return [
      this.outbox.state === "signed out" && signedOut,
      refused.map((entry) => this.refusedBanner(entry)),
      outdatedNotice(this.form, this.outbox),
    ];
  }

  /** @param {Entry} entry */
  refusedBanner(entry) {
    const isFinish = entry.kind === "finish";
    const chain = () => (isFinish ? [entry] : this.outbox.entriesFor(entry.task, entry.position, entry.criterion));
    const go = () => {
      if (isFinish) this.outbox.discard([entry]);
      this.openAt(entry);
    };
    const actions = row(button("Go there", go, { class: "primary" }), button("Discard", () => this.outbox.discard(chain())));
    const what = isFinish ? "could not be finished" : "has an answer that was not saved";
    const name = typeof entry.task === "string" ? entry.task : "An item";
    const message = textElement("p", `${name} ${what}. ${entry.refused?.error ?? ""}`);
    return h("div", { key: entry.id, class: "notice bad", role: "alert" }, message, actions);
  }

  openGuideline() {
    if (!this.guideline.open) this.guideline.showModal();
  }

  // The open task

  get isOpen() {
    return this.arrangement !== null;
  }

  /** @param {Task} task */
  openTask(task) {
    this.drafts.close();
    this.tasks.open(task);
    this.arrangement = arrange(this.form, task);
    this.openUnit((task.units.find((unit) => !unit.finished) ?? task.units[0]).position);
  }

  closeTask() {
    this.drafts.close();
    this.arrangement = null;
    this.tasks.open(null);
  }

  /** @param {number} position */
  openUnit(position) {
    this.drafts.close();
    this.ui.position = position;
    this.openCriterion(this.firstOpen());
  }

  /** @param {string} criterion */
  openCriterion(criterion) {
    Object.assign(this.ui, { open: criterion, cursor: null, complaint: null });
  }

  /** The first criterion without an answer, or the first. */
  firstOpen() {
    const asked = this.tasks.asked(this.ui.position);
    const open = asked.find((criterion) => this.tasks.answer(this.ui.position, criterion.id).status === null);
    return (open ?? asked[0]).id;
  }

  /** The open criterion. */
  get criterion() {
    return this.criteria[this.ui.open];
  }

  get currentId() {
    return criterionId(this.ui.open);
  }

  // Moving

  /** Opens a criterion and focuses it. @param {string} criterion */
  goTo(criterion) {
    pageChanged();
    this.openCriterion(criterion);
    this.draw();
    this.focusAnswer();
    this.showChecked();
    // The head comes last: if the criterion is higher than its pane, the question must be in view.
    for (const part of ["", "-head"]) document.getElementById(this.currentId + part)?.scrollIntoView({ block: "nearest" });
  }

  /** Shows the text that the open criterion is checked against, if it is another one than before. */
  showChecked() {
    const [name] = this.criterion.against ?? [];
    const [pane, text] = [document.getElementById("sources"), document.getElementById(`field-${name}`)?.parentElement];
    if (name !== this.checked && pane && text) {
      pane.scrollTop += text.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    }
    this.checked = name;
  }

  /**
   * Shows the text that the open unit comes from and its own, if it is a part of the item; on the way from another unit,
   * its criteria before.
   * @param {{ isNext?: boolean }} [options]
   */
  showUnit({ isNext = false } = {}) {
    this.showChecked();
    const { position } = this.ui;
    const mark = document.querySelector(`#source-${position} mark`);
    const places = [isNext ? this.currentId : "", mark, `source-${position}`, `unit-${position}`, `sentence-${position}`];
    for (const place of places) {
      const shown = typeof place === "string" ? document.getElementById(place) : place;
      shown?.scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {number} position */
  goToUnit(position) {
    if (position === this.ui.position) return this.focusTask();
    pageChanged();
    this.openUnit(position);
    this.draw();
    this.showUnit({ isNext: true });
    return this.focusTask();
  }

  /** @param {number} by */
  stepCriterion(by) {
    const next = this.neighbour(by);
    if (next) this.goTo(next);
  }

  /** The criterion this many places further on among those asked, or null. @param {number} by */
  neighbour(by) {
    const asked = this.tasks.asked(this.ui.position).map((criterion) => criterion.id);
    return asked[asked.indexOf(this.ui.open) + by] ?? null;
  }

  get takesText() {
    return this.criterion.scale.values.length === 0;
  }

  /** Focuses the choices or the text field. The choices are focused as a group, so that none looks chosen. */
  focusAnswer() {
    document.getElementById(`${this.currentId}-answer`)?.focus({ preventScroll: true });
  }

  /** Focuses where one answers; on a touch screen not a text field, whose keyboard would cover the page. */
  focusTask() {
    if (this.takesText && matchMedia("(pointer: coarse)").matches) this.leaveField();
    else this.focusAnswer();
  }

  /** Focuses something that takes no text, so that keys are shortcuts again. */
  leaveField() {
    if (this.takesText) document.getElementById(`${this.currentId}-state`)?.focus({ preventScroll: true });
    else this.focusAnswer();
  }

  // Answering

  /** @param {string} criterion @param {Partial<Answer>} changes @param {string | null} [typing] */
  change(criterion, changes, typing = null) {
    this.ui.complaint = null;
    this.tasks.change(this.ui.position, criterion, changes, typing);
  }

  /** @param {Value} value */
  pick(value) {
    this.ui.cursor = null;
    this.change(this.ui.open, { status: "rated", value });
  }

  /** @param {Cursor} cursor */
  moveCursor(cursor) {
    this.ui.cursor = cursor;
    this.draw();
  }

  /** @param {string} digit */
  pressDigit(digit) {
    const { scale } = this.criterion;
    if (digit === "0" && scale.unanswerable) return this.answerWith("Unanswerable");
    const index = indexOfDigit(scale, digit);
    if (index < 0) return;
    this.pick(scale.values[index].value);
    const choice = document.getElementById(`${this.currentId}-answer-${index}`);
    if (document.getElementById(`${this.currentId}-answer`)?.contains(document.activeElement)) {
      choice?.focus({ preventScroll: true }); // so that a screen reader reads it
      this.moveCursor({ index, isQuiet: true });
    }
    choice?.scrollIntoView({ block: "nearest" });
  }

  /** Gives an answer that has a button of its own, if the criterion has it. @param {OtherAnswer} label */
  answerWith(label) {
    const shown = document.getElementById(`answer-${label}`);
    if (!shown) return;
    this.change(this.ui.open, OTHER_ANSWERS[label]);
    shown.scrollIntoView({ block: "nearest" });
  }

  /** The fields that may be cited for the open criterion. */
  citableFields() {
    const { form, arrangement } = this;
    if (!arrangement || this.tasks.task.locked || this.criterion.evidence === "off") return [];
    const { sources, context, rated } = arrangement;
    const isSplit = form.unit === "sentence" && this.tasks.task.units.some((unit) => unit.span);
    const shown = [...sources, ...context, ...rated].filter(({ name }) => name !== form.rated_field || !isSplit);
    const names = this.criterion.against ?? form.evidence_fields;
    return names.flatMap((name) => shown.filter((field) => field.name === name));
  }

  /** @param {Span} span */
  toggleCitation(span) {
    const isOther = (/** @type {Span} */ other) => !isSameSpan(other, span);
    const { evidence } = this.tasks.answer(this.ui.position, this.ui.open);
    this.change(this.ui.open, { evidence: evidence.every(isOther) ? [...evidence, span] : evidence.filter(isOther) });
  }

  /** The words of a span. @param {Span} span */
  quote(span) {
    return quote(fieldsOf(this.form, this.tasks.task), span);
  }

  chooseEvidence() {
    const fields = this.citableFields();
    if (fields.length === 0) return;
    const answer = () => this.tasks.answer(this.ui.position, this.ui.open);
    const isCited = (/** @type {Span} */ span) => answer().evidence.some((other) => isSameSpan(other, span));
    openEvidenceDialog(fields, this.form.study.language, isCited, (span) => this.toggleCitation(span));
  }

  /** Shows why an answer was refused. If its criterion did not apply when it was made, sends it again. @param {Entry} entry */
  showRefused(entry) {
    if (this.tasks.current?.number !== entry.task) return;
    if (entry.refused?.present?.status === "not_asked") return this.tasks.resolve(entry, true);
    this.draw();
    document.getElementById("refused")?.scrollIntoView({ block: "nearest" });
  }

  // What is missing

  /** Goes to what is missing and says so there. @param {Missing} missing */
  pointAt({ criterion, part, instruction }) {
    const isOnce = part === "confidence" || part === "notes";
    if (!isOnce) this.goTo(criterion);
    if (isOnce) focusField(part);
    if (part === "rationale") focusField(`${this.currentId}-why`);
    const { title } = this.criteria[criterion];
    const what = isOnce ? instruction[0].toUpperCase() + instruction.slice(1) : `${title}: ${instruction}`;
    this.complain(`Not finished yet. ${what}.`, criterion, part);
  }

  /**
   * @param {string} message @param {string | null} [criterion]
   * @param {AnswerPart | null} [part] below which it is shown; otherwise below everything
   */
  complain(message, criterion = null, part = null) {
    this.ui.complaint = { message, criterion, part };
    this.draw();
    document.getElementById("complaint")?.scrollIntoView({ block: "nearest" });
  }

  // What the pages do in their own ways

  /** @param {Entry} _entry */
  openAt(_entry) {}

  /** Enter. */
  accept() {}

  /** @param {"confidence" | "notes"} _part in which Enter was pressed */
  acceptAfter(_part) {
    this.finish();
  }

  /** Ctrl+Enter. @returns {void | Promise<void>} */
  finish() {}

  /** @param {number} _by */
  stepUnit(_by) {}

  undo() {}
}
