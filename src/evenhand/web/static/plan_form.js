/** The plan: read, changed and put in force as a whole. */

import { get, request } from "./api.js";
import { element } from "./element.js";
import { clearErrors, showErrors } from "./field_errors.js";

const NUMBERS = ["overlap", "share", "claim_minutes", "gold_every", "repeat_every", "repeat_after", "seed", "batch"];
const MAY_BE_EMPTY = ["overlap", "share"];
const TEXTS = ["gold", "completion"];
const CHOICES = ["training", "reveal"];

const form = /** @type {HTMLFormElement} */ (document.getElementById("plan"));
const locked = /** @type {HTMLElement} */ (document.getElementById("plan-locked"));
const state = /** @type {HTMLElement} */ (document.getElementById("plan-state"));

/** @type {any} the plan in force, with what is locked */
let plan = null;

/**
 * Wires the form up and fills it.
 * @param {() => void} changed called after a plan was put in force
 */
export async function startPlan(changed) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(changed);
  });
  form.addEventListener("input", () => say("Not saved yet.", ""));
  show(await get("/api/plan"));
  const study = await get("/api/study");
  const options = study.raters.map((/** @type {any} */ rater) => element("option", { value: rater.id }));
  document.getElementById("known-raters")?.replaceChildren(...options);
}

/** @param {any} found */
function show(found) {
  plan = found;
  for (const name of [...NUMBERS, ...TEXTS, ...CHOICES]) input(name).value = plan[name] ?? "";
  input("paused").checked = plan.paused;
  for (const box of boxes()) box.checked = (plan.by ?? []).includes(box.value);
  locked.hidden = plan.locked.length === 0;
  for (const name of ["seed", "batch"]) input(name).disabled = plan.locked.includes(name);
  for (const box of boxes()) box.disabled = plan.locked.includes("by");
}

/**
 * @param {string} name
 * @returns {HTMLInputElement}
 */
const input = (name) => /** @type {HTMLInputElement} */ (document.getElementById(`plan-${name}`));

/** @returns {HTMLInputElement[]} */
const boxes = () => [...form.querySelectorAll('input[name="by"]')].map((box) => /** @type {HTMLInputElement} */ (box));

/** The plan as the form has it; problems are fields that cannot be read as what they should be. */
function read() {
  const { locked: _, ...wanted } = plan;
  const problems = [];
  for (const name of NUMBERS) {
    const text = input(name).value.trim();
    const empty = text === "" && !input(name).validity.badInput;
    if (empty && MAY_BE_EMPTY.includes(name)) wanted[name] = null;
    else if (empty || Number.isNaN(Number(text)) || input(name).validity.badInput) problems.push(`body.${name}: Give a number.`);
    else wanted[name] = Number(text);
  }
  for (const name of TEXTS) wanted[name] = input(name).value.trim() || null;
  for (const name of CHOICES) wanted[name] = input(name).value;
  wanted.paused = input("paused").checked;
  const chosen = boxes().filter((box) => box.checked).map((box) => box.value);
  // No box means the protocol's strata; a plan that says "by nothing" was made elsewhere and stays so.
  wanted.by = chosen.length > 0 ? chosen : plan.by?.length === 0 ? [] : null;
  return { wanted, problems };
}

/** @param {() => void} changed */
async function save(changed) {
  clearErrors(form);
  const { wanted, problems } = read();
  if (problems.length > 0) {
    showErrors(form, problems);
    say("Not saved: something is missing above.", "bad");
    return;
  }
  say("Saving …", "");
  try {
    show(await request("PUT", "/api/plan", wanted));
    say("Saved.", "good");
    changed();
  } catch (error) {
    const left = showErrors(form, error.body?.problems ?? []);
    const beside = error.body?.problems?.length > 0 && left.length === 0;
    say(`Not saved: ${beside ? "see above." : left.join("; ") || error.message}`, "bad");
  }
}

/**
 * @param {string} words
 * @param {"" | "good" | "bad"} kind
 */
function say(words, kind) {
  state.textContent = words;
  state.className = `small ${kind}`;
}
