/** Whether everything is saved, at the top of the page, and what can no longer be. */

import { announce } from "../shared/announce.js";
import { counted } from "../shared/formatting.js";
import { button, h, render, row, textElement } from "../shared/view.js";
import { formatAnswer } from "./answers.js";

const LASTING_MS = 800; // a state that lasts this long is announced

/** @param {Outbox} outbox @returns {{message: string, tone: "good" | "caution" | "bad" | "plain"}} */
function saveStatus(outbox) {
  const entries = outbox.entries();
  const refused = entries.filter((entry) => entry.refused).length;
  const places = new Set(entries.map((entry) => `${entry.task}/${entry.position}/${entry.criterion ?? ""}`));
  const waiting = counted(places.size, "answer");
  if (outbox.state === "signed out") return { message: `Signed out, ${waiting} kept here`, tone: "bad" };
  if (refused > 0) return { message: `${counted(refused, "answer")} not saved`, tone: "bad" };
  if (entries.length === 0) return { message: "All saved", tone: "good" };
  if (!navigator.onLine || outbox.state === "offline") return { message: `${waiting} waiting: offline`, tone: "caution" };
  if (outbox.state === "retrying") return { message: `${waiting} waiting: retrying`, tone: "caution" };
  return { message: "Saving…", tone: "plain" };
}

/** Shows the state of the outbox, and announces states that last. @param {HTMLElement} place @param {Outbox} outbox */
export function showSaveStatus(place, outbox) {
  let announced = "All saved";
  let timer = 0;
  const show = () => {
    const { message, tone } = saveStatus(outbox);
    render(place, [h("span", { class: "dot", "aria-hidden": "true" }), message], { class: "status", "data-tone": tone });
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (tone === "plain" || message === announced) return;
      announced = message;
      announce(message);
    }, LASTING_MS);
  };
  outbox.addEventListener("change", show);
  show();
}

/**
 * Answers to another version of the form: they are not sent, but shown until the rater discards them.
 * @param {Form} form @param {Outbox} outbox
 */
export function outdatedNotice(form, outbox) {
  const outdated = outbox.stored().filter(({ kind, digest }) => kind === "rating" && digest !== outbox.digest);
  const last = new Map(outdated.map((entry) => [`${entry.task}/${entry.position}/${entry.criterion}`, entry]));
  const answers = [...last.values()].filter(({ body }) => !body.taken_back);
  if (answers.length === 0) return null;
  const were = answers.length === 1 ? "was" : "were";
  const count = counted(answers.length, "answer");
  const message = `${count} ${were} given to an earlier version of the questions and ${were} not sent:`;
  const rows = answers.map((entry) => textElement("li", describe(form, entry)));
  const parts = [h("p", {}, message), h("ul", {}, rows), row(button("Discard", () => outbox.discard(outdated)))];
  return h("div", { class: "notice caution outdated", role: "group", "aria-label": "Earlier answers" }, parts);
}

/** @param {Form} form @param {Entry} answer */
function describe(form, { criterion: id, body }) {
  const criterion = form.criteria.find((one) => one.id === id) ?? { title: id, scale: { type: "unknown", values: [] } };
  const why = body.rationale ? `, “${body.rationale}”` : "";
  return `${criterion.title}: ${formatAnswer(criterion, body)}${why}`;
}
