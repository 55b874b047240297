/** What raters said on one criterion of a unit, side by side. */

import { answerInWords } from "./answers.js";
import { element, textElement } from "./element.js";

const KINDS = { person: "person", model: "model", rule: "rule" };

/**
 * @param {any} criterion
 * @param {any[]} ratings everybody's on this unit
 * @param {{name: (rater: string) => string, hidden: boolean, lead: string, quote: (span: any) => string}} how
 * @returns {HTMLElement}
 */
export function saidTable(criterion, ratings, how) {
  const rows = ratings.filter((rating) => rating.criterion === criterion.id && rating.status !== "not_asked");
  if (rows.length === 0) return element("p", { class: "muted small said" }, "Nobody was asked this, or nobody has answered it.");
  const columns = COLUMNS.filter(({ of }) => rows.some((rating) => of(rating, criterion, how) !== null));
  const head = element("tr", {}, columns.map(({ title }) => element("th", { scope: "col" }, title)));
  const body = ordered(rows, how).map((rating) =>
    element("tr", { class: rating.adjudicator ? "ruling" : null }, columns.map(({ title, of }, at) => {
      const cell = of(rating, criterion, how);
      return element(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, "data-title": title }, cell);
    })),
  );
  const caption = element("caption", { class: "unseen" }, `What raters said about ${criterion.title}`);
  return element("div", { class: "said" }, element("table", { class: "grid" }, caption, element("thead", {}, head), element("tbody", {}, body)));
}

/** @type {{title: string, of: (rating: any, criterion: any, how: any) => Node | string | null}[]} */
const COLUMNS = [
  { title: "Who", of: (rating, _, how) => whoIs(rating, how) },
  { title: "Answer", of: (rating, criterion) => textElement("span", answerInWords(criterion, rating), { class: "answer" }) },
  { title: "Why", of: (rating, _, how) => why(rating, how) },
  { title: "Sure", of: (rating) => (rating.confidence === null ? null : `${rating.confidence} %`) },
  { title: "Notes", of: (rating) => (rating.notes ? textElement("span", rating.notes) : null) },
];

function whoIs(rating, how) {
  const name = textElement("span", how.name(rating.rater), { class: "who" });
  const kind = how.hidden ? null : element("span", { class: "muted small" }, rating.adjudicator ? " adjudicator" : ` ${KINDS[rating.kind]}`);
  return element("span", {}, name, kind);
}

function why(rating, how) {
  const parts = [
    rating.rationale ? textElement("p", rating.rationale) : null,
    rating.reason && rating.status !== "rated" ? textElement("p", rating.reason, { class: "muted small" }) : null,
    ...rating.evidence.map((span) => textElement("q", how.quote(span), { class: "small" })),
  ].filter(Boolean);
  return parts.length > 0 ? element("div", { class: "stack tight" }, parts) : null;
}

/** Those who said the same stand together; under hidden names in the order of these. */
function ordered(rows, how) {
  const key = (rating) => JSON.stringify([rating.status, rating.value]);
  const counts = new Map();
  for (const rating of rows) counts.set(key(rating), (counts.get(key(rating)) ?? 0) + 1);
  const by = (a, b) => counts.get(key(b)) - counts.get(key(a)) || key(a).localeCompare(key(b)) || how.name(a.rater).localeCompare(how.name(b.rater));
  return [...rows].sort(by);
}
