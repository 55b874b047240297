/** Whoever rates, at work: what the keys and buttons of the rating page do. */

import { announce } from "./announce.js";
import { Refused, Unreachable } from "./api.js";
import { Clock } from "./clock.js";
import { openEvidence, openKeys, openSkip } from "./dialogs.js";
import { guardDoubleClicks, renewed } from "./double_click.js";
import { byId } from "./element.js";
import { showEnd, showTrouble } from "./ending.js";
import { Citing } from "./evidence.js";
import { Frame } from "./frame.js";
import { Journey } from "./journey.js";
import { listen } from "./keys.js";
import { Outbox } from "./outbox.js";
import { setOutdatedAside } from "./outdated.js";
import { Shelf } from "./shelf.js";
import { showStatus } from "./status.js";
import { TaskView } from "./task_view.js";
import { openTasks } from "./tasks_menu.js";
import { Work } from "./work.js";

export class Bench {
  /** @param {any} form */
  constructor(form) {
    this.form = form;
    this.shelf = new Shelf(`${form.study.id}/${form.rater}`);
    this.outbox = new Outbox(this.shelf);
    setOutdatedAside(form, this.outbox);
    this.work = new Work(form, this.outbox, this.shelf, new Clock());
    this.journey = new Journey(this.outbox);
    this.frame = new Frame(this);
    /** @type {TaskView | null} */
    this.view = null;
    this.waiting = false;
    this.citing = new Citing(() => this.view?.citable() ?? [], (span) => this.view?.unit.current.toggleCitation(span));
    showStatus(byId("status"), this.outbox);
    this.work.addEventListener("change", () => this.update());
    this.outbox.addEventListener("refused", (event) => {
      this.hearRefusal(/** @type {CustomEvent} */ (event).detail.entry);
    });
    addEventListener("pagehide", () => this.unit?.save());
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.unit?.save());
    listen(this.keys());
    guardDoubleClicks();
  }

  keys() {
    const digits = Object.fromEntries([..."0123456789"].map((digit) => [digit, () => this.unit?.current.press(digit)]));
    const table = {
      ...digits,
      Enter: () => (this.done ? this.moveOn() : this.accept()),
      "Ctrl+Enter": () => (this.done ? this.moveOn() : this.finish()),
      ArrowUp: () => this.stepCriterion(-1),
      ArrowDown: () => this.stepCriterion(1),
      "[": () => this.stepUnit(-1),
      "]": () => this.stepUnit(1),
      u: () => this.undo(),
      x: () => this.unit?.current.cannotAssess(),
      s: () => this.unit?.current.leaveOut(),
      r: () => this.unit?.current.focusRationale(),
      n: () => this.unit?.notes?.focus(),
      c: () => this.citing.act(),
      e: () => this.chooseEvidence(),
      b: () => this.back(),
      t: () => this.openTasks(),
      g: () => this.frame.openGuideline(),
      "?": openKeys,
    };
    return Object.fromEntries(Object.entries(table).map(([key, act]) => [key, () => this.moving || act()]));
  }

  get unit() {
    return this.view?.unit ?? null;
  }

  async start() {
    await this.outbox.send(); // what was left over from before comes first
    const named = /^#task-(\d+)$/.exec(location.hash);
    if (named) return this.open(Number(named[1]), { otherwise: () => this.moveOn() });
    return this.moveOn();
  }

  // Showing

  /** @param {any} task */
  show(task) {
    this.work.take(task);
    this.done = false;
    renewed();
    this.view = new TaskView(this.work, this);
    history.replaceState(null, "", `#task-${task.number}`);
    this.frame.showTask(this.view);
    this.settle();
    if (task.feedback || task.others) this.done = this.view.showOutcome(task);
    this.update();
    this.journey.lookAhead(task.number);
    announce(task.purpose === "training" ? `Training ${task.number}` : `Item ${task.number}`);
  }

  update() {
    this.frame.update();
    this.view?.update();
  }

  /** Puts the focus where one answers; on a touch screen not into text fields, whose keyboard would cover the page. */
  settle() {
    const { unit } = this;
    if (!unit) return;
    const types = ["text", "percent"].includes(unit.current.criterion.scale.type);
    if (types && matchMedia("(pointer: coarse)").matches) unit.current.rest();
    else unit.current.focus();
  }

  /** @param {string} criterion */
  goTo(criterion) {
    renewed();
    this.unit?.goTo(criterion);
    this.update();
  }

  /** @param {number} position */
  goToUnit(position) {
    if (position === this.view.position) return this.settle();
    renewed();
    this.view.open(position);
    this.update();
    return this.settle();
  }

  leave() {
    this.unit?.current.rest();
  }

  stepCriterion(by) {
    const next = this.unit?.neighbour(by);
    if (next) this.goTo(next);
  }

  stepUnit(by) {
    const units = this.work.task?.units ?? [];
    const target = units[units.findIndex((unit) => unit.position === this.view?.position) + by];
    if (target) this.goToUnit(target.position);
  }

  quote(span) {
    return this.view?.fields.get(span.field)?.words(span) ?? "";
  }

  chooseEvidence() {
    const views = this.view?.citable() ?? [];
    if (views.length === 0) return;
    const { current } = this.unit;
    const { language } = this.form.study;
    const choicesOf = (view) =>
      view.choices(language).map((span) => ({ span, field: view.field.title, words: view.words(span) }));
    const choices = views.flatMap(choicesOf);
    const isCited = (span) => current.answer.evidence.some((one) => JSON.stringify(one) === JSON.stringify(span));
    openEvidence(choices, isCited, (span) => current.toggleCitation(span));
  }

  // Going on

  /** Enter: the next thing that this criterion or unit wants. */
  accept() {
    const { unit } = this;
    if (!unit) return;
    const isOwn = ({ criterion, part }) => criterion === unit.open && part !== "confidence" && part !== "notes";
    const lack = this.work.lacks(this.view.position).find(isOwn);
    const next = unit.neighbour(1);
    if (lack) unit.pointAt(lack);
    else if (next) this.goTo(next);
    else this.finish();
  }

  /** @param {"confidence" | "notes"} part in which Enter was pressed */
  acceptAfter(part) {
    if (part === "confidence" && this.unit?.notes) this.unit.notes.focus();
    else this.finish();
  }

  /** Finishes the unit and goes to the next one, or says what it lacks. */
  async finish() {
    const { unit, work, view } = this;
    if (!unit || this.waiting) return;
    if (work.task.locked) return void this.moveOn();
    unit.save();
    const wasDone = work.task.state === "done";
    const { lacks, entry } = work.finish(view.position);
    if (!entry) return unit.pointAt(lacks[0]);
    const open = work.task.units.find((one) => !work.isFinished(one.position));
    if (open) return this.goToUnit(open.position);
    if (!wasDone && work.task.purpose !== "training") this.journey.count();
    if (work.task.purpose === "training" || this.form.reveal !== "never") return void (await this.awaitOutcome(entry));
    return void this.moveOn();
  }

  /** Waits for what comes back with the last unit: feedback, or what others said. */
  async awaitOutcome(entry) {
    const { view } = this;
    this.waiting = true;
    this.update();
    const answer = await this.outbox.outcome(entry.id);
    this.waiting = false;
    if (this.view !== view) return;
    view.drawNotices();
    renewed();
    this.done = answer !== null && view.showOutcome(answer);
    this.update();
    if (answer !== null && !this.done) await this.moveOn();
  }

  /** The button: to the next criterion while one is wanted, and then as Ctrl+Enter. */
  proceed() {
    if (this.done) return this.moveOn();
    return this.wantsMore ? this.accept() : this.finish();
  }

  /** Whether another criterion of this unit must have an answer still. */
  get wantsMore() {
    const isMore = ({ criterion, part }) => part === "value" && criterion !== this.unit.open;
    return this.work.lacks(this.view.position).some(isMore);
  }

  async moveOn() {
    if (this.moving) return;
    try {
      const answer = await this.onTheWay(this.journey.next(this.work.task?.number ?? null));
      if (answer.state === "task") this.show(answer.task);
      else this.end(answer);
    } catch (fault) {
      this.trouble(fault, () => this.moveOn());
    }
  }

  /**
   * Waits for a task. Meanwhile nothing answers: keys and clicks would go to the task that is about to leave.
   * @template T
   * @param {Promise<T>} task
   */
  async onTheWay(task) {
    this.moving = true;
    this.frame.workbench.inert = true;
    try {
      return await task;
    } finally {
      this.moving = false;
      this.frame.workbench.inert = false;
    }
  }

  /**
   * @param {number} number
   * @param {{otherwise?: () => Promise<void>, then?: () => void}} [options]
   */
  async open(number, { otherwise, then } = {}) {
    if (this.moving) return;
    this.unit?.save();
    try {
      this.show(await this.onTheWay(this.journey.open(number)));
      then?.();
    } catch (fault) {
      if (otherwise && fault instanceof Refused && fault.status === 404) await otherwise();
      else this.trouble(fault, () => this.open(number, { otherwise, then }));
    }
  }

  /** @param {{task: number, position: number, criterion: string | null}} place */
  openAt({ task, position, criterion }) {
    const go = () => {
      this.goToUnit(position);
      if (criterion) this.goTo(criterion);
    };
    return this.view && this.work.task.number === task ? go() : this.open(task, { then: go });
  }

  back() {
    const number = this.work.task ? this.work.task.number - 1 : this.lastNumber;
    if (number >= 1) this.open(number);
  }

  openTasks() {
    openTasks(this.journey, this.view ? this.work.task.number : null, (number) => this.open(number));
  }

  undo() {
    const change = this.work.history.pop();
    if (!change) return this.frame.say("There is nothing to take back.");
    const take = () => {
      if (this.work.task.locked) return this.frame.say("That answer is final.");
      this.goToUnit(change.position);
      this.work.takeBack(change);
      this.goTo(change.criterion);
      return this.frame.say("Taken back.");
    };
    if (this.work.task?.number === change.task && this.view) return take();
    return void this.open(change.task, { then: take });
  }

  askToSkip() {
    openSkip(async (reason) => {
      if (this.moving) return;
      try {
        await this.onTheWay(this.skip(reason));
        await this.moveOn();
      } catch (fault) {
        this.unit?.complain(fault instanceof Error ? fault.message : "");
      }
    });
  }

  /** @param {string | null} reason */
  async skip(reason) {
    await this.outbox.send();
    await this.journey.skip(this.work.task.number, reason, this.form.study.digest);
    this.journey.count();
  }

  async skipTraining() {
    if (this.moving) return;
    try {
      await this.onTheWay(this.journey.skipTraining());
      await this.moveOn();
    } catch (fault) {
      this.unit?.complain(fault instanceof Error ? fault.message : "");
    }
  }

  // When there is no task

  end(answer) {
    this.lastNumber = this.work.task?.number ?? this.lastNumber;
    this.view = null;
    this.work.task = null;
    history.replaceState(null, "", location.pathname);
    const back = this.lastNumber ? () => this.back() : null;
    this.frame.showPlain(showEnd(answer, { back, again: () => this.moveOn() }));
    this.frame.update();
  }

  trouble(fault, again) {
    if (!(fault instanceof Refused) && !(fault instanceof Unreachable)) throw fault;
    this.view = null;
    this.frame.showPlain(showTrouble(fault, again));
  }

  /** @param {import("./outbox.js").Entry} entry */
  hearRefusal(entry) {
    if (entry.refused.present?.status === "not_asked" && this.work.task?.number === entry.task) {
      this.work.settle(entry, true); // nobody's answer: it was written when the criterion did not apply
    }
  }
}
