/** The people who rate: a row each, brought up to date in place so that a button keeps its focus. */

import { button, element, textElement } from "./element.js";
import { textNodes } from "./text.js";
import { ago, count, duration, momentOf, percent, percents } from "./wording.js";

const table = /** @type {HTMLTableElement} */ (document.getElementById("raters"));
const nobody = /** @type {HTMLElement} */ (document.getElementById("nobody"));
const help = /** @type {HTMLElement} */ (document.getElementById("help"));

const COLUMNS = ["Rater", "Items", "Pace", "Known answers", "Repeats", "Training", "With the others", "Last here", "Actions"];

const FIGURES = ["gold", "repeat", "training", "with_others"];
const FIRST_FIGURE = 3;

/** @type {Map<string, {row: HTMLElement, cells: HTMLElement[], shown: string[], pause: HTMLButtonElement}>} */
const rows = new Map();

/**
 * @param {any[]} raters those of /api/progress
 * @param {{pause: (rater: string, paused: boolean) => void, open: (rater: string) => void}} actions
 * @param {number} now milliseconds
 */
export function showRaters(raters, actions, now) {
  table.hidden = raters.length === 0;
  nobody.hidden = raters.length > 0;
  const body = table.tBodies[0];
  for (const rater of raters) {
    const held = rows.get(rater.rater) ?? added(rater, actions, body);
    contents(rater, now).forEach(([mark, fill], place) => {
      if (held.shown[place] === mark) return;
      held.shown[place] = mark;
      held.cells[place].replaceChildren(...fill());
    });
    held.pause.textContent = rater.paused ? "Resume" : "Pause";
    held.pause.dataset.paused = String(rater.paused);
    held.pause.setAttribute("aria-label", `${rater.paused ? "Resume" : "Pause"} ${rater.rater}`);
  }
  hideUnused(raters);
  showHelp(raters.filter((rater) => rater.needs_help.length > 0));
}

/**
 * A figure that nobody has, such as that on known answers where there are none, needs no column.
 * @param {any[]} raters
 */
function hideUnused(raters) {
  FIGURES.forEach((key, place) => {
    const unused = raters.every((rater) => rater[key] === null || rater[key].value === null);
    for (const row of table.rows) row.cells[FIRST_FIGURE + place].hidden = unused;
  });
}

/**
 * @param {any} rater
 * @param {{pause: (rater: string, paused: boolean) => void, open: (rater: string) => void}} actions
 * @param {HTMLElement} body
 */
function added(rater, actions, body) {
  const name = rater.rater;
  const cells = COLUMNS.map((label, place) =>
    element(place === 0 ? "th" : "td", { role: place === 0 ? "rowheader" : "cell", scope: place === 0 ? "row" : null, "data-label": label }),
  );
  const pause = button("Pause", () => actions.pause(name, pause.dataset.paused !== "true"), { class: "quiet" });
  const actionsCell = cells[COLUMNS.length - 1];
  actionsCell.className = "actions";
  if (rater.role === "rater") {
    actionsCell.append(pause, button("In hand", () => actions.open(name), { class: "quiet", "aria-label": `What ${name} has in hand` }));
  }
  const row = element("tr", { role: "row", "data-rater": name }, cells);
  body.append(row);
  const held = { row, cells, shown: [], pause };
  rows.set(name, held);
  return held;
}

/**
 * What stands in each cell: a mark that tells whether it changed, and what makes it.
 * @param {any} rater
 * @param {number} now
 * @returns {[string, () => (Node | string)[]][]}
 */
function contents(rater, now) {
  const adjudicator = rater.role === "adjudicator";
  const badges = [
    ...(adjudicator ? [["adjudicator", "accent"]] : []),
    ...(rater.paused ? [["paused", "caution"]] : []),
    ...(rater.needs_help.length ? [["needs help", "caution"]] : []),
  ];
  const seen = ago(rater.seen, now);
  return [
    [JSON.stringify(badges), () => [textElement("span", rater.rater, { class: "who" }), ...badges.map(badge)]],
    [JSON.stringify([rater.tasks, rater.share, rater.units_rated]), () => items(rater, adjudicator)],
    [JSON.stringify([rater.per_hour, rater.seconds_per_unit]), () => pace(rater)],
    ...FIGURES.map((key) => statisticCell(rater[key])),
    [seen, () => [element("span", { class: "figure", title: momentOf(rater.seen) }, seen)]],
  ];
}

/** @param {string[]} words */
const badge = ([words, kind]) => element("span", { class: `badge ${kind}` }, words);

/**
 * @param {any} rater
 * @param {boolean} adjudicator
 */
function items(rater, adjudicator) {
  if (adjudicator) return [element("span", {}, count(rater.units_rated)), note("units ruled on")];
  const of = rater.share === null ? "" : ` of ${count(rater.share)}`;
  const hand = rater.tasks.open ? `${count(rater.tasks.open)} in hand` : "none in hand";
  return [element("span", { class: "figure" }, `${count(rater.tasks.done)}${of}`), note(hand)];
}

/** @param {any} rater */
function pace(rater) {
  if (rater.per_hour === null) return [none()];
  const hour = `${count(Math.round(rater.per_hour))} an hour`;
  return [element("span", { class: "figure" }, hour), note(`${duration(rater.seconds_per_unit)} each`)];
}

/**
 * @param {any} found
 * @returns {[string, () => Node[]]}
 */
function statisticCell(found) {
  const mark = JSON.stringify(found && [found.value, found.ci, found.n]);
  return [
    mark,
    () => {
      if (!found || found.value === null) return [none()];
      const interval = found.ci ? `${percents(found.ci)} · ` : "";
      return [element("span", { class: "figure" }, percent(found.value)), note(`${interval}n = ${count(found.n)}`)];
    },
  ];
}

/** @param {string} words */
const note = (words) => element("span", { class: "note" }, words);

const none = () => element("span", { class: "muted" }, "–");

/** @param {any[]} raters those who need help */
function showHelp(raters) {
  const mark = JSON.stringify(raters.map((rater) => [rater.rater, rater.needs_help]));
  if (help.dataset.mark === mark) return;
  help.dataset.mark = mark;
  help.hidden = raters.length === 0;
  help.replaceChildren(element("h3", {}, "Who may need help"), element("ul", {}, raters.map(entry)));
}

/** @param {any} rater */
function entry(rater) {
  const name = element("bdi", { class: "who" });
  name.append(textNodes(rater.rater));
  return element("li", {}, name, element("ul", {}, rater.needs_help.map((/** @type {string} */ words) => element("li", {}, words))));
}
