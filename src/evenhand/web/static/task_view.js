/** A task on the page: what it is judged by on one side, what is rated and the questions about it on the other. */

import { answerInWords } from "./answers.js";
import { button, element, textElement } from "./element.js";
import { FieldView } from "./evidence.js";
import { placed } from "./layout.js";
import { feedbackCard, othersCard } from "./outcome.js";
import { Sentences } from "./sentences.js";
import { UnitView } from "./unit_view.js";

export class TaskView {
  /**
   * @param {import("./work.js").Work} work
   * @param {any} bench see rate.js
   */
  constructor(work, bench) {
    this.work = work;
    this.bench = bench;
    const { form, task } = work;
    const { language } = form.study;
    const { name, beside, facts, context, rated } = placed(form, task);
    this.besideName = name;
    this.fields = new Map(beside.map((field) => [field.name, new FieldView(field, language)]));
    const shown = (field) => {
      if (field.name === form.rated_field && task.units.some((unit) => unit.span)) {
        this.sentences = new Sentences(field, task.units, language, (position) => bench.goToUnit(position));
        return this.sentences.element;
      }
      const view = new FieldView(field, language);
      this.fields.set(field.name, view);
      return view.element;
    };
    this.beside = [...this.fields.values()].map((view) => view.element);
    const factList = facts.map((field) => element("div", {}, element("dt", { dir: "auto" }, field.title), textElement("dd", field.parts[0].text, { lang: language })));
    this.notices = element("div", { class: "stack tight", hidden: true });
    this.place = element("div", { class: "place" });
    this.outcome = element("div", { class: "outcomes stack" });
    this.units = element(form.unit === "question" ? "ol" : "div", { class: form.unit === "question" ? "questions" : "current" });
    this.rating = [
      this.notices,
      ...context.map(shown),
      factList.length > 0 ? element("dl", { class: "facts" }, factList) : null,
      ...rated.map(shown),
      this.place,
      this.units,
      this.outcome,
    ].filter(Boolean);
    this.drawNotices();
    this.open(this.firstPosition());
  }

  firstPosition() {
    const { units } = this.work.task;
    return (units.find((unit) => !unit.finished) ?? units[0]).position;
  }

  /** @param {number} position */
  open(position) {
    this.unit?.save();
    this.position = position;
    this.unit = new UnitView(this.work, position, this.bench);
    this.drawUnits();
    this.update();
    this.sentences?.show(position);
  }

  drawNotices() {
    const { task, form } = this.work;
    const notices = [];
    if (task.purpose === "training") {
      const number = Math.min(task.number, form.training);
      const skip = form.training_optional ? button("Skip training", () => this.bench.skipTraining(), { class: "quiet" }) : null;
      const words = element("p", {}, element("strong", {}, `Training ${number} of ${form.training}`), task.title ? `: ${task.title}` : "");
      notices.push(element("div", { class: "notice training row spread" }, words, skip));
    }
    if (task.locked) notices.push(element("p", { class: "notice" }, "These answers are final and can no longer be changed."));
    this.notices.replaceChildren(...notices);
    this.notices.hidden = notices.length === 0;
  }

  drawUnits() {
    const { task, form } = this.work;
    const several = task.units.length > 1;
    const at = task.units.findIndex((unit) => unit.position === this.position);
    const noun = form.unit === "question" ? "Question" : "Sentence";
    const heading = element("h2", { class: "step" }, several ? `${noun} ${at + 1} of ${task.units.length}` : "Rate");
    const lone = form.unit === "sentence" && !task.units[at].span ? textElement("blockquote", task.units[at].text ?? "", { lang: form.study.language }) : null;
    this.place.classList.toggle("unseen", !several && !lone);
    this.place.replaceChildren(
      element("div", { class: "row spread" }, heading, several ? element("div", { class: "row" }, this.step(-1, at), this.step(1, at)) : null),
      ...[lone].filter(Boolean),
    );
    this.lines = new Map();
    this.units.replaceChildren(...(form.unit === "question" ? task.units.map((unit) => this.questionRow(unit)) : [this.unit.element]));
  }

  step(by, at) {
    const target = this.work.task.units[at + by];
    const words = by < 0 ? "Previous" : "Next";
    const made = button(words, () => target && this.bench.goToUnit(target.position), { key: by < 0 ? "[" : "]", class: "quiet" });
    made.disabled = !target;
    return made;
  }

  questionRow(unit) {
    const { language } = this.work.form.study;
    const words = textElement("span", unit.text ?? "", { lang: language, class: "words" });
    if (unit.position === this.position) {
      return element("li", { class: "asking open", value: unit.position, "aria-current": "true" }, element("p", { class: "asked" }, words), this.unit.element);
    }
    const answer = element("span", { class: "value", dir: "auto" });
    this.lines.set(unit.position, answer);
    const line = element("button", { type: "button", class: "line", on: { click: () => this.bench.goToUnit(unit.position) } }, words, answer);
    return element("li", { class: "asking", value: unit.position }, line);
  }

  /** @param {any} answer what came back when the task was done */
  showOutcome({ feedback, others }) {
    const { form, task } = this.work;
    const own = (position, criterion) => this.work.answer(position, criterion);
    const cards = [feedback ? feedbackCard(form, feedback) : null, others ? othersCard(form, task, others, own) : null].filter(Boolean);
    this.outcome.replaceChildren(...cards);
    cards[0]?.focus();
    cards[0]?.scrollIntoView({ block: "nearest" });
    return cards.length > 0;
  }

  /** The views whose words may be cited for the open criterion. */
  citable() {
    const { form, task } = this.work;
    if (task.locked || this.unit.current.criterion.evidence === "off") return [];
    return form.evidence_fields.map((name) => this.fields.get(name)).filter(Boolean);
  }

  update() {
    const { work } = this;
    this.unit.update();
    this.sentences?.update(this.position, (position) => work.isFinished(position));
    for (const [position, line] of this.lines) {
      const said = work.form.criteria.map((criterion) => [criterion, work.answer(position, criterion.id)]);
      line.textContent = said.filter(([, { status }]) => status !== null).map(([criterion, answer]) => answerInWords(criterion, answer)).join(", ");
    }
    const { evidence } = work.answer(this.position, this.unit.open);
    for (const view of this.fields.values()) view.draw(evidence);
  }
}
