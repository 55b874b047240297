/** What one rater has in hand: a dialog to look at it, to take it back and to give more. */

import { get, post } from "./api.js";
import { button, element, textElement } from "./element.js";
import { textNodes } from "./text.js";
import { counted, momentOf } from "./wording.js";

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("hand"));
const title = /** @type {HTMLElement} */ (document.getElementById("hand-title"));
const table = /** @type {HTMLTableElement} */ (document.getElementById("hand-tasks"));
const none = /** @type {HTMLElement} */ (document.getElementById("hand-none"));
const all = /** @type {HTMLButtonElement} */ (document.getElementById("hand-all"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("hand-give"));
const state = /** @type {HTMLElement} */ (document.getElementById("hand-state"));

let rater = "";
/** @type {() => void} */
let told = () => {};

/** @param {() => void} changed called after something went back or was given */
export function startInHand(changed) {
  told = changed;
  document.getElementById("hand-close")?.addEventListener("click", () => dialog.close());
  all.addEventListener("click", () => giveBack(null));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(String(new FormData(form).get("item")));
  });
}

/** @param {string} name */
export async function openInHand(name) {
  rater = name;
  const who = element("bdi");
  who.append(textNodes(name));
  title.replaceChildren("In hand: ", who);
  state.textContent = "";
  form.reset();
  if (!dialog.open) dialog.showModal();
  await show();
}

async function show() {
  await attempt(async () => {
    const { tasks } = await get(`/api/raters/tasks?rater=${encodeURIComponent(rater)}`);
    table.hidden = all.hidden = tasks.length === 0;
    none.hidden = tasks.length > 0;
    table.tBodies[0].replaceChildren(...tasks.map(row));
  });
}

/** @param {any} task */
function row(task) {
  const cell = (/** @type {string} */ label, /** @type {any} */ inside) => element("td", { role: "cell", "data-label": label }, inside);
  const item = task.item === null ? "worked example" : textElement("bdi", task.item);
  return element(
    "tr",
    { role: "row" },
    cell("No.", String(task.number)),
    cell("Item", item),
    cell("Purpose", task.purpose),
    cell("Opened", momentOf(task.opened)),
    cell("Claimed until", momentOf(task.expires)),
    cell("Actions", button("Give back", () => giveBack(task.number), { class: "quiet", "aria-label": `Give task ${task.number} back` })),
  );
}

/** @param {number | null} number one task; null: all */
async function giveBack(number) {
  await attempt(async () => {
    const { returned } = await post("/api/raters/give-back", { rater, number });
    state.textContent = `${counted(returned, "task")} went back to the others.`;
  });
  await show();
  told();
}

/** @param {string} item */
async function give(item) {
  await attempt(async () => {
    const task = await post("/api/assignments", { item, rater });
    const done = task.state === "done" ? "was done already" : "is in hand now";
    state.textContent = `Task ${task.number} ${done}.`;
    form.reset();
  });
  await show();
  told();
}

/** @param {() => Promise<void>} work */
async function attempt(work) {
  state.className = "small";
  try {
    await work();
  } catch (error) {
    state.textContent = error.message;
    state.className = "small bad";
  }
}
