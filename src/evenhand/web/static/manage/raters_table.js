/** The people who rate: a row each, with their pace and the quality of their ratings. */

import { ago, count, duration, formatDateTime, percent, percents } from "../shared/formatting.js";
import { table } from "../shared/table.js";
import { button, byId, h, render, textElement } from "../shared/view.js";

/** @type {[string, "gold" | "repeat" | "training" | "with_others"][]} */
const STATISTICS = [
  ["Known answers", "gold"],
  ["Repeats", "repeat"],
  ["Training", "training"],
  ["With the others", "with_others"],
];

/** @param {RaterProgress[]} raters @param {RaterActions} actions @param {number} now milliseconds */
export function showRaters(raters, actions, now) {
  /** @type {Column<RaterProgress>[]} */
  const columns = [
    { title: "Rater", cell: nameCell },
    { title: "Items", cell: itemsCell },
    { title: "Pace", cell: paceCell },
    ...statisticColumns(raters),
    { title: "Last seen", cell: ({ seen }) => figure(ago(seen, now), { title: formatDateTime(seen) }) },
    { title: "Actions", class: "actions", hideTitle: true, cell: (rater) => actionsCell(rater, actions) },
  ];
  const row = (/** @type {RaterProgress} */ { rater }) => ({ key: rater, "data-rater": rater });
  render(byId("raters"), [raters.length > 0 && table(columns, raters, { class: "raters", row })]);
  byId("nobody").hidden = raters.length > 0;
  showHelp(raters.filter((rater) => rater.needs_help.length > 0));
}

/** A statistic that no rater has needs no column. @param {RaterProgress[]} raters */
function statisticColumns(raters) {
  const isUsed = (/** @type {[string, "gold" | "repeat" | "training" | "with_others"]} */ [, key]) =>
    raters.some((rater) => (rater[key]?.value ?? null) !== null);
  return STATISTICS.filter(isUsed).map(([title, key]) => ({
    title,
    cell: (/** @type {RaterProgress} */ rater) => statisticCell(rater[key]),
  }));
}

/** @param {RaterProgress} rater */
function nameCell({ rater, role, paused, needs_help: needsHelp }) {
  const badge = (/** @type {string} */ label, /** @type {string} */ kind) => h("span", { class: `badge ${kind}` }, label);
  return [
    textElement("span", rater, { class: "who" }),
    role === "adjudicator" && badge("adjudicator", "accent"),
    paused && badge("paused", "caution"),
    needsHelp.length > 0 && badge("needs help", "caution"),
  ];
}

/** @param {RaterProgress} rater */
function itemsCell({ role, units_rated: rated, share, tasks }) {
  if (role === "adjudicator") return [h("span", {}, count(rated)), note("units with a ruling")];
  const of = share === null ? "" : ` of ${count(share)}`;
  return [figure(`${count(tasks.done)}${of}`), note(tasks.open ? `${count(tasks.open)} open` : "none open")];
}

/** @param {RaterProgress} rater */
function paceCell({ per_hour: perHour, seconds_per_unit: seconds }) {
  if (perHour === null) return none();
  return [figure(`${count(Math.round(perHour))} per hour`), note(`${duration(seconds)} each`)];
}

/** @param {Statistic | null} statistic */
function statisticCell(statistic) {
  if (!statistic || statistic.value === null) return none();
  const interval = statistic.ci ? `${percents(statistic.ci)} · ` : "";
  return [figure(percent(statistic.value)), note(`${interval}n = ${count(statistic.n)}`)];
}

/** @param {RaterProgress} rater @param {RaterActions} actions */
function actionsCell({ rater, role, paused }, { pause, open }) {
  if (role !== "rater") return null;
  const label = paused ? "Resume" : "Pause";
  return [
    button(label, () => pause(rater, !paused), { class: "quiet", "aria-label": `${label} ${rater}` }),
    button("Open tasks", () => open(rater), { class: "quiet", "aria-label": `Open tasks of ${rater}` }),
  ];
}

/** @param {string} text @param {Record<string, any>} [attributes] */
const figure = (text, attributes = {}) => h("span", { class: "figure", ...attributes }, text);

/** @param {string} text */
const note = (text) => h("span", { class: "note" }, text);

const none = () => h("span", { class: "muted" }, "–");

/** @param {RaterProgress[]} raters those who need help */
function showHelp(raters) {
  byId("help").hidden = raters.length === 0;
  const rows = raters.map(({ rater, needs_help: reasons }) =>
    h("li", { key: rater }, textElement("bdi", rater, { class: "who" }), h("ul", {}, reasons.map((reason) => h("li", {}, reason)))),
  );
  render(byId("help"), [h("h3", {}, "Raters who may need help"), h("ul", {}, rows)]);
}
