/** How far the study is: its facts, and bars for what is done. */

import { count, counted, percent } from "../shared/formatting.js";
import { byId, h, render, textElement } from "../shared/view.js";

const NOUNS = { item: "Items", sentence: "Sentences", question: "Questions", claim: "Claims" };

/** @param {StudyProgress} study @param {{rater: string, units_rated: number}[]} elsewhere who rated, but not here */
export function showStudy(study, elsewhere) {
  const people = study.overlap === null ? "all raters" : counted(study.overlap, "person", "people");
  const noun = NOUNS[study.unit];
  const others = elsewhere.map((one) => `${one.rater} (${count(one.units_rated)})`).join(", ");
  render(byId("facts"), [
    fact("Protocol", `${study.protocol} ${study.version}`),
    fact("Items", count(study.items)),
    study.unit !== "item" && fact(noun, count(study.units)),
    fact(others ? "Raters on this page" : "Raters", count(study.raters)),
    others !== "" && fact("Rated elsewhere", others),
    fact("Each item is rated by", people),
    study.paused && fact("State", "paused: no new items are assigned"),
  ]);
  render(byId("bars"), [
    bar("bar-items", "Items rated, each counted once per person", study.items_given, study.items_wanted),
    bar("bar-units", `${noun} with a value from ${people}`, study.units_done, study.units),
  ]);
}

/** @param {string} name @param {string} value */
function fact(name, value) {
  return h("div", { key: name }, h("dt", { class: "muted small" }, name), textElement("dd", value));
}

/** @param {string} id @param {string} label @param {number} done @param {number} of */
function bar(id, label, done, of) {
  const share = percent(of ? done / of : 0);
  const figures = h("span", { class: "number muted" }, `${count(done)} of ${count(of)} · ${share}`);
  return h(
    "div",
    { class: "bar" },
    h("div", { class: "row spread small" }, h("label", { for: id }, label), figures),
    h("progress", { id, max: Math.max(of, 1), value: done }, share),
  );
}
