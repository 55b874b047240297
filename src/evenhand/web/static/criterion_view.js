/** One criterion of one unit: a line when closed; its question, choices and texts when open. */

import { UNANSWERABLE, answerInWords } from "./answers.js";
import { Choices } from "./choices.js";
import { button, element, textElement } from "./element.js";
import { refusalNotice } from "./refusal.js";
import { Writing, percentage } from "./writing.js";

/**
 * What a criterion may ask of the page around it.
 * @typedef {object} Bench
 * @property {(criterion: string) => void} goTo
 * @property {() => void} accept
 * @property {() => void} leave
 * @property {() => void} chooseEvidence
 * @property {(span: {field: string, start: number, end: number}) => string} quote
 */

const ON_ENTER = "Enter goes on, Shift+Enter begins a new line";

export class CriterionView {
  /**
   * @param {import("./work.js").Work} work
   * @param {number} position
   * @param {any} criterion
   * @param {Bench} bench
   */
  constructor(work, position, criterion, bench) {
    this.work = work;
    this.position = position;
    this.criterion = criterion;
    this.bench = bench;
    this.id = `criterion-${position}-${criterion.id}`;
    const language = work.form.study.language;
    this.value = element("span", { class: "value", dir: "auto" });
    this.head = element(
      "button",
      { type: "button", class: "head", "aria-controls": `${this.id}-body` },
      textElement("span", criterion.title, { class: "title", lang: language }),
      criterion.required ? null : element("span", { class: "muted small" }, "optional"),
      this.value,
    );
    this.head.addEventListener("click", () => bench.goTo(criterion.id));
    this.answering = this.makeAnswering(language);
    this.rationale = criterion.rationale === "off" ? null : this.makeRationale();
    this.citations = criterion.evidence === "off" ? null : element("div", { class: "citations" });
    this.fate = element("p", { class: "fate small muted", tabindex: "-1" });
    this.refusal = element("div", { class: "refusals" });
    this.actions = this.makeActions();
    this.body = element(
      "div",
      { class: "body", id: `${this.id}-body` },
      textElement("p", criterion.question, { class: "question", id: `${this.id}-question`, lang: language }),
      this.answering.element,
      this.citations,
      this.rationale?.element,
      this.refusal,
      element("div", { class: "row spread" }, this.actions, this.fate),
    );
    const heading = element("h3", {}, this.head);
    this.element = element("section", { class: "criterion", "aria-label": criterion.title }, heading, this.body);
  }

  /** What one answers with; all have `element`, `show`, `lock` and `focus`. */
  makeAnswering(language) {
    const { type } = this.criterion.scale;
    const labelledBy = `${this.id}-question`;
    if (type === "ordinal" || type === "nominal") {
      return new Choices(this.criterion, labelledBy, language, (value) => this.change({ status: "rated", value }));
    }
    const kind = type === "percent" ? "percent" : "line";
    const save = (text) => (type === "percent" ? this.writePercent(text) : this.writeText(text));
    return new Writing({ id: `${this.id}-answer`, label: "Answer", kind, save, labelledBy, ...this.ways() });
  }

  makeRationale() {
    const label = this.criterion.rationale === "required" ? "Why?" : "Why? (optional)";
    const save = (text) => this.change({ rationale: text.trim() === "" ? null : text }, "rationale");
    return new Writing({ id: `${this.id}-why`, label, hint: ON_ENTER, kind: "lines", save, ...this.ways() });
  }

  makeActions() {
    const { criterion } = this;
    const made = element("div", { class: "row" });
    const toggle = (words, key, act) => button(words, act, { key, "aria-pressed": "false" });
    const { unanswerable } = criterion.scale;
    this.unanswerable = unanswerable ? toggle("Unanswerable", "Esc 0", () => this.cannotAnswer()) : null;
    this.cannot = criterion.cannot_assess ? toggle("Cannot assess", "X", () => this.cannotAssess()) : null;
    this.skip = criterion.required ? null : toggle("Leave out", "S", () => this.leaveOut());
    const cite = this.citations ? button("Choose evidence", () => this.bench.chooseEvidence(), { key: "E" }) : null;
    made.append(...[this.unanswerable, this.cannot, this.skip, cite].filter(Boolean));
    return made;
  }

  ways() {
    return { accept: () => this.bench.accept(), leave: () => this.bench.leave() };
  }

  get answer() {
    return this.work.answer(this.position, this.criterion.id);
  }

  change(changes, typing = null) {
    this.work.change(this.position, this.criterion.id, changes, typing);
  }

  writeText(text) {
    const value = text.trim();
    this.change(value === "" ? { status: null, value: null } : { status: "rated", value }, "answer");
  }

  writePercent(text) {
    const value = percentage(text);
    if (value === undefined) return;
    this.change(value === null ? { status: null, value: null } : { status: "rated", value }, "answer");
  }

  cannotAnswer() {
    if (this.unanswerable) this.change({ status: "rated", value: UNANSWERABLE });
    this.unanswerable?.scrollIntoView({ block: "nearest" });
    return Boolean(this.unanswerable);
  }

  cannotAssess() {
    if (this.cannot) this.change({ status: "cannot_assess", value: null });
    this.cannot?.scrollIntoView({ block: "nearest" });
    return Boolean(this.cannot);
  }

  leaveOut() {
    if (this.skip) this.change({ status: "skipped", value: null });
    this.skip?.scrollIntoView({ block: "nearest" });
    return Boolean(this.skip);
  }

  /** @param {{field: string, start: number, end: number}} span */
  toggleCitation(span) {
    const same = (other) => other.field === span.field && other.start === span.start && other.end === span.end;
    const { evidence } = this.answer;
    this.change({ evidence: evidence.some(same) ? evidence.filter((one) => !same(one)) : [...evidence, span] });
  }

  /** @param {string} digit */
  press(digit) {
    if (digit === "0" && this.unanswerable) return this.cannotAnswer();
    return this.answering instanceof Choices && this.answering.press(digit);
  }

  focus() {
    this.answering.focus();
  }

  /** Puts the focus where keys are not letters. */
  rest() {
    if (this.answering instanceof Choices) this.answering.focus();
    else this.fate.focus({ preventScroll: true });
  }

  focusRationale() {
    this.rationale?.focus();
    return Boolean(this.rationale);
  }

  /** @param {boolean} open */
  update(open) {
    const { answer } = this;
    const standing = this.work.standing(this.position, this.criterion.id);
    this.element.classList.toggle("open", open);
    this.head.setAttribute("aria-expanded", String(open));
    this.body.hidden = !open;
    this.element.classList.toggle("answered", answer.status !== null);
    this.value.textContent = answer.status === null ? "" : answerInWords(this.criterion, answer);
    this.answering.show(this.shown(answer));
    this.rationale?.show(answer.rationale ?? "");
    this.unanswerable?.setAttribute("aria-pressed", String(answer.value === UNANSWERABLE));
    this.cannot?.setAttribute("aria-pressed", String(answer.status === "cannot_assess"));
    this.skip?.setAttribute("aria-pressed", String(answer.status === "skipped"));
    this.fate.textContent = fateInWords(standing);
    this.fate.dataset.state = standing.state;
    const { entry } = standing;
    this.refusal.replaceChildren(...(entry?.refused ? [refusalNotice(this.work, this.criterion, entry)] : []));
    this.drawCitations(answer.evidence);
    const { locked } = this.work.task;
    this.answering.lock(locked);
    this.rationale?.lock(locked);
    for (const one of this.actions.querySelectorAll("button")) one.disabled = locked;
  }

  shown({ status, value }) {
    if (this.answering instanceof Choices) return status === "rated" ? value : null;
    return status === "rated" && value !== UNANSWERABLE ? String(value) : "";
  }

  drawCitations(evidence) {
    if (!this.citations) return;
    const rows = evidence.map((span) => {
      const words = this.bench.quote(span);
      const label = `Remove: ${words.slice(0, 80)}`;
      const remove = button("Remove", () => this.toggleCitation(span), { class: "quiet", "aria-label": label });
      return element("li", {}, textElement("q", words), remove);
    });
    const hint = "Select words of the evidence to cite them.";
    const needed = this.criterion.evidence === "required" ? "Evidence" : "Evidence (optional)";
    const list = rows.length > 0 ? element("ul", {}, rows) : element("p", { class: "muted small" }, hint);
    const drawn = JSON.stringify(evidence);
    if (drawn === this.drawnCitations) return;
    this.drawnCitations = drawn;
    this.citations.replaceChildren(element("h4", {}, needed), list);
  }
}

function fateInWords({ state, at }) {
  if (state === "waiting") return "saving…";
  if (state === "refused") return "not saved";
  if (state === "none" || !at) return "";
  return `saved ${new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`;
}
