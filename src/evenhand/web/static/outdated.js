/** Answers to questions that were changed meanwhile: no longer sent, but shown until somebody has seen them. */

import { answerInWords } from "./answers.js";
import { button, element, textElement } from "./element.js";
import { counted } from "./wording.js";

const KEY = "outdated";

/**
 * Takes out of the box what was made under another version of the questions than the form that was just loaded.
 * @param {any} form
 * @param {import("./outbox.js").Outbox} outbox
 */
export function setOutdatedAside(form, outbox) {
  const old = outbox.entries().filter((entry) => entry.digest !== form.study.digest);
  if (old.length === 0) return;
  const places = new Map(outbox.shelf.get(KEY) ?? []);
  for (const { kind, task, position, criterion, body } of old) {
    if (kind !== "rating") continue;
    const place = `${task}/${position}/${criterion}`;
    places.delete(place);
    if (!body.taken_back) places.set(place, { task, criterion, body });
  }
  outbox.shelf.set(KEY, [...places]); // before they leave the box: nothing is ever in neither
  outbox.drop(old);
}

/**
 * What was set aside, in words; null where there is nothing.
 * @param {any} form
 * @param {import("./shelf.js").Shelf} shelf
 * @param {() => void} gone called when it was given up
 */
export function outdatedNotice(form, shelf, gone) {
  const old = (shelf.get(KEY) ?? []).map(([, answer]) => answer);
  if (old.length === 0) return null;
  const were = old.length === 1 ? "was" : "were";
  const count = counted(old.length, "answer");
  const words = `${count} ${were} made under an earlier version of the questions and ${were} not sent:`;
  const rows = old.map((answer) => textElement("li", inWords(form, answer)));
  const giveUp = button("Give it up", () => {
    shelf.remove(KEY);
    gone();
  });
  const parts = [element("p", {}, words), element("ul", {}, rows), element("div", { class: "row" }, giveUp)];
  return element("div", { class: "notice caution outdated", role: "group", "aria-label": "Earlier answers" }, parts);
}

function inWords(form, { criterion, body }) {
  const known = form.criteria.find((one) => one.id === criterion);
  const asked = known ?? { title: criterion, scale: { type: "gone", values: [] } };
  const why = body.rationale ? `, “${body.rationale}”` : "";
  return `${asked.title}: ${answerInWords(asked, body)}${why}`;
}
