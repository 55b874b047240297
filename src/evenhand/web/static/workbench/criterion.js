/** One criterion of one unit: a line when closed; its question, choices and text fields when open. */

import { localTime } from "../shared/formatting.js";
import { button, h, row, textElement } from "../shared/view.js";
import { UNANSWERABLE, formatAnswer, needsEvidence } from "./answers.js";
import { choices } from "./choices.js";
import { parseNumber, textField } from "./text_field.js";

/** The id of a criterion's section; the ids of its parts start with it. @param {string} criterion */
export const criterionId = (criterion) => `criterion-${criterion}`;

/** @param {Context} context @param {Criterion} criterion */
export function criterionView(context, criterion) {
  const { tasks, ui, actions } = context;
  const answer = tasks.answer(ui.position, criterion.id);
  const isOpen = ui.open === criterion.id;
  const id = criterionId(criterion.id);
  const value = answer.status === null ? "" : formatAnswer(criterion, answer);
  const head = h(
    "button",
    {
      type: "button",
      class: "head",
      id: `${id}-head`,
      "aria-controls": `${id}-body`,
      "aria-expanded": String(isOpen),
      onclick: () => actions.goTo(criterion.id),
    },
    textElement("span", criterion.title, { class: "title", lang: context.form.study.language }),
    criterion.required ? null : h("span", { class: "muted small" }, "optional"),
    context.badge(criterion),
    h("span", { class: "value", dir: "auto" }, value),
  );
  const section = { key: criterion.id, id, class: isOpen ? "criterion open" : "criterion", "aria-label": criterion.title };
  return h("section", section, h("h3", {}, head), isOpen ? criterionBody(context, criterion, answer, id) : null);
}

/** @param {Context} context @param {Criterion} criterion @param {Answer} answer @param {string} id */
function criterionBody(context, criterion, answer, id) {
  const saving = context.tasks.saveState(context.ui.position, criterion.id);
  const complaint = (/** @type {AnswerPart} */ part) => complaintAt(context, criterion.id, part);
  return h(
    "div",
    { class: "body", id: `${id}-body` },
    textElement("p", criterion.question, { class: "question", id: `${id}-question`, lang: context.form.study.language }),
    complaint("value"),
    context.introduction(criterion),
    answerInput(context, criterion, answer, id),
    criterion.evidence === "off" ? null : [citations(context, criterion, answer), complaint("evidence")],
    criterion.rationale === "off" ? null : [rationaleField(context, criterion, answer, id), complaint("rationale")],
    saving.entry?.refused ? refusalNotice(context, criterion, answer, saving.entry) : null,
    h("div", { class: "row spread" }, answerActions(context, criterion, answer), h(
      "p",
      { class: "save-state small muted", id: `${id}-state`, "data-state": saving.state, tabindex: "-1" },
      saveStateText(saving),
    )),
  );
}

/** What is missing in a part, below it. @param {Context} context @param {string} criterion @param {AnswerPart} part */
export function complaintAt({ ui }, criterion, part) {
  const { complaint } = ui;
  if (complaint?.criterion !== criterion || complaint.part !== part) return null;
  return complaintNotice(complaint.message);
}

/** @param {string} message */
export function complaintNotice(message) {
  return h("p", { class: "complaint notice caution", id: "complaint", role: "alert" }, message);
}

/** @param {Context} context @param {Criterion} criterion @param {Answer} answer @param {string} id */
function answerInput(context, { id: criterion, scale }, { status, value }, id) {
  const { form, tasks, ui, actions } = context;
  const { locked } = tasks.task;
  const labelledBy = `${id}-question`;
  const given = status === "rated" && value !== UNANSWERABLE ? value : null;
  if (scale.type === "ordinal" || scale.type === "nominal") {
    const { language } = form.study;
    return choices({ id: `${id}-answer`, labelledBy, scale, language, value: given, locked, cursor: ui.cursor }, actions);
  }
  const { ends, type } = scale;
  const saved = given === null ? "" : String(given);
  /** @param {string} text */
  const save = (text) => {
    const read = ends ? parseNumber(text, ends) : text.trim() || null;
    if (read === undefined) return false;
    return actions.change(criterion, { status: read === null ? null : "rated", value: read }, "answer");
  };
  const kind = ends ? (type === "percent" ? "percent" : "number") : "lines";
  const hint = kind === "number" && ends ? `From ${ends[0]} to ${ends[1]}` : undefined;
  return textField(context, { id: `${id}-answer`, kind, labelledBy, hint, saved, save });
}

/** @param {Context} context @param {Criterion} criterion @param {Answer} answer @param {string} id */
function rationaleField(context, criterion, { rationale }, id) {
  return textField(context, {
    id: `${id}-why`,
    kind: "lines",
    label: criterion.rationale === "required" ? "Why?" : "Why? (optional)",
    hint: "Enter continues, Shift+Enter starts a new line",
    saved: rationale ?? "",
    save: (text) => context.actions.change(criterion.id, { rationale: text.trim() === "" ? null : text }, "rationale"),
  });
}

/** @param {Context} context @param {Criterion} criterion @param {Answer} answer */
function citations({ tasks, actions }, criterion, answer) {
  const rows = answer.evidence.map((span) => {
    const quote = actions.quote(span);
    const attributes = { class: "quiet", "aria-label": `Remove: ${quote.slice(0, 80)}`, disabled: tasks.task.locked };
    const key = `${span.field}/${span.start}/${span.end}`;
    return h("li", { key }, textElement("q", quote), button("Remove", () => actions.toggleCitation(span), attributes));
  });
  const hint = h("p", { class: "muted small" }, "Select words of the evidence to cite them.");
  const title = needsEvidence(criterion, answer) ? "Evidence" : "Evidence (optional)";
  return h("div", { class: "citations" }, h("h4", {}, title), rows.length > 0 ? h("ul", {}, rows) : hint);
}

/** @param {Context} context @param {Criterion} criterion @param {Answer} answer */
function answerActions({ tasks, actions }, criterion, { status, value }) {
  const disabled = tasks.task.locked;
  /** @param {OtherAnswer} label @param {string} shortcut @param {boolean} isPressed */
  const toggle = (label, shortcut, isPressed) =>
    button(label, () => actions.answerWith(label), { id: `answer-${label}`, shortcut, disabled, "aria-pressed": String(isPressed) });
  return row(
    criterion.scale.unanswerable && toggle("Unanswerable", "Esc 0", value === UNANSWERABLE),
    criterion.cannot_assess && toggle("Cannot assess", "X", status === "cannot_assess"),
    !criterion.required && toggle("Leave out", "S", status === "skipped"),
    criterion.evidence !== "off" && button("Choose evidence", () => actions.chooseEvidence(), { shortcut: "E", disabled }),
  );
}

/** @param {SaveState} saving */
function saveStateText({ state, at }) {
  if (state === "waiting") return "saving…";
  if (state === "refused") return "not saved";
  return state === "saved" && at ? `saved ${localTime(at)}` : "";
}

/**
 * What to do about an answer that the server refused; nothing is lost before the rater has decided.
 * @param {Context} context @param {Criterion} criterion @param {Answer} mine @param {Entry} entry
 */
function refusalNotice({ tasks }, criterion, mine, entry) {
  const { outbox } = tasks;
  const { status, error, present } = entry.refused ?? { status: 0, error: "", present: null };
  const primary = { class: "primary" };
  /** @param {string} label @param {string} tone @param {...Child} content */
  const notice = (label, tone, ...content) =>
    h("div", { id: "refused", class: `notice ${tone}`, role: "group", "aria-label": label }, ...content);
  if (status !== 409 || !present) {
    const actions = [
      button("Try again", () => outbox.retry(entry), primary),
      button("Discard", () => outbox.discard(outbox.entriesFor(entry.task, entry.position, entry.criterion))),
    ];
    return notice("Not saved", "bad", textElement("p", `This answer was not saved. ${error}`), row(actions));
  }
  const [here, theirs] = [formatAnswer(criterion, mine), formatAnswer(criterion, present)];
  const { rationale } = present;
  return notice(
    "Two answers",
    "caution",
    textElement("p", `Here: ${here}; saved elsewhere: ${theirs}, at ${localTime(present.at)}.`),
    rationale && rationale !== mine.rationale ? textElement("p", `“${rationale}”`, { class: "small" }) : null,
    row(button("Keep mine", () => tasks.resolve(entry, true), primary), button("Use the other", () => tasks.resolve(entry, false))),
  );
}
