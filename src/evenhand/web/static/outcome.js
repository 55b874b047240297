/** What comes back when a task is done: how a worked example is rated, and what others said. */

import { answerInWords, valueInWords } from "./answers.js";
import { element, textElement } from "./element.js";

/**
 * @param {any} form
 * @param {any} feedback
 */
export function feedbackCard(form, feedback) {
  const rows = feedback.criteria.map((verdict) => {
    const criterion = form.criteria.find((one) => one.id === verdict.criterion);
    const given = valueInWords(criterion, verdict.given);
    const expected = valueInWords(criterion, verdict.expected);
    const words = verdict.right ? given : `You: ${given}. Expected: ${expected}.`;
    return element(
      "li",
      { class: verdict.right ? "right" : "wrong" },
      element("span", { class: "symbol", "aria-hidden": "true" }, verdict.right ? "✓" : "✗"),
      element(
        "div",
        {},
        element("strong", {}, `${criterion.title}: ${verdict.right ? "right" : "not as expected"}`),
        textElement("p", words),
        verdict.rationale ? textElement("p", verdict.rationale, { class: "muted" }) : null,
      ),
    );
  });
  const right = feedback.criteria.filter((verdict) => verdict.right).length;
  const { length } = feedback.criteria;
  const title = right === length ? "Just as expected" : `${right} of ${length} as expected`;
  return element(
    "section",
    { class: "outcome card", tabindex: "-1", "aria-labelledby": "outcome-title" },
    element("h2", { id: "outcome-title" }, title),
    element("ul", { class: "verdicts" }, rows),
    feedback.explanation ? textElement("p", feedback.explanation, { class: "explanation" }) : null,
  );
}

/**
 * @param {any} form
 * @param {any} task
 * @param {any[]} others
 * @param {(position: number, criterion: string) => any} own
 */
export function othersCard(form, task, others, own) {
  const raters = [...new Set(others.map((other) => other.rater))];
  const several = task.units.length > 1;
  const asked = task.units.flatMap((unit) => form.criteria.map((criterion) => ({ unit, criterion })));
  const rows = asked.flatMap(({ unit, criterion }) => {
    const said = others.filter((other) => other.position === unit.position && other.criterion === criterion.id);
    if (said.length === 0) return [];
    const cells = raters.map((rater) => {
      const other = said.find((one) => one.rater === rater);
      const why = other?.rationale ? textElement("p", other.rationale, { class: "muted small" }) : null;
      return element("td", {}, other ? textElement("span", answerInWords(criterion, other)) : "–", why);
    });
    const name = several ? `${unit.position}. ${criterion.title}` : criterion.title;
    const mine = answerInWords(criterion, own(unit.position, criterion.id));
    const head = element("th", { scope: "row", dir: "auto" }, name);
    return [element("tr", {}, head, element("td", {}, textElement("strong", mine)), cells)];
  });
  const heads = ["", "You", ...raters].map((name) => element("th", { scope: "col", dir: "auto" }, name));
  const body = element("tbody", {}, rows);
  const table = element("table", { class: "grid" }, element("thead", {}, element("tr", {}, heads)), body);
  const scroll = { class: "scroll", tabindex: "0", role: "group", "aria-label": "Ratings of others" };
  return element(
    "section",
    { class: "outcome card", tabindex: "-1", "aria-labelledby": "others-title" },
    element("h2", { id: "others-title" }, "What others said"),
    rows.length > 0 ? element("div", scroll, table) : element("p", {}, "Nobody else has rated this yet."),
  );
}
