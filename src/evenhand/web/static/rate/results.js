/** What is shown when a task is done: how a worked example should be rated, and how others rated the item. */

import { table } from "../shared/table.js";
import { h, textElement } from "../shared/view.js";
import { concerns, formatAnswer, formatValue } from "../workbench/answers.js";

/** @param {Results} results @param {TaskState} tasks */
export function resultCards({ feedback, others }, tasks) {
  return [feedback && feedbackCard(tasks.form, feedback), others && othersCard(tasks, others)];
}

/** @param {string} id @param {string} title @param {...Child} content */
function card(id, title, ...content) {
  const heading = h("h2", { id: `${id}-title` }, title);
  return h("section", { class: "result card", id, tabindex: "-1", "aria-labelledby": `${id}-title` }, heading, ...content);
}

/** @param {Form} form @param {Feedback} feedback */
function feedbackCard(form, { criteria, explanation }) {
  const right = criteria.filter((verdict) => verdict.right).length;
  const close = criteria.filter((verdict) => verdict.close).length;
  const title = right === criteria.length ? "All as expected" : `${right} of ${criteria.length} as expected`;
  return card(
    "feedback",
    title + (close > 0 ? `, ${close} close` : ""),
    h("ul", { class: "verdicts" }, criteria.map((verdict) => verdictRow(form, verdict))),
    explanation ? textElement("p", explanation, { class: "explanation" }) : null,
  );
}

/** @param {Form} form @param {Feedback["criteria"][number]} verdict */
function verdictRow(form, { criterion: id, given, expected, right, close, rationale, evidence }) {
  const criterion = form.criteria.find((one) => one.id === id);
  if (!criterion) return null;
  const own = formatValue(criterion, given);
  const verdict = right ? "right" : close ? "close" : "wrong";
  return h(
    "li",
    { class: verdict },
    h("span", { class: "symbol", "aria-hidden": "true" }, { right: "✓", close: "≈", wrong: "✗" }[verdict]),
    h(
      "div",
      {},
      h("strong", {}, `${criterion.title}: ${{ right: "right", close: "close, one level off", wrong: "not as expected" }[verdict]}`),
      textElement("p", right ? own : `You: ${own}. Expected: ${formatValue(criterion, expected)}.`),
      rationale ? textElement("p", rationale, { class: "muted" }) : null,
      evidence.map((quote) => textElement("blockquote", quote, { class: "muted" })),
    ),
  );
}

/** @param {TaskState} tasks @param {OtherRating[]} others */
function othersCard(tasks, others) {
  const { form, task } = tasks;
  const find = (/** @type {Unit} */ unit, /** @type {Criterion} */ criterion) =>
    others.filter((other) => other.position === unit.position && other.criterion === criterion.id);
  const asked = task.units.flatMap((unit) =>
    form.criteria.filter((criterion) => concerns(criterion, unit.field)).map((criterion) => ({ unit, criterion, ratings: find(unit, criterion) })),
  );
  const rows = asked.filter(({ ratings }) => ratings.length > 0);
  const raters = [...new Set(others.map((other) => other.rater))];
  const name = (/** @type {typeof rows[number]} */ { unit, criterion }) =>
    task.units.length > 1 ? `${unit.position}. ${criterion.title}` : criterion.title;
  /** @type {Column<typeof rows[number]>[]} */
  const columns = [
    { title: "", cell: (row) => h("span", { dir: "auto" }, name(row)) },
    {
      title: "You",
      cell: ({ unit, criterion }) =>
        textElement("strong", formatAnswer(criterion, tasks.answer(unit.position, criterion.id))),
    },
    ...raters.map((rater) => ({
      title: rater,
      /** @param {typeof rows[number]} row */
      cell: ({ criterion, ratings }) => otherCell(criterion, ratings.find((one) => one.rater === rater)),
    })),
  ];
  const scroll = { class: "scroll", tabindex: "0", role: "group", "aria-label": "Ratings by others" };
  const content = rows.length > 0 ? h("div", scroll, table(columns, rows)) : h("p", {}, "No other rater has rated this yet.");
  return card("others", "Ratings by others", content);
}

/** @param {Criterion} criterion @param {OtherRating | undefined} other @returns {Child} */
function otherCell(criterion, other) {
  if (!other) return "–";
  const why = other.rationale ? textElement("p", other.rationale, { class: "muted small" }) : null;
  return [textElement("span", formatAnswer(criterion, other)), why];
}
