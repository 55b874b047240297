/** The rating page: from task to task, and what its keys and buttons do. */

import { announce } from "../shared/announce.js";
import { Refused, get, requestError } from "../shared/api.js";
import { guardDoubleClicks, pageChanged } from "../shared/double_click.js";
import { counted } from "../shared/formatting.js";
import { button, byId, h, render, row } from "../shared/view.js";
import { showSaveStatus } from "../workbench/save_status.js";
import { focusField } from "../workbench/text_field.js";
import { ratingPane, sourcesPane } from "../workbench/unit.js";
import { Workbench } from "../workbench/workbench.js";
import { endCard, errorCard } from "./end_card.js";
import { resultCards } from "./results.js";
import { openSkipDialog } from "./skip_dialog.js";
import { openTaskList } from "./task_list.js";
import { TaskQueue } from "./task_queue.js";

const TOAST_MS = 5000;

class RatingPage extends Workbench {
  /** @param {Form} form */
  constructor(form) {
    super(form, `${form.study.id}/${form.rater}`);
    this.queue = new TaskQueue(this.outbox);
    /** @type {Results | null} shown when the task is done */
    this.results = null;
    /** @type {EndCard | null} shown if there is no task */
    this.card = null;
    /** @type {TaskId | null} the last task, for going back from the end */
    this.last = null;
    this.isWaiting = false; // for the results
    this.isMoving = false; // to another task
    /** @type {"sources" | "rating"} the pane that a narrow screen shows */
    this.pane = "rating";
    this.toast = "";
    this.toastTimer = 0;
  }

  async start() {
    showSaveStatus(byId("status"), this.outbox);
    byId("open-tasks").addEventListener("click", () => this.openTasks());
    this.tasks.addEventListener("reopened", () => this.queue.countDone(-1));
    this.listen();
    guardDoubleClicks();
    await this.outbox.send(); // what was left over from before comes first
    const named = /^#task-(\d+)$/.exec(location.hash);
    if (named) await this.open(Number(named[1]), { otherwise: () => this.moveOn() });
    else await this.moveOn();
    if (this.storage.get("greeted")) return;
    this.storage.set("greeted", true);
    this.openGuideline(); // by itself on the first visit only
  }

  keyActions() {
    return {
      ...super.keyActions(),
      leaveOut: () => this.isOpen && this.answerWith("Leave out"),
      back: () => this.back(),
      tasks: () => this.openTasks(),
    };
  }

  // Drawing

  drawPage() {
    render(byId("banners"), this.banners());
    this.drawProgress();
    if (this.card) render(byId("workbench"), [this.card.view], { class: "workbench alone", inert: this.isMoving });
    if (!this.card && this.arrangement) this.drawTask(this.arrangement);
  }

  /** @param {Arrangement} arrangement */
  drawTask(arrangement) {
    const { context, cited } = this;
    const { number } = this.tasks.task;
    const { name, sources, together } = arrangement;
    const isAlone = sources.length === 0;
    const classes = ["workbench", isAlone && "alone", together && "together"].filter(Boolean).join(" ");
    const results = this.results && h("div", { class: "results stack" }, resultCards(this.results, this.tasks));
    const rating = [this.notices(), ratingPane(context, arrangement, cited), results];
    const panes = [
      isAlone ? null : this.paneSwitch(name),
      isAlone ? null : h("section", pane("sources", name, number), sourcesPane(context, arrangement, cited)),
      h("section", pane("rating", "Rate", number), rating),
      this.bar(),
    ];
    render(byId("workbench"), panes, { class: classes, "data-pane": this.pane, inert: this.isMoving });
  }

  /** On a narrow screen, one pane is shown at a time. @param {string} name */
  paneSwitch(name) {
    const tab = (/** @type {string} */ label, /** @type {"sources" | "rating"} */ which) => {
      const press = () => {
        this.pane = which;
        this.draw();
      };
      return button(label, press, { "aria-pressed": String(this.pane === which) });
    };
    return h("div", { class: "switch", role: "group", "aria-label": "Show" }, tab(name, "sources"), tab("Rate", "rating"));
  }

  notices() {
    const { task } = this.tasks;
    const { training, training_optional: isOptional } = this.form;
    const final = h("p", { class: "notice" }, "These answers are final and can no longer be changed.");
    const gone = h("p", { class: "notice" }, "Time ran out: another person has this item now. Your answers still count.");
    const place = h("strong", {}, `Training ${Math.min(task.place ?? 1, training)} of ${training}`);
    const skip = button("Skip training", () => this.leaveTask(() => this.queue.skipTraining()), { class: "quiet" });
    const label = h("p", { dir: "auto" }, place, task.title ? `: ${task.title}` : "");
    const notice = h("div", { class: "notice training row spread" }, label, isOptional && skip);
    const shown = [task.purpose === "training" && notice, task.locked && final, task.state === "returned" && gone];
    return shown.some(Boolean) ? h("div", { class: "stack tight" }, ...shown) : null;
  }

  bar() {
    const { task, history } = this.tasks;
    const canSkip = task.purpose !== "training" && task.state !== "done";
    const askToSkip = () => openSkipDialog((reason) => this.leaveTask(() => this.skip(reason)));
    const key = h("kbd", { "aria-hidden": "true" }, this.results || this.needsMore ? "⏎" : "Ctrl ⏎");
    return h(
      "div",
      { class: "bar", role: "group", "aria-label": "Actions" },
      row(
        button("Back", () => this.back(), { shortcut: "B", class: "quiet", disabled: !task.previous }),
        button("Undo", () => this.undo(), { shortcut: "U", class: "quiet", disabled: history.length === 0 }),
        canSkip && button("Skip item", askToSkip, { class: "quiet" }),
      ),
      h("p", { class: "toast", "aria-hidden": "true", hidden: this.toast === "" }, this.toast),
      button("", () => this.proceed(), { class: "primary", disabled: this.isWaiting }, h("span", {}, this.nextAction()), key),
    );
  }

  /** The label of the button that continues. */
  nextAction() {
    const { task } = this.tasks;
    if (this.isWaiting) return "One moment…";
    if (this.results || task.locked) return "Continue";
    if (this.needsMore) return "Next criterion";
    const isOpen = (/** @type {Unit} */ { position }) => position !== this.ui.position && !this.tasks.isFinished(position);
    if (task.units.some(isOpen)) return `Next ${this.form.unit}`;
    return task.purpose === "training" ? "Check" : "Finish";
  }

  drawProgress() {
    const { progress } = this.queue;
    if (this.isMoving) return; // it changes together with the task
    const bar = /** @type {HTMLProgressElement} */ (byId("progress"));
    bar.hidden = !progress?.of;
    if (!progress) return;
    const { current } = this.tasks;
    const units = current?.purpose === "rate" && current.state !== "done" ? current.units : [];
    const finished = units.filter(({ position }) => this.tasks.isFinished(position)).length;
    const items = progress.of ? `${progress.done} of ${progress.of} done` : `${progress.done} done`;
    const here = units.length > 1 ? `, ${finished} of ${counted(units.length, this.form.unit)} here` : "";
    byId("progress-words").textContent = items + here;
    if (progress.of) Object.assign(bar, { max: progress.of, value: progress.done + (units.length && finished / units.length) });
  }

  /** Shows a message above the bar for a moment, and announces it. @param {string} message */
  say(message) {
    announce(message);
    this.toast = message;
    this.draw();
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => {
      this.toast = "";
      this.draw();
    }, TOAST_MS);
  }

  // Continuing

  /** @param {Task} task */
  show(task) {
    this.card = null;
    this.pane = "rating";
    this.openTask(task);
    this.results = task.feedback || task.others ? task : null;
    pageChanged();
    history.replaceState(null, "", `#task-${task.number}`);
    this.draw();
    if (this.ui.position !== task.units[0].position) this.showUnit({ isNext: true });
    this.focusTask();
    this.showResults();
    this.queue.prefetch(task.number).then(() => this.drawSoon()); // the progress comes with it
    announce(task.purpose === "training" ? `Training ${task.place}` : "Item opened");
  }

  /** Enter: what this criterion or unit needs next. */
  accept() {
    if (this.results) return void this.moveOn();
    if (!this.isOpen) return;
    const isHere = (/** @type {Missing} */ { criterion, part }) =>
      criterion === this.ui.open && part !== "confidence" && part !== "notes";
    const missing = this.tasks.missing(this.ui.position).find(isHere);
    const next = this.neighbour(1);
    if (missing) this.pointAt(missing);
    else if (next) this.goTo(next);
    else this.finish();
  }

  /** @param {"confidence" | "notes"} part */
  acceptAfter(part) {
    if (part === "confidence" && this.form.notes !== "off") focusField("notes");
    else this.finish();
  }

  /** Finishes the unit and opens the next one, or says what is missing. */
  async finish() {
    const { tasks } = this;
    if (this.results) return this.moveOn();
    if (!this.isOpen || this.isWaiting) return;
    const { task } = tasks;
    if (task.locked) return this.moveOn();
    this.drafts.saveAll();
    const wasDone = task.state === "done";
    const entry = tasks.finish(this.ui.position);
    if (!entry) return this.pointAt(tasks.missing(this.ui.position)[0]);
    const open = task.units.find((unit) => !tasks.isFinished(unit.position));
    if (open) return this.goToUnit(open.position);
    if (!wasDone && task.purpose !== "training") this.queue.countDone(1);
    if (task.purpose === "training" || this.form.reveal !== "never") return this.awaitResults(entry);
    return this.moveOn();
  }

  /** Waits for what the server returns with the last unit: feedback, or how others rated it. @param {Entry} entry */
  async awaitResults(entry) {
    const { number } = this.tasks.task;
    this.isWaiting = true;
    this.draw();
    const results = /** @type {Results | null} */ (await this.outbox.response(entry.id));
    this.isWaiting = false;
    if (this.tasks.current?.number !== number) return;
    pageChanged();
    this.results = results && (results.feedback || results.others) ? results : null;
    this.draw();
    this.showResults();
    if (results && !this.results) await this.moveOn();
  }

  showResults() {
    if (!this.results) return;
    const card = document.getElementById("feedback") ?? document.getElementById("others");
    card?.focus();
    card?.scrollIntoView({ block: "start" });
  }

  /** The button: to the next criterion that needs an answer, and then as Ctrl+Enter. */
  proceed() {
    if (!this.results && this.needsMore) this.accept();
    else this.finish();
  }

  /** Whether another criterion of this unit still needs an answer. */
  get needsMore() {
    return this.tasks.missing(this.ui.position).some(({ criterion, part }) => part === "value" && criterion !== this.ui.open);
  }

  /** @param {number} by */
  stepUnit(by) {
    const { units } = this.tasks.task;
    const target = units[units.findIndex((unit) => unit.position === this.ui.position) + by];
    if (target) this.goToUnit(target.position);
  }

  async moveOn() {
    if (this.isMoving) return;
    try {
      const next = await this.whileMoving(this.queue.next(this.tasks.current?.number ?? null));
      if (next.task) this.show(next.task);
      else this.end(next);
    } catch (error) {
      this.showError(error, () => this.moveOn());
    }
  }

  /**
   * Waits for a task. Meanwhile the page is inert: keys and clicks would go to the task that is about to leave.
   * @template T
   * @param {Promise<T>} task
   */
  async whileMoving(task) {
    this.isMoving = true;
    this.draw();
    try {
      return await task;
    } finally {
      this.isMoving = false;
      this.draw();
    }
  }

  /**
   * @param {TaskId} number @param {{otherwise?: () => Promise<void>, opened?: () => void}} [options]
   * @returns {Promise<void>}
   */
  async open(number, { otherwise, opened } = {}) {
    if (this.isMoving) return;
    this.drafts.saveAll();
    try {
      this.show(await this.whileMoving(this.queue.open(number)));
      opened?.();
    } catch (error) {
      if (otherwise && error instanceof Refused && error.status === 404) await otherwise();
      else this.showError(error, () => this.open(number, { otherwise, opened }));
    }
  }

  /** @param {{task: TaskId, position: number, criterion: string | null}} place */
  openAt({ task, position, criterion }) {
    const go = () => {
      this.goToUnit(position);
      if (criterion) this.goTo(criterion);
    };
    if (this.isOpen && this.tasks.task.number === task) go();
    else this.open(task, { opened: go });
  }

  back() {
    const number = this.tasks.current ? this.tasks.task.previous : this.last;
    if (number) this.open(number);
  }

  openTasks() {
    openTaskList(this.queue, this.tasks.current?.number ?? null, (number) => this.open(number));
  }

  undo() {
    const change = this.tasks.history.pop();
    if (!change) return this.say("Nothing to undo.");
    const undo = () => {
      if (this.tasks.task.locked) return this.say("That answer is final.");
      this.goToUnit(change.position);
      this.tasks.undo(change);
      this.goTo(change.criterion);
      return this.say("Undone.");
    };
    if (this.isOpen && this.tasks.task.number === change.task) return undo();
    return void this.open(change.task, { opened: undo });
  }

  /** @param {string | null} reason */
  async skip(reason) {
    await this.outbox.send();
    await this.queue.skip(this.tasks.task.number, reason, this.form.study.digest);
    this.queue.countDone(1);
  }

  /** Leaves the task and continues with the next one. @param {() => Promise<void>} leave */
  async leaveTask(leave) {
    if (this.isMoving) return;
    try {
      await this.whileMoving(leave());
      await this.moveOn();
    } catch (error) {
      this.complain(requestError(error).message);
    }
  }

  // Without a task

  /** @param {NextTask} next that names no task */
  end(next) {
    this.last = this.tasks.current?.number ?? this.last;
    this.closeTask();
    history.replaceState(null, "", location.pathname);
    const again = () => this.moveOn();
    this.showCard(endCard(next, { back: this.last === null ? null : () => this.back(), again }), again);
  }

  /** @param {unknown} error @param {() => void} again */
  showError(error, again) {
    this.arrangement = null;
    this.showCard(errorCard(requestError(error), again), again);
  }

  /** @param {EndCard} card @param {() => void} again */
  showCard(card, again) {
    Object.assign(this, { card, results: null });
    this.draw();
    document.getElementById("end-card")?.focus();
    if (card.retryAfterMs) setTimeout(() => this.card === card && again(), card.retryAfterMs);
  }
}

/** @param {"sources" | "rating"} id @param {string} name @param {TaskId} task */
function pane(id, name, task) {
  return { key: `${id} ${task}`, class: `pane ${id}`, id, "aria-label": name, tabindex: "0" };
}

async function start() {
  try {
    await new RatingPage(await get("/api/form")).start();
  } catch (error) {
    const { view } = errorCard(requestError(error), () => location.reload());
    render(byId("workbench"), [view], { class: "workbench alone" });
  }
}

start();
