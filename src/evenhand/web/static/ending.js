/** What is shown where there is nothing to rate: done, paused, not yet, out of reach. */

import { Unreachable } from "./api.js";
import { button, element } from "./element.js";

const AGAIN = 30_000;
const PAUSED =
  "Whoever runs the study has paused it. Your answers are saved. This page goes on by itself when the study does.";
const DONE = "You have rated everything there was for you. You can close this page.";
const ONE_MORE_STEP = "You have rated everything. One more step: follow this link, so that your work is counted.";
const NO_CONNECTION =
  "The server cannot be reached. Your answers are kept in this browser and will be sent as soon as it can. " +
  "This page tries again by itself.";
const SIGNED_OUT = "Open your invite link again to go on. Answers that were not sent yet are kept in this browser.";

/**
 * @param {string} title
 * @param {string} words
 * @param {(Node | null)[]} more
 */
function card(title, words, ...more) {
  const content = [element("h1", {}, title), element("p", {}, words), ...more];
  const made = element("div", { class: "card stack ending", tabindex: "-1" }, content);
  return element("div", { class: "page narrow" }, made);
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
    return later(card("Paused", PAUSED, row(backButton)), again);
  }
  const nothingYet = progress.done === 0 || (progress.of !== null && progress.done < progress.of);
  if (nothingYet) {
    const words = "Everything there is has been given to others for now. This page looks again every half minute.";
    const look = button("Look again", again, { class: "primary" });
    return later(card("Nothing to rate right now", words, row(look, backButton)), again);
  }
  if (!completion) return card("All done. Thank you!", DONE, row(backButton));
  const link = element("a", { class: "button primary", href: completion, rel: "noreferrer" }, "Complete");
  return card("All done. Thank you!", ONE_MORE_STEP, row(link, backButton));
}

/**
 * @param {Error} fault
 * @param {() => void} again
 */
export function showTrouble(fault, again) {
  const tryAgain = button("Try again", again, { class: "primary" });
  if (fault instanceof Unreachable) {
    const made = card("No connection", NO_CONNECTION, tryAgain);
    addEventListener("online", () => made.isConnected && again(), { once: true });
    return later(made, again, 5_000);
  }
  if (/** @type {any} */ (fault).status === 401) return card("You are signed out", SIGNED_OUT);
  return card("This did not work", fault.message, tryAgain);
}
