/** Whether everything is saved, in words, at the top of the page. */

import { announce } from "./announce.js";
import { element } from "./element.js";

/**
 * What the outbox's state means to whoever rates.
 * @param {import("./outbox.js").Outbox} outbox
 * @returns {{words: string, tone: "good" | "caution" | "bad" | "plain"}}
 */
export function statusOf(outbox) {
  const entries = outbox.entries();
  const refused = entries.filter((entry) => entry.refused).length;
  const places = new Set(entries.map((entry) => `${entry.task}/${entry.position}/${entry.criterion ?? ""}`));
  const waiting = `${places.size} ${places.size === 1 ? "answer" : "answers"}`;
  if (outbox.state === "ended") return { words: `Signed out, ${waiting} kept here`, tone: "bad" };
  if (refused > 0) return { words: refused === 1 ? "1 answer needs you" : `${refused} answers need you`, tone: "bad" };
  if (entries.length === 0) return { words: "All saved", tone: "good" };
  if (!navigator.onLine || outbox.state === "offline") return { words: `${waiting} waiting: offline`, tone: "caution" };
  if (outbox.state === "retrying") return { words: `${waiting} waiting: retrying`, tone: "caution" };
  return { words: "Saving…", tone: "plain" };
}

/**
 * Keeps an element in step with the outbox; changes that last are also said aloud.
 * @param {HTMLElement} place
 * @param {import("./outbox.js").Outbox} outbox
 */
export function showStatus(place, outbox) {
  let said = "All saved";
  let timer = 0;
  const show = () => {
    const { words, tone } = statusOf(outbox);
    place.replaceChildren(element("span", { class: "dot", "aria-hidden": "true" }), words);
    place.dataset.tone = tone;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (words !== said && tone !== "plain") announce(words);
      if (tone !== "plain") said = words;
    }, 800);
  };
  outbox.addEventListener("change", show);
  show();
}
