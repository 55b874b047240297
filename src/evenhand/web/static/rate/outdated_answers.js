/** Answers to an earlier version of the form: no longer sent, but shown until the rater discards them. */

import { counted } from "../shared/formatting.js";
import { button, h, row, textElement } from "../shared/view.js";
import { formatAnswer } from "../workbench/answers.js";

const KEY = "outdated";

/** Takes answers to another version of the form out of the outbox. @param {Form} form @param {Outbox} outbox */
export function setOutdatedAside(form, outbox) {
  const outdated = outbox.entries().filter((entry) => entry.digest !== form.study.digest);
  if (outdated.length === 0) return;
  const places = new Map(outbox.storage.get(KEY) ?? []);
  for (const { kind, task, position, criterion, body } of outdated) {
    if (kind !== "rating") continue;
    const place = `${task}/${position}/${criterion}`;
    places.delete(place);
    if (!body.taken_back) places.set(place, { criterion, body });
  }
  outbox.storage.set(KEY, [...places]); // before they leave the outbox: nothing is ever in neither
  outbox.discard(outdated);
}

/** What was set aside, if anything. @param {Form} form @param {BrowserStorage} storage @param {() => void} discarded */
export function outdatedNotice(form, storage, discarded) {
  /** @type {{criterion: string, body: any}[]} */
  const answers = (storage.get(KEY) ?? []).map((/** @type {[string, any]} */ [, answer]) => answer);
  if (answers.length === 0) return null;
  const were = answers.length === 1 ? "was" : "were";
  const count = counted(answers.length, "answer");
  const message = `${count} ${were} given to an earlier version of the questions and ${were} not sent:`;
  const discard = button("Discard", () => {
    storage.remove(KEY);
    discarded();
  });
  const rows = answers.map((answer) => textElement("li", describe(form, answer)));
  const parts = [h("p", {}, message), h("ul", {}, rows), row(discard)];
  return h("div", { class: "notice caution outdated", role: "group", "aria-label": "Earlier answers" }, parts);
}

/** @param {Form} form @param {{criterion: string, body: any}} answer */
function describe(form, { criterion: id, body }) {
  const criterion = form.criteria.find((one) => one.id === id) ?? { title: id, scale: { type: "unknown", values: [] } };
  const why = body.rationale ? `, “${body.rationale}”` : "";
  return `${criterion.title}: ${formatAnswer(criterion, body)}${why}`;
}
