/** The dialog that lists a rater's tasks. */

import { requestError } from "../shared/api.js";
import { openDialog } from "../shared/dialogs.js";
import { button, h } from "../shared/view.js";

const STATES = {
  rate: { open: "open", done: "✓ done", returned: "returned, can still be done" },
  training: { open: "open", done: "✓ done", returned: "skipped" },
};

/** @param {TaskQueue} queue @param {TaskId | null} current @param {(number: number) => void} open */
export async function openTaskList(queue, current, open) {
  /** @type {ListedTask[]} */
  const tasks = [];
  const row = (/** @type {ListedTask} */ { number, purpose, state }) => {
    const go = () => {
      dialog.close();
      open(number);
    };
    const badge = h("span", { class: state === "done" ? "badge good" : "badge" }, STATES[purpose][state]);
    // Task numbers count items and worked examples of all versions of the protocol together.
    const place = tasks.filter((task) => task.purpose === purpose && task.number <= number).length;
    const name = purpose === "training" ? `Training ${place}` : `Item ${place}`;
    return h("li", {}, button(name, go, { class: "line", "aria-current": number === current ? "true" : null }, badge));
  };
  const show = (/** @type {string} */ message) =>
    dialog.show([h("p", { class: "muted" }, message), h("ol", { class: "tasks" }, tasks.map(row))]);
  const dialog = openDialog("Your tasks", [h("p", { class: "muted" }, "Loading…")], { class: "narrow" });
  try {
    tasks.push(...(await queue.list()));
    show(tasks.length === 0 ? "You have no tasks yet." : "Open a task to look at it or to change it.");
  } catch (error) {
    show(requestError(error).message);
  }
  /** @type {HTMLElement | null} */ (dialog.element.querySelector("[aria-current]"))?.focus();
}
