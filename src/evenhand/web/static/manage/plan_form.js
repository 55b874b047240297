/** The plan: loaded, edited and saved as a whole. */

import { Refused, get, request, requestError } from "../shared/api.js";
import { clearErrors, showErrors } from "../shared/form_errors.js";
import { byId, h, render } from "../shared/view.js";

const NUMBERS = ["overlap", "share", "claim_minutes", "gold_every", "repeat_every", "repeat_after", "seed", "batch"];
const MAY_BE_EMPTY = ["overlap", "share"];
const TEXTS = ["gold", "completion"];
const CHOICES = ["training", "reveal"];

const form = /** @type {HTMLFormElement} */ (byId("plan"));
const state = byId("plan-state");

/** @type {Record<string, any> & {locked: string[]}} the saved plan, and which of its fields are locked */
let plan = { locked: [] };

/** Prepares the form and fills it. @param {() => void} saved called after a plan was saved */
export async function startPlan(saved) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(saved);
  });
  form.addEventListener("input", () => showState("Not saved yet.", ""));
  show(await get("/api/plan"));
  /** @type {{raters: {id: string}[]}} */
  const { raters } = await get("/api/study");
  render(byId("known-raters"), raters.map(({ id }) => h("option", { value: id })));
}

/** @param {typeof plan} loaded */
function show(loaded) {
  plan = loaded;
  for (const name of [...NUMBERS, ...TEXTS, ...CHOICES]) input(name).value = plan[name] ?? "";
  input("paused").checked = plan.paused;
  byId("plan-locked").hidden = plan.locked.length === 0;
  for (const name of ["seed", "batch"]) input(name).disabled = plan.locked.includes(name);
  for (const box of strataBoxes()) {
    box.checked = (plan.by ?? []).includes(box.value);
    box.disabled = plan.locked.includes("by");
  }
}

/** @param {string} name */
const input = (name) => /** @type {HTMLInputElement} */ (byId(`plan-${name}`));

/** @returns {HTMLInputElement[]} */
const strataBoxes = () => Array.from(form.querySelectorAll('input[name="by"]'));

/** The plan in the form, and the problems of fields that do not hold a number. */
function read() {
  const { locked: _, ...wanted } = plan;
  const problems = [];
  for (const name of NUMBERS) {
    const text = input(name).value.trim();
    const isEmpty = text === "" && !input(name).validity.badInput;
    if (isEmpty && MAY_BE_EMPTY.includes(name)) wanted[name] = null;
    else if (text === "" || Number.isNaN(Number(text))) problems.push(`body.${name}: Enter a number.`);
    else wanted[name] = Number(text);
  }
  for (const name of TEXTS) wanted[name] = input(name).value.trim() || null;
  for (const name of CHOICES) wanted[name] = input(name).value;
  wanted.paused = input("paused").checked;
  const chosen = strataBoxes().filter((box) => box.checked).map((box) => box.value);
  // No box means the protocol's strata; a plan made elsewhere that balances by nothing stays as it is.
  wanted.by = chosen.length > 0 ? chosen : plan.by?.length === 0 ? [] : null;
  return { wanted, problems };
}

/** @param {() => void} saved */
async function save(saved) {
  clearErrors(form);
  const { wanted, problems } = read();
  if (problems.length > 0) {
    showErrors(form, problems);
    return showState("Not saved: something is missing above.", "bad");
  }
  showState("Saving …", "");
  try {
    show(await request("PUT", "/api/plan", wanted));
    showState("Saved.", "good");
    saved();
  } catch (error) {
    const { message } = requestError(error);
    const found = error instanceof Refused ? error.problems : [];
    const rest = showErrors(form, found);
    showState(`Not saved: ${found.length > 0 && rest.length === 0 ? "see above." : rest.join("; ") || message}`, "bad");
  }
}

/** @param {string} message @param {"" | "good" | "bad"} tone */
function showState(message, tone) {
  state.textContent = message;
  state.className = `small ${tone}`;
}
