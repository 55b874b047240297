/** What is shown if there is nothing to rate: done, paused, not yet, out of reach. */

import { Unreachable } from "../shared/api.js";
import { button, h, row } from "../shared/view.js";

const LOOK_AGAIN_MS = 30_000;
const RECONNECT_MS = 5_000;
const PAUSED = "The study is paused. Your answers are saved. This page continues automatically once the study resumes.";
const NOTHING_YET = "All items are assigned to other raters for now. This page checks again every 30 seconds.";
const DONE = "There is nothing left for you to rate. You can close this page.";
const ONE_MORE_STEP = "You have rated everything. One more step: follow this link so that your work is counted.";
const NO_CONNECTION =
  "The server cannot be reached. Your answers are kept in this browser and will be sent as soon as it can. " +
  "This page tries again automatically.";
const SIGNED_OUT = "Open your invite link again to continue. Answers that were not sent yet are kept in this browser.";

/**
 * @param {string} title @param {string} message @param {Child[]} actions @param {number | null} [retryAfterMs]
 * @returns {EndCard}
 */
function card(title, message, actions, retryAfterMs = null) {
  const content = [h("h1", {}, title), h("p", {}, message), row(actions)];
  const attributes = { class: "card stack end-card", id: "end-card", tabindex: "-1" };
  return { view: h("div", { class: "page narrow", key: "end" }, h("div", attributes, content)), retryAfterMs };
}

/** Why there is no task. @param {NextTask} next @param {{back: (() => void) | null, again: () => void}} actions */
export function endCard({ state, completion, progress }, { back, again }) {
  const goBack = back ? button("Back to the last one", back, { shortcut: "B" }) : null;
  if (state === "paused") return card("Paused", PAUSED, [goBack], LOOK_AGAIN_MS);
  if (progress.of === null ? progress.done === 0 : progress.done < progress.of) {
    const look = button("Check again", again, { class: "primary" });
    return card("Nothing to rate right now", NOTHING_YET, [look, goBack], LOOK_AGAIN_MS);
  }
  if (!completion) return card("All done. Thank you!", DONE, [goBack]);
  const link = h("a", { class: "button primary", href: completion, rel: "noreferrer" }, "Complete");
  return card("All done. Thank you!", ONE_MORE_STEP, [link, goBack]);
}

/** Why a task could not be loaded. @param {Refused | Unreachable} error @param {() => void} again */
export function errorCard(error, again) {
  const retry = button("Try again", again, { class: "primary" });
  if (error instanceof Unreachable) return card("No connection", NO_CONNECTION, [retry], RECONNECT_MS);
  if (error.status === 401) return card("You are signed out", SIGNED_OUT, []);
  return card("Something went wrong", error.message, [retry]);
}
