/** How raters rated one criterion of a unit, side by side. */

import { table } from "../shared/table.js";
import { h, textElement } from "../shared/view.js";
import { formatAnswer } from "../workbench/answers.js";

/**
 * @param {Criterion} criterion @param {JudgedRating[]} ratings of all raters on this unit
 * @param {{name: (rater: string) => string, isHidden: boolean, quote: (span: Span) => string}} options
 */
export function ratingsTable(criterion, ratings, { name, isHidden, quote }) {
  const rows = ratings.filter((rating) => rating.criterion === criterion.id && rating.status !== "not_asked");
  if (rows.length === 0) return h("p", { class: "muted small ratings" }, "No rater has answered this.");
  const answer = (/** @type {JudgedRating} */ one) => textElement("span", formatAnswer(criterion, one), { class: "answer" });
  const sure = (/** @type {number | null} */ share) => share !== null && h("p", { class: "muted small" }, `${share}% confident`);
  /** @type {Column<JudgedRating>[]} */
  const columns = [
    { title: "Rater", cell: (rating) => raterCell(rating, name(rating.rater), isHidden) },
    { title: "Answer", cell: (rating) => [answer(rating), sure(rating.confidence)] },
    { title: "Why", cell: (rating) => rationaleCell(rating, quote) },
  ];
  const used = columns.filter(({ cell }) => rows.some((rating) => cell(rating)));
  const options = {
    caption: `Ratings of ${criterion.title}`,
    row: (/** @type {JudgedRating} */ { rater, adjudicator }) => ({ key: rater, class: adjudicator ? "ruling" : null }),
  };
  return h("div", { class: "ratings" }, table(used, bySameAnswer(rows, name), options));
}

/** @param {JudgedRating} rating @param {string} name @param {boolean} isHidden */
function raterCell({ adjudicator, kind }, name, isHidden) {
  const role = h("span", { class: "muted small" }, ` ${adjudicator ? "adjudicator" : kind}`);
  return h("span", {}, textElement("span", name, { class: "who" }), !isHidden && role);
}

/** @param {JudgedRating} rating @param {(span: Span) => string} quote */
function rationaleCell({ rationale, reason, status, evidence, notes }, quote) {
  const parts = [
    rationale && textElement("p", rationale),
    reason && status !== "rated" && textElement("p", reason, { class: "muted small" }),
    ...evidence.map((span) => textElement("q", quote(span), { class: "small" })),
    notes && h("p", { class: "muted small" }, "Notes: ", textElement("span", notes)),
  ];
  return parts.some(Boolean) && h("div", { class: "stack tight" }, parts);
}

/**
 * Those who gave the same answer together, the most frequent answer first; then by the names shown.
 * @param {JudgedRating[]} rows @param {(rater: string) => string} name
 */
function bySameAnswer(rows, name) {
  const key = (/** @type {JudgedRating} */ { status, value }) => JSON.stringify([status, value]);
  const counts = new Map();
  for (const rating of rows) counts.set(key(rating), (counts.get(key(rating)) ?? 0) + 1);
  const byName = (/** @type {JudgedRating} */ a, /** @type {JudgedRating} */ b) => name(a.rater).localeCompare(name(b.rater));
  return [...rows].sort((a, b) => counts.get(key(b)) - counts.get(key(a)) || key(a).localeCompare(key(b)) || byName(a, b));
}
