/** The open unit: its criteria, one of them open, and what is asked once for all of them. */

import { button, h, row, textElement } from "../shared/view.js";
import { leadFor } from "./answers.js";
import { complaintAt, complaintNotice, criterionView } from "./criterion.js";
import { claimSource, factList, fieldView, sentencesView } from "./fields.js";
import { parseNumber, textField } from "./text_field.js";

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
    form.unit === "question" || form.unit === "claim"
      ? h("ol", { class: "unit-list", key: number }, units.map((unit, at) => unitRow(context, unit, units[at - 1])))
      : h("div", { key: `${number}/${context.ui.position}` }, unitView(context)),
  ];
}

/** @param {Context} context */
function unitHeading({ form, tasks, ui, actions }) {
  const { units } = tasks.task;
  const at = units.findIndex((unit) => unit.position === ui.position);
  const isOneOfMany = units.length > 1;
  const noun = form.unit[0].toUpperCase() + form.unit.slice(1);
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

/** A question or claim; the first claim of a field stands below its name. @param {Context} context @param {Unit} unit
 * @param {Unit | undefined} before */
function unitRow(context, unit, before) {
  const { form, tasks, ui, actions } = context;
  const { position, field } = unit;
  const title = field !== before?.field && form.fields.find(({ name }) => name === field)?.title;
  const heading = title ? h("h3", { class: "small muted", dir: "auto" }, `Claims: ${title}`) : null;
  const words = textElement("span", unit.text ?? "", { lang: form.study.language, class: "words" });
  if (position === ui.position) {
    const attributes = { key: `open ${position}`, class: "unit-row open", value: position, "aria-current": "true" };
    const text = h("p", { class: "unit-text", id: `unit-${position}` }, words);
    return h("li", attributes, heading, text, field && claimSource(context, unit), unitView(context));
  }
  const value = h("span", { class: "value", dir: "auto" }, tasks.summary(position));
  const line = button("", () => actions.goToUnit(position), { class: "line" }, words, value);
  return h("li", { key: position, class: "unit-row", value: position }, heading, line);
}

/** @param {Context} context */
function unitView(context) {
  const { tasks, ui } = context;
  const asked = tasks.asked(ui.position);
  const hint = "From 0 to 100 percent, for all ratings together";
  const confidence = fieldForAll(context, "confidence", { kind: "percent", label: "How confident are you?", hint });
  const notes = fieldForAll(context, "notes", { kind: "lines", label: "Notes" });
  const { complaint } = ui;
  return h(
    "div",
    { class: "unit" },
    asked.map((criterion) => criterionView(context, criterion)),
    confidence || notes ? h("div", { class: "unit-fields" }, confidence, notes) : null,
    complaint && complaint.part === null ? complaintNotice(complaint.message) : null,
  );
}

/**
 * A field that is asked once for all criteria, with what is missing there.
 * @param {Context} context @param {"confidence" | "notes"} id @param {Pick<TextField, "kind" | "label" | "hint">} options
 */
function fieldForAll(context, id, { kind, label, hint }) {
  const { form, tasks, ui, actions } = context;
  if (form[id] === "off") return null;
  const lead = leadFor(form, tasks.unit(ui.position).field);
  const field = textField(context, {
    id,
    kind,
    hint,
    label: form[id] === "required" ? label : `${label} (optional)`,
    saved: String(tasks.answer(ui.position, lead)[id] ?? ""),
    save: (text) => {
      const value = kind === "percent" ? parseNumber(text) : text.trim() && text;
      return value === undefined ? false : actions.change(lead, { [id]: value === "" ? null : value }, id);
    },
    accept: () => actions.acceptAfter(id),
  });
  return [field, complaintAt(context, lead, id)];
}
