/** The dialog with a rater's open tasks: look at them, return them, assign more. */

import { get, post, requestError } from "../shared/api.js";
import { openDialog } from "../shared/dialogs.js";
import { counted, formatDateTime } from "../shared/formatting.js";
import { table } from "../shared/table.js";
import { button, byId, h, row, textElement } from "../shared/view.js";

/** @param {string} rater @param {() => void} changed called after a task was returned or assigned */
export async function openOpenTasks(rater, changed) {
  /** @type {OpenTask[] | null} */
  let tasks = null;
  let status = { message: "", isBad: false };
  const refresh = async () => {
    ({ tasks } = await get(`/api/raters/tasks?rater=${encodeURIComponent(rater)}`));
    draw();
  };
  const act = async (/** @type {() => Promise<string>} */ change) => {
    try {
      status = { message: await change(), isBad: false };
    } catch (error) {
      status = { message: requestError(error).message, isBad: true };
    }
    await refresh();
    changed();
  };
  const giveBack = (/** @type {number | null} */ number) =>
    act(async () => {
      const { returned } = await post("/api/raters/give-back", { rater, number });
      return `${counted(returned, "task")} returned; other raters can get the items now.`;
    });
  const assign = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const input = /** @type {HTMLInputElement} */ (byId("assign-item"));
    act(async () => {
      const task = await post("/api/assignments", { item: input.value, rater });
      input.value = "";
      return `Task ${task.number} ${task.state === "done" ? "was done already" : "is open now"}.`;
    });
  };
  const draw = () => dialog.show([
    tasks?.length === 0 && h("p", { id: "no-open-tasks", class: "muted" }, "No open tasks at the moment."),
    tasks && tasks.length > 0 && tasksTable(tasks, giveBack),
    assignForm(assign),
    h("p", { id: "open-tasks-state", class: status.isBad ? "small bad" : "small", role: "status" }, status.message),
    tasks && tasks.length > 0 && row(button("Return all", () => giveBack(null))),
  ]);
  const dialog = openDialog(`Open tasks of ${rater}`, [], { class: "wide" });
  draw();
  await refresh();
}

/** @param {OpenTask[]} tasks @param {(number: number) => void} giveBack */
function tasksTable(tasks, giveBack) {
  /** @type {Column<OpenTask>[]} */
  const columns = [
    { title: "No.", cell: ({ number }) => String(number) },
    { title: "Item", cell: ({ item }) => (item === null ? "worked example" : textElement("bdi", item)) },
    { title: "Purpose", cell: ({ purpose }) => purpose },
    { title: "Opened", cell: ({ opened }) => formatDateTime(opened) },
    { title: "Reserved until", cell: ({ expires }) => formatDateTime(expires) },
    {
      title: "Actions",
      hideTitle: true,
      cell: ({ number }) =>
        button("Return", () => giveBack(number), { class: "quiet", "aria-label": `Return task ${number}` }),
    },
  ];
  return table(columns, tasks, { class: "folding", row: ({ number }) => ({ key: number }) });
}

/** @param {(event: SubmitEvent) => void} onsubmit */
function assignForm(onsubmit) {
  const plain = { autocomplete: "off", spellcheck: "false", dir: "auto" };
  const input = { id: "assign-item", name: "item", required: true, maxlength: 2000, placeholder: "Item id", ...plain };
  return h(
    "form",
    { class: "stack tight assign", onsubmit },
    h(
      "div",
      { class: "field" },
      h("label", { for: "assign-item" }, "Assign an item"),
      row(h("input", input), h("button", {}, "Assign")),
      h("p", { class: "hint" }, "Regardless of the number of people per item. An item that this rater has had before is reopened."),
    ),
  );
}
