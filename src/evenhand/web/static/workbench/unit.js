/** The open unit: its criteria, one of them open, and what is asked once for all of them. */

import { button, h, row, textElement } from "../shared/view.js";
import { formatAnswer } from "./answers.js";
import { complaintAt, complaintNotice, criterionView } from "./criterion.js";
import { factList, fieldView, sentencesView } from "./fields.js";
import { parsePercentage, textField } from "./text_field.js";

/**
 * The texts that an item is rated against.
 * @param {Context} context @param {Arrangement} arrangement @param {Span[]} cited
 */
export function sourcesPane({ form, tasks }, { sources, facts, together }, cited) {
  const { language } = form.study;
  const texts = h("div", { key: tasks.task.number }, sources.map((field) => fieldView(field, cited, language)));
  return [together ? factList(facts, language) : null, texts];
}

/**
 * What is rated, and the questions about it.
 * @param {Context} context @param {Arrangement} arrangement @param {Span[]} cited
 */
export function ratingPane(context, { facts, context: before, rated, together }, cited) {
  const { form, tasks } = context;
  const { language } = form.study;
  const { units, number } = tasks.task;
  /** @param {Field} field */
  const shown = (field) =>
    field.name === form.rated_field && units.some((unit) => unit.span)
      ? sentencesView(context, field)
      : fieldView(field, cited, language);
  return [
    before.map(shown),
    together ? null : factList(facts, language),
    rated.map(shown),
    unitHeading(context),
    form.unit === "question"
      ? h("ol", { class: "questions", key: number }, units.map((unit) => questionRow(context, unit)))
      : h("div", { key: `${number}/${context.ui.position}` }, unitView(context)),
  ];
}

/** @param {Context} context */
function unitHeading({ form, tasks, ui, actions }) {
  const { units } = tasks.task;
  const at = units.findIndex((unit) => unit.position === ui.position);
  const isOneOfMany = units.length > 1;
  const noun = form.unit === "question" ? "Question" : "Sentence";
  /** @param {string} label @param {string} shortcut @param {Unit | undefined} target */
  const step = (label, shortcut, target) =>
    button(label, () => target && actions.goToUnit(target.position), { shortcut, class: "quiet", disabled: !target });
  const isLone = form.unit === "sentence" && !units[at].span;
  return h(
    "div",
    { class: isOneOfMany || isLone ? "unit-heading" : "unit-heading unseen" },
    h(
      "div",
      { class: "row spread" },
      h("h2", { class: "step" }, isOneOfMany ? `${noun} ${at + 1} of ${units.length}` : "Rate"),
      isOneOfMany && row(step("Previous", "[", units[at - 1]), step("Next", "]", units[at + 1])),
    ),
    isLone && textElement("blockquote", units[at].text ?? "", { lang: form.study.language }),
  );
}

/** @param {Context} context @param {Unit} unit */
function questionRow(context, { position, text }) {
  const { form, tasks, ui, actions } = context;
  const question = textElement("span", text ?? "", { lang: form.study.language, class: "words" });
  if (position === ui.position) {
    const attributes = { key: `open ${position}`, class: "question-row open", value: position, "aria-current": "true" };
    return h("li", attributes, h("p", { class: "question-text" }, question), unitView(context));
  }
  const answers = form.criteria.map((criterion) => ({ criterion, answer: tasks.answer(position, criterion.id) }));
  const given = answers.filter(({ answer }) => answer.status !== null);
  const summary = given.map(({ criterion, answer }) => formatAnswer(criterion, answer)).join(", ");
  const value = h("span", { class: "value", dir: "auto" }, summary);
  const line = button("", () => actions.goToUnit(position), { class: "line" }, question, value);
  return h("li", { key: position, class: "question-row", value: position }, line);
}

/** @param {Context} context */
function unitView(context) {
  const { form, tasks, ui } = context;
  const { lead } = form;
  const asked = tasks.asked(ui.position);
  const confidence = form.confidence === "off" ? null : [confidenceField(context), complaintAt(context, lead, "confidence")];
  const notes = form.notes === "off" ? null : [notesField(context), complaintAt(context, lead, "notes")];
  const { complaint } = ui;
  return h(
    "div",
    { class: "unit" },
    asked.map((criterion) => criterionView(context, criterion)),
    confidence || notes ? h("div", { class: "unit-fields" }, confidence, notes) : null,
    complaint && complaint.part === null ? complaintNotice(complaint.message) : null,
  );
}

/** @param {Context} context */
function confidenceField(context) {
  const { form, tasks, ui, actions } = context;
  const { confidence } = tasks.answer(ui.position, form.lead);
  return textField(context, {
    id: "confidence",
    kind: "percent",
    label: form.confidence === "required" ? "How confident are you?" : "How confident are you? (optional)",
    hint: "From 0 to 100 percent, for all ratings together",
    saved: confidence === null ? "" : String(confidence),
    save: (text) => {
      const value = parsePercentage(text);
      return value === undefined ? false : actions.change(form.lead, { confidence: value }, "confidence");
    },
    accept: () => actions.acceptAfter("confidence"),
  });
}

/** @param {Context} context */
function notesField(context) {
  const { form, tasks, ui, actions } = context;
  return textField(context, {
    id: "notes",
    kind: "lines",
    label: form.notes === "required" ? "Notes" : "Notes (optional)",
    saved: tasks.answer(ui.position, form.lead).notes ?? "",
    save: (text) => actions.change(form.lead, { notes: text.trim() === "" ? null : text }, "notes"),
    accept: () => actions.acceptAfter("notes"),
  });
}
