/** What stays on the page from task to task: the panes, the bar with the buttons, progress and banners. */

import { announce } from "./announce.js";
import { finishDialog, openKeys } from "./dialogs.js";
import { button, byId, element, textElement } from "./element.js";
import { outdatedNotice } from "./outdated.js";

const SIGNED_OUT =
  "You are signed out. Your answers are kept in this browser: open your invite link again, and they will be sent.";

const SAID = 3000;

export class Frame {
  /** @param {import("./bench.js").Bench} bench */
  constructor(bench) {
    this.bench = bench;
    this.workbench = byId("workbench");
    this.guideline = /** @type {HTMLDialogElement} */ (byId("guideline"));
    finishDialog(this.guideline);
    byId("open-guideline").addEventListener("click", () => this.openGuideline());
    byId("close-guideline").addEventListener("click", () => this.guideline.close());
    byId("open-keys").addEventListener("click", openKeys);
    byId("open-tasks").addEventListener("click", () => bench.openTasks());
    this.banners = byId("banners");
    this.beside = element("section", { class: "pane beside", id: "beside", "aria-label": "Evidence", tabindex: "0" });
    this.rating = element("section", { class: "pane rating", id: "rating", "aria-label": "Rate", tabindex: "0" });
    this.makeBar();
    this.makeSwitch();
  }

  makeBar() {
    const { bench } = this;
    this.backButton = button("Back", () => bench.back(), { key: "B", class: "quiet" });
    this.undoButton = button("Undo", () => bench.undo(), { key: "U", class: "quiet" });
    this.skipButton = button("Skip item", () => bench.askToSkip(), { class: "quiet" });
    this.nextWords = element("span", {}, "Finish");
    this.nextKey = element("kbd", { "aria-hidden": "true" });
    this.nextButton = button("", () => bench.proceed(), { class: "primary" });
    this.nextButton.append(this.nextWords, this.nextKey);
    const left = element("div", { class: "row" }, this.backButton, this.undoButton, this.skipButton);
    this.bar = element("div", { class: "bar", role: "group", "aria-label": "Actions" }, left, this.nextButton);
    this.said = element("p", { class: "said", "aria-hidden": "true", hidden: true });
    this.bar.append(this.said);
  }

  /** On a narrow screen one pane is shown at a time. */
  makeSwitch() {
    const made = (words, name) => button(words, () => this.turnTo(name), { "aria-pressed": "false" });
    this.tabs = { beside: made("Evidence", "beside"), rating: made("Rate", "rating") };
    const both = [this.tabs.beside, this.tabs.rating];
    this.switch = element("div", { class: "switch", role: "group", "aria-label": "Show" }, both);
    this.turnTo("rating");
  }

  turnTo(name) {
    this.workbench.dataset.pane = name;
    for (const [key, tab] of Object.entries(this.tabs)) tab.setAttribute("aria-pressed", String(key === name));
  }

  /** @param {import("./task_view.js").TaskView} view */
  showTask(view) {
    const alone = view.beside.length === 0;
    this.workbench.classList.toggle("together", view.together);
    this.beside.setAttribute("aria-label", view.besideName);
    this.tabs.beside.textContent = view.besideName;
    this.beside.replaceChildren(...view.beside);
    this.rating.replaceChildren(...view.rating);
    this.workbench.classList.toggle("alone", alone);
    const parts = alone ? [this.rating, this.bar] : [this.switch, this.beside, this.rating, this.bar];
    this.workbench.replaceChildren(...parts);
    this.turnTo("rating");
    this.beside.scrollTop = 0;
    this.rating.scrollTop = 0;
  }

  /**
   * Says what was done, above the bar for a moment, and aloud.
   * @param {string} words
   */
  say(words) {
    announce(words);
    this.said.textContent = words;
    this.said.hidden = false;
    clearTimeout(this.saying);
    this.saying = setTimeout(() => (this.said.hidden = true), SAID);
  }

  /** @param {HTMLElement} card */
  showPlain(card) {
    this.workbench.classList.add("alone");
    this.workbench.classList.remove("together");
    this.workbench.replaceChildren(card);
    /** @type {HTMLElement | null} */ (card.querySelector("[tabindex]"))?.focus();
  }

  update() {
    const { bench } = this;
    this.drawProgress(bench.journey.progress);
    this.drawBanners();
    if (!bench.view) return;
    const { task } = bench.work;
    this.undoButton.disabled = bench.work.history.length === 0;
    this.backButton.disabled = task.number <= 1;
    this.skipButton.hidden = task.purpose === "training" || task.state === "done";
    this.nextButton.disabled = bench.waiting;
    this.nextWords.textContent = this.nextAction();
    this.nextKey.textContent = bench.done || bench.wantsMore ? "⏎" : "Ctrl ⏎";
  }

  nextAction() {
    const { bench } = this;
    const { task } = bench.work;
    if (bench.waiting) return "One moment…";
    if (bench.done || task.locked) return "Continue";
    if (bench.wantsMore) return "Next criterion";
    const isOpen = ({ position }) => position !== bench.view.position && !bench.work.isFinished(position);
    if (task.units.some(isOpen)) return bench.form.unit === "question" ? "Next question" : "Next sentence";
    return task.purpose === "training" ? "Check" : "Finish";
  }

  drawProgress(progress) {
    const bar = /** @type {HTMLProgressElement} */ (byId("progress"));
    const words = byId("progress-words");
    bar.hidden = !progress?.of;
    if (!progress) return;
    words.textContent = progress.of ? `${progress.done} of ${progress.of} done` : `${progress.done} done`;
    if (progress.of) Object.assign(bar, { max: progress.of, value: progress.done });
  }

  /** What needs somebody although it is not in view. */
  drawBanners(anew = false) {
    const { bench } = this;
    const { view, work } = bench;
    const here = ({ task, position, criterion }) =>
      view && task === work.task.number && position === view.position && criterion === view.unit.open;
    const refused = bench.outbox.entries().filter((entry) => entry.refused && !here(entry));
    const ended = bench.outbox.state === "ended";
    const drawn = JSON.stringify([refused.map((entry) => entry.id), ended]);
    if (drawn === this.drawn && !anew) return;
    this.drawn = drawn;
    const outdated = outdatedNotice(bench.form, bench.shelf, () => this.drawBanners(true));
    const banners = [...refused.map((entry) => this.banner(entry)), outdated].filter(Boolean);
    if (ended) banners.unshift(element("p", { class: "notice bad", role: "alert" }, SIGNED_OUT));
    this.banners.replaceChildren(...banners);
  }

  /** @param {import("./outbox.js").Entry} entry */
  banner(entry) {
    const { bench } = this;
    const what = entry.kind === "finish" ? "could not be finished" : "has an answer that was not saved";
    const go = () => {
      if (entry.kind === "finish") bench.outbox.drop([entry]);
      bench.openAt(entry);
    };
    const chain = () => bench.outbox.chain(entry.task, entry.position, entry.criterion);
    const giveUp = button("Give it up", () => bench.outbox.drop(entry.kind === "finish" ? [entry] : chain()));
    const row = element("div", { class: "row" }, button("Go there", go, { class: "primary" }), giveUp);
    const words = textElement("p", `Item ${entry.task} ${what}. ${entry.refused.error}`);
    return element("div", { class: "notice bad", role: "alert" }, words, row);
  }

  openGuideline() {
    if (!this.guideline.open) this.guideline.showModal();
  }

  /** The guideline opens by itself for somebody who has never been here. */
  greet() {
    const { shelf } = this.bench;
    if (shelf.get("greeted")) return;
    shelf.set("greeted", true);
    this.openGuideline();
  }
}
