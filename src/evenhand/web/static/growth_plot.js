/** The curve of agreement as an inline drawing: α with its interval over the number of ratings. */

import { element, textElement } from "./element.js";
import { coefficient, count, percent } from "./wording.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const WIDTH = 360;
const HEIGHT = 200;
const EDGE = { left: 38, right: 12, top: 10, bottom: 34 };

/**
 * @typedef {{value: number | null, ci: [number, number] | null, n: number, why: string | null}} Statistic
 * @typedef {Statistic & {ratings: number, units: number, percent: Statistic}} Point
 */

/**
 * A curve for each criterion, all on one scale, each with the same figures as a table.
 * @param {Record<string, {title: string, points: Point[]}>} criteria
 */
export function growthPlots(criteria) {
  const bottom = floor(Object.values(criteria).map((curve) => curve.points.filter(isDrawn)));
  return Object.entries(criteria).map(([id, curve]) => growthPlot(id, curve.title, curve.points, bottom));
}

/** @param {Point} point */
const isDrawn = (point) => point.value !== null;

/**
 * @param {string} id
 * @param {string} title
 * @param {Point[]} points
 * @param {number} bottom
 */
function growthPlot(id, title, points, bottom) {
  const drawn = points.filter(isDrawn);
  const last = points.at(-1);
  const figure = element("figure", { class: "plot", "data-criterion": id });
  figure.append(textElement("figcaption", title));
  if (!last) figure.append(element("p", { class: "muted small" }, "Nobody has rated it yet."));
  else if (drawn.length === 0) figure.append(element("p", { class: "muted small" }, `Not defined yet: ${last.why}.`));
  else figure.append(drawing(id, title, points, drawn, bottom));
  if (last) figure.append(table(title, points));
  return figure;
}

/**
 * @param {string} id
 * @param {string} title
 * @param {Point[]} points
 * @param {Point[]} drawn
 * @param {number} bottom
 */
function drawing(id, title, points, drawn, bottom) {
  const most = points[points.length - 1].ratings;
  const x = (/** @type {number} */ ratings) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * ratings) / most;
  const y = (/** @type {number} */ value) =>
    EDGE.top + ((HEIGHT - EDGE.top - EDGE.bottom) * (1 - Math.max(value, bottom))) / (1 - bottom);
  const made = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  made.setAttribute("aria-labelledby", `plot-${id}-title plot-${id}-desc`);
  made.append(words("title", `plot-${id}-title`, `Agreement on ${title}`));
  made.append(words("desc", `plot-${id}-desc`, summary(points, drawn)));
  for (const tick of ticks(bottom)) {
    made.append(shape("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(tick), y2: y(tick), class: tick ? "rule" : "rule zero" }));
    made.append(label(EDGE.left - 6, y(tick) + 4, coefficient(tick).replace(/\.?0+$/, ""), "end"));
  }
  made.append(label(EDGE.left, HEIGHT - 8, "0", "start"));
  made.append(label(WIDTH - EDGE.right, HEIGHT - 8, `${count(most)} ratings`, "end"));
  const band = drawn.filter((point) => point.ci);
  if (band.length > 1) {
    const upper = band.map((point) => `${x(point.ratings)},${y(point.ci[1])}`);
    const lower = band.map((point) => `${x(point.ratings)},${y(point.ci[0])}`).reverse();
    made.append(shape("polygon", { points: [...upper, ...lower].join(" "), class: "band" }));
  }
  made.append(shape("polyline", { points: drawn.map((one) => `${x(one.ratings)},${y(one.value)}`).join(" "), class: "curve" }));
  for (const point of drawn) made.append(shape("circle", { cx: x(point.ratings), cy: y(point.value), r: 3, class: "dot" }));
  return made;
}

/**
 * The lowest value shown: 0, unless a curve, or the interval at its end, lies well below. The wide intervals of the
 * beginning may run out of the drawing; the table has them.
 * @param {Point[][]} curves
 */
function floor(curves) {
  const ends = curves.filter((curve) => curve.length > 0).map((curve) => curve[curve.length - 1]);
  const lows = [...curves.flat().map((point) => point.value), ...ends.map((point) => point.ci?.[0] ?? 1)];
  const lowest = Math.min(1, ...lows);
  return lowest >= -0.05 ? 0 : lowest >= -0.5 ? -0.5 : -1;
}

/** @param {number} bottom */
const ticks = (bottom) => (bottom === 0 ? [0, 0.25, 0.5, 0.75, 1] : bottom === -0.5 ? [-0.5, 0, 0.5, 1] : [-1, -0.5, 0, 0.5, 1]);

/**
 * The drawing in words.
 * @param {Point[]} points
 * @param {Point[]} drawn
 */
function summary(points, drawn) {
  const [first, last] = [drawn[0], drawn[drawn.length - 1]];
  const end = `${coefficient(last.value)} after ${count(last.ratings)}${interval(last.ci)}`;
  if (first === last) return `α is ${end} ratings.`;
  return `α went from ${coefficient(first.value)} after ${count(first.ratings)} ratings to ${end}; ${points.length} points in the table below.`;
}

/** @param {[number, number] | null} ci */
const interval = (ci) => (ci ? ` (interval ${coefficient(ci[0])} to ${coefficient(ci[1])})` : "");

/**
 * @param {string} title
 * @param {Point[]} points
 */
function table(title, points) {
  const heads = ["Ratings", "Rated twice", "α", "Interval", "Same answer"];
  const rows = points.map((point) =>
    element(
      "tr",
      {},
      element("td", { class: "number" }, count(point.ratings)),
      element("td", { class: "number" }, count(point.units)),
      element("td", { class: "number" }, point.value === null ? "–" : coefficient(point.value)),
      element("td", { class: "number" }, point.ci ? `${coefficient(point.ci[0])} to ${coefficient(point.ci[1])}` : "–"),
      element("td", { class: "number" }, point.percent.value === null ? "–" : percent(point.percent.value)),
    ),
  );
  const head = element("tr", {}, ...heads.map((words) => element("th", { scope: "col", class: "number" }, words)));
  const caption = textElement("caption", `Agreement on ${title}`, { class: "unseen" });
  const body = element("table", { class: "grid" }, caption, element("thead", {}, head), element("tbody", {}, rows));
  const scroll = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Figures of ${title}` }, body);
  return element("details", { class: "small" }, element("summary", {}, "As a table"), scroll);
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 */
function shape(name, attributes) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {"start" | "end"} anchor
 */
function label(x, y, text, anchor) {
  const made = shape("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

/**
 * @param {string} name
 * @param {string} id
 * @param {string} text
 */
function words(name, id, text) {
  const made = shape(name, { id });
  made.textContent = text;
  return made;
}
