/** How far the study is: its facts, and bars for what is done of what is wanted. */

import { element, textElement } from "./element.js";
import { count, counted, percent } from "./wording.js";

const facts = /** @type {HTMLElement} */ (document.getElementById("facts"));
const bars = /** @type {HTMLElement} */ (document.getElementById("bars"));

/**
 * @param {any} study the `study` of /api/progress
 * @param {{ rater: string, units_rated: number }[]} elsewhere people who rated, but not at the page
 */
export function showStudy(study, elsewhere) {
  const each = study.overlap === null ? "everybody" : counted(study.overlap, "person").replace("persons", "people");
  const noun = study.unit === "item" ? "Items" : study.unit === "sentence" ? "Sentences" : "Questions";
  facts.replaceChildren(
    fact("Protocol", `${study.protocol} ${study.version}`),
    fact("Items", count(study.items)),
    ...(study.unit === "item" ? [] : [fact(noun, count(study.units))]),
    fact(elsewhere.length ? "Raters at the page" : "Raters", count(study.raters)),
    ...(elsewhere.length ? [fact("Rated elsewhere", elsewhere.map((one) => `${one.rater} (${count(one.units_rated)})`).join(", "))] : []),
    fact("Each item is rated by", each),
    ...(study.paused ? [fact("State", "paused: nobody is given anything new")] : []),
  );
  const wanted = study.overlap === null ? "everybody" : study.overlap === 1 ? "somebody" : `${study.overlap} people`;
  bars.replaceChildren(
    bar("bar-items", "Items rated, each counted once per person", study.items_given, study.items_wanted),
    bar("bar-units", `${noun} with a value from ${wanted}`, study.units_done, study.units),
  );
}

/**
 * @param {string} name
 * @param {string} value
 */
function fact(name, value) {
  return element("div", {}, element("dt", { class: "muted small" }, name), textElement("dd", value));
}

/**
 * @param {string} id
 * @param {string} words
 * @param {number} done
 * @param {number} of
 */
function bar(id, words, done, of) {
  const share = of ? done / of : 0;
  return element(
    "div",
    { class: "bar" },
    element(
      "div",
      { class: "row spread small" },
      element("label", { for: id }, words),
      element("span", { class: "number muted" }, `${count(done)} of ${count(of)} · ${percent(share)}`),
    ),
    element("progress", { id, max: Math.max(of, 1), value: done }, percent(share)),
  );
}
