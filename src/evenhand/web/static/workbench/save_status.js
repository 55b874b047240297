/** Whether everything is saved, at the top of the page. */

import { announce } from "../shared/announce.js";
import { counted } from "../shared/formatting.js";
import { h, render } from "../shared/view.js";

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
