/** The list of one's own tasks. */

import { openDialog } from "./dialogs.js";
import { button, element } from "./element.js";

const STATES = { open: "open", done: "✓ done", returned: "returned, can still be done" };

/**
 * @param {import("./journey.js").Journey} journey
 * @param {number | null} current
 * @param {(number: number) => void} open
 */
export async function openTasks(journey, current, open) {
  const list = element("ol", { class: "tasks" });
  const words = element("p", { class: "muted" }, "Loading…");
  const dialog = openDialog("Your tasks", [words, list], { class: "narrow" });
  const row = (task) => {
    const name = task.purpose === "training" ? `Training ${task.number}` : `Item ${task.number}`;
    const go = () => {
      dialog.close();
      open(task.number);
    };
    const state = element("span", { class: task.state === "done" ? "badge good" : "badge" }, STATES[task.state]);
    const made = button(name, go, { class: "line", "aria-current": task.number === current ? "true" : null });
    made.append(state);
    return element("li", {}, made);
  };
  const more = button("Show more", () => load());
  let last = 0;
  const load = async () => {
    try {
      const { tasks } = await journey.list(last);
      last = tasks.at(-1)?.number ?? last;
      list.append(...tasks.map(row));
      const none = list.childElementCount === 0;
      words.textContent = none ? "You have none yet." : "Open one to look at it, or to change it.";
      if (tasks.length === 100) list.after(more);
      else more.remove();
    } catch (fault) {
      words.textContent = fault instanceof Error ? fault.message : "";
    }
  };
  await load();
  list.querySelector("[aria-current]")?.focus();
}
