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
    const { name, beside, facts, context, rated, together } = placed(form, task);
    this.besideName = name;
    this.together = together;
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
    const factTerms = facts.map((field) => {
      const value = textElement("dd", field.parts[0].text, { lang: language });
      return element("div", {}, element("dt", { dir: "auto" }, field.title), value);
    });
    const factList = factTerms.length > 0 ? element("dl", { class: "facts" }, factTerms) : null;
    if (together && factList) this.beside.unshift(factList);
    this.notices = element("div", { class: "stack tight", hidden: true });
    this.place = element("div", { class: "place" });
    this.outcome = element("div", { class: "outcomes stack" });
    this.units = form.unit === "question" ? element("ol", { class: "questions" }) : element("div");
    this.rating = [
      this.notices,
      ...context.map(shown),
      together ? null : factList,
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
      const skip = button("Skip training", () => this.bench.skipTraining(), { class: "quiet" });
      const place = element("strong", {}, `Training ${number} of ${form.training}`);
      const words = element("p", { dir: "auto" }, place, task.title ? `: ${task.title}` : "");
      const row = [words, form.training_optional ? skip : null];
      notices.push(element("div", { class: "notice training row spread" }, row));
    }
    const final = "These answers are final and can no longer be changed.";
    if (task.locked) notices.push(element("p", { class: "notice" }, final));
    this.notices.replaceChildren(...notices);
    this.notices.hidden = notices.length === 0;
  }

  drawUnits() {
    const { task, form } = this.work;
    const several = task.units.length > 1;
    const at = task.units.findIndex((unit) => unit.position === this.position);
    const noun = form.unit === "question" ? "Question" : "Sentence";
    const heading = element("h2", { class: "step" }, several ? `${noun} ${at + 1} of ${task.units.length}` : "Rate");
    const { text, span } = task.units[at];
    const { language } = form.study;
    const lone = form.unit === "sentence" && !span ? textElement("blockquote", text ?? "", { lang: language }) : null;
    const steps = several ? element("div", { class: "row" }, this.step(-1, at), this.step(1, at)) : null;
    this.place.classList.toggle("unseen", !several && !lone);
    this.place.replaceChildren(
      element("div", { class: "row spread" }, heading, steps),
      ...[lone].filter(Boolean),
    );
    this.lines = new Map();
    const rows = form.unit === "question" ? task.units.map((unit) => this.questionRow(unit)) : [this.unit.element];
    this.units.replaceChildren(...rows);
  }

  step(by, at) {
    const target = this.work.task.units[at + by];
    const words = by < 0 ? "Previous" : "Next";
    const go = () => target && this.bench.goToUnit(target.position);
    const made = button(words, go, { key: by < 0 ? "[" : "]", class: "quiet" });
    made.disabled = !target;
    return made;
  }

  questionRow(unit) {
    const { language } = this.work.form.study;
    const words = textElement("span", unit.text ?? "", { lang: language, class: "words" });
    if (unit.position === this.position) {
      const attributes = { class: "asking open", value: unit.position, "aria-current": "true" };
      return element("li", attributes, element("p", { class: "asked" }, words), this.unit.element);
    }
    const answer = element("span", { class: "value", dir: "auto" });
    this.lines.set(unit.position, answer);
    const line = button("", () => this.bench.goToUnit(unit.position), { class: "line" });
    line.append(words, answer);
    return element("li", { class: "asking", value: unit.position }, line);
  }

  /** @param {any} answer what came back when the task was done */
  showOutcome({ feedback, others }) {
    const { form, task } = this.work;
    const own = (position, criterion) => this.work.answer(position, criterion);
    const cards = feedback ? [feedbackCard(form, feedback)] : [];
    if (others) cards.push(othersCard(form, task, others, own));
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
      const said = work.form.criteria.flatMap((criterion) => {
        const answer = work.answer(position, criterion.id);
        return answer.status === null ? [] : [answerInWords(criterion, answer)];
      });
      line.textContent = said.join(", ");
    }
    const { evidence } = work.answer(this.position, this.unit.open);
    for (const view of this.fields.values()) view.draw(evidence);
  }
}
