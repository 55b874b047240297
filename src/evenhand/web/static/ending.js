/** What is shown where there is nothing to rate: done, paused, not yet, out of reach. */

import { Unreachable } from "./api.js";
import { button, element } from "./element.js";

const AGAIN = 30_000;

/**
 * @param {string} title
 * @param {string} words
 * @param {(Node | null)[]} more
 */
function card(title, words, ...more) {
  return element("div", { class: "page narrow" }, element("div", { class: "card stack ending", tabindex: "-1" }, element("h1", {}, title), element("p", {}, words), more));
}

/** Calls back in a while, unless the card is no longer shown by then. */
function later(made, act, delay = AGAIN) {
  setTimeout(() => made.isConnected && act(), delay);
  return made;
}

/**
 * @param {any} answer of the server: why there is no task
 * @param {{back: (() => void) | null, again: () => void}} ways
 */
export function showEnd({ state, completion, progress }, { back, again }) {
  const backButton = back ? button("Back to the last one", back, { key: "B" }) : null;
  const row = (...nodes) => element("div", { class: "row" }, nodes);
  if (state === "paused") {
    return later(card("Paused", "Whoever runs the study has paused it. Your answers are saved. This page goes on by itself when the study does.", row(backButton)), again);
  }
  const nothingYet = progress.done === 0 || (progress.of !== null && progress.done < progress.of);
  if (nothingYet) {
    const words = "Everything there is has been given to others for now. This page looks again every half minute.";
    return later(card("Nothing to rate right now", words, row(button("Look again", again, { class: "primary" }), backButton)), again);
  }
  const link = completion ? element("a", { class: "button primary", href: completion, rel: "noreferrer" }, "Complete") : null;
  const words = completion ? "You have rated everything. One more step: follow this link, so that your work is counted." : "You have rated everything there was for you. You can close this page.";
  return card("All done. Thank you!", words, row(link, backButton));
}

/**
 * @param {Error} fault
 * @param {() => void} again
 */
export function showTrouble(fault, again) {
  const tryAgain = button("Try again", again, { class: "primary" });
  if (fault instanceof Unreachable) {
    const made = card("No connection", "The server cannot be reached. Your answers are kept in this browser and will be sent as soon as it can. This page tries again by itself.", tryAgain);
    addEventListener("online", () => made.isConnected && again(), { once: true });
    return later(made, again, 5_000);
  }
  if (/** @type {any} */ (fault).status === 401) return card("You are signed out", "Open your invite link again to go on. Answers that were not sent yet are kept in this browser.");
  return card("This did not work", fault.message, tryAgain);
}
