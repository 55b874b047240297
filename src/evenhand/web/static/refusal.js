/** What to do about an answer that the server did not take: nothing is lost before somebody has decided. */

import { answerInWords } from "./answers.js";
import { button, element, textElement } from "./element.js";

/**
 * @param {import("./work.js").Work} work
 * @param {any} criterion
 * @param {import("./outbox.js").Entry} entry
 */
export function refusalNotice(work, criterion, entry) {
  const { refused } = entry;
  const isConflict = refused.status === 409 && refused.present !== undefined && refused.present !== null;
  return isConflict ? conflict(work, criterion, entry) : other(work, entry);
}

function conflict(work, criterion, entry) {
  const mine = work.answer(entry.position, entry.criterion);
  const { present } = entry.refused;
  const time = new Date(present.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const takenBack = present.reason === "taken back";
  const theirs = takenBack ? "taken back" : answerInWords(criterion, present);
  const { rationale } = present;
  const differs = rationale && rationale !== mine.rationale;
  const more = differs ? textElement("p", `“${rationale}”`, { class: "small" }) : null;
  return element(
    "div",
    { class: "notice caution", role: "group", "aria-label": "Two answers" },
    textElement("p", `Here: ${answerInWords(criterion, mine)}; saved elsewhere: ${theirs}, at ${time}.`),
    more,
    element(
      "div",
      { class: "row" },
      button("Keep mine", () => work.settle(entry, true), { class: "primary" }),
      button("Take the other", () => work.settle(entry, false)),
    ),
  );
}

function other(work, entry) {
  const chain = () => work.outbox.chain(entry.task, entry.position, entry.criterion);
  return element(
    "div",
    { class: "notice bad", role: "group", "aria-label": "Not saved" },
    textElement("p", `This answer was not saved. ${entry.refused.error}`),
    element(
      "div",
      { class: "row" },
      button("Try again", () => work.outbox.again(entry), { class: "primary" }),
      button("Give it up", () => work.outbox.drop(chain())),
    ),
  );
}
