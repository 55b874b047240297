/** The curve of agreement as an inline drawing: α with its interval over the number of ratings. */

import { coefficient, count, percent } from "../shared/formatting.js";
import { table } from "../shared/table.js";
import { h, textElement } from "../shared/view.js";

const WIDTH = 360;
const HEIGHT = 200;
const EDGE = { left: 38, right: 12, top: 10, bottom: 34 };

/**
 * A curve for each criterion, all on one scale, each with the same figures as a table.
 * @param {Record<string, {title: string, points: AgreementPoint[]}>} criteria
 */
export function agreementPlots(criteria) {
  const bottom = lowestTick(Object.values(criteria).flatMap(({ points }) => points.filter(isDefined)));
  return Object.entries(criteria).map(([id, { title, points }]) => agreementPlot(id, title, points, bottom));
}

/** @param {AgreementPoint} point @returns {point is DefinedPoint} */
function isDefined(point) {
  return point.value !== null;
}

/** @param {string} id @param {string} title @param {AgreementPoint[]} points @param {number} bottom */
function agreementPlot(id, title, points, bottom) {
  const drawn = points.filter(isDefined);
  const last = points.at(-1);
  const note = (/** @type {string} */ message) => h("p", { class: "muted small" }, message);
  const content = () => {
    if (!last) return note("No ratings yet.");
    return drawn.length > 0 ? drawing(title, points, drawn, bottom) : note(`Not defined yet: ${last.why}.`);
  };
  return h("figure", { key: id, class: "plot" }, textElement("figcaption", title), content(), last && pointTable(title, points));
}

/** @param {string} title @param {AgreementPoint[]} points @param {DefinedPoint[]} drawn @param {number} bottom */
function drawing(title, points, drawn, bottom) {
  const most = points[points.length - 1].ratings;
  const right = WIDTH - EDGE.right;
  const x = (/** @type {number} */ ratings) => EDGE.left + ((right - EDGE.left) * ratings) / most;
  const height = HEIGHT - EDGE.top - EDGE.bottom;
  const y = (/** @type {number} */ value) => EDGE.top + (height * (1 - value)) / (1 - bottom);
  /** @type {(at: number, down: number, text: string, anchor: "start" | "end") => ViewNode} */
  const label = (at, down, text, anchor) => h("text", { x: at, y: down, "text-anchor": anchor }, text);
  const ruler = ticks(bottom).map((tick) => [
    h("line", { x1: EDGE.left, x2: right, y1: y(tick), y2: y(tick), class: tick ? "rule" : "rule zero" }),
    label(EDGE.left - 6, y(tick) + 4, coefficient(tick).replace(/\.?0+$/, ""), "end"),
  ]);
  const corners = drawn.flatMap(({ ratings, ci }) => (ci ? [{ at: x(ratings), low: y(ci[0]), high: y(ci[1]) }] : []));
  const band = [...corners.map(({ at, high }) => `${at},${high}`), ...corners.map(({ at, low }) => `${at},${low}`).reverse()];
  return h(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Agreement on ${title}: the figures are in the table below` },
    ruler,
    label(EDGE.left, HEIGHT - 8, "0", "start"),
    label(right, HEIGHT - 8, `${count(most)} ratings`, "end"),
    corners.length > 1 && h("polygon", { points: band.join(" "), class: "band" }),
    h("polyline", { points: drawn.map(({ ratings, value }) => `${x(ratings)},${y(value)}`).join(" "), class: "curve" }),
    drawn.map(({ ratings, value }) => h("circle", { cx: x(ratings), cy: y(value), r: 3, class: "dot" })),
  );
}

/** The lowest value shown: 0, unless a curve or an interval is below. @param {DefinedPoint[]} points */
function lowestTick(points) {
  return Math.floor(2 * Math.min(0, ...points.flatMap(({ value, ci }) => [value, ...(ci ?? [])]))) / 2;
}

/** @param {number} bottom */
function ticks(bottom) {
  const step = bottom === 0 ? 0.25 : 0.5;
  return Array.from({ length: (1 - bottom) / step + 1 }, (_, at) => bottom + at * step);
}

/** @param {string} title @param {AgreementPoint[]} points */
function pointTable(title, points) {
  /** @type {[string, (point: AgreementPoint) => string][]} */
  const figures = [
    ["Ratings", ({ ratings }) => count(ratings)],
    ["Rated twice", ({ units }) => count(units)],
    ["α", ({ value }) => (value === null ? "–" : coefficient(value))],
    ["Interval", ({ ci }) => (ci ? `${coefficient(ci[0])} to ${coefficient(ci[1])}` : "–")],
    ["Same answer", ({ percent: { value } }) => (value === null ? "–" : percent(value))],
  ];
  const columns = figures.map(([name, cell]) => ({ title: name, class: "number", cell }));
  const caption = textElement("span", `Agreement on ${title}`);
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": `Figures of ${title}` };
  return h("details", { class: "small" }, h("summary", {}, "As a table"), h("div", scroll, table(columns, points, { caption })));
}
