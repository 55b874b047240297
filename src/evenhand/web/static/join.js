/** The page behind an invite link: hands the link's token over and goes on to the work. */

import { post } from "./api.js";

const NAMES = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "id"];

const token = decodeURIComponent(location.pathname.split("/").pop() ?? "");
const source = brought(new URLSearchParams(location.search));
const state = /** @type {HTMLElement} */ (document.getElementById("state"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("who"));
const again = /** @type {HTMLButtonElement} */ (document.getElementById("again"));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  delete source.PROLIFIC_PID; // the id that is entered counts in its place
  source.id = String(new FormData(form).get("id")).trim();
  join();
});
again.addEventListener("click", join);
join();

/**
 * What came with the link about the person who opened it.
 * @param {URLSearchParams} query
 * @returns {Record<string, string>}
 */
function brought(query) {
  const found = NAMES.filter((name) => query.get(name)).map((name) => [name, query.get(name)]);
  return Object.fromEntries(found);
}

async function join() {
  again.hidden = true;
  say("Opening your page …", false);
  try {
    const joined = await post("/api/session", { token, source });
    // In place of this page: its address holds the token, and Back should not lead to it.
    location.replace(joined.next);
  } catch (error) {
    const named = Boolean(source.id ?? source.PROLIFIC_PID);
    if (asksForId(error, named)) form.hidden = false;
    say(inWords(error.message), named || form.hidden);
    for (const name of refusedNames(error)) delete source[name];
    again.hidden = !form.hidden || error.status === 401;
    if (!form.hidden) form.elements.namedItem("id").focus();
  }
}

/**
 * Whether it is the id that is missing, wrong or somebody else's: another may be entered then.
 * @param {any} error
 * @param {boolean} named whether an id was sent
 */
function asksForId(error, named) {
  const problems = error.body?.problems ?? [];
  return error.status === 422 && (named || problems.some((problem) => problem.startsWith("body.source")));
}

/** What came with the link and cannot be used. @param {any} error @returns {string[]} */
function refusedNames(error) {
  const places = (error.body?.problems ?? []).map((problem) => /^body\.source\.(\w+):/.exec(problem)?.[1]);
  return places.filter(Boolean);
}

/** A message as people read it: without the places of fields in a request. @param {string} message */
function inWords(message) {
  const words = message.replace(/\bbody(?:\.\w+)*: /g, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * @param {string} text
 * @param {boolean} bad
 */
function say(text, bad) {
  state.textContent = text;
  state.className = bad ? "notice bad" : "";
}
