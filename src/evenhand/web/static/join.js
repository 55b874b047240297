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
    const asked = form.hidden && asksForId(error);
    say(error.message, !asked);
    if (asked) form.hidden = false;
    again.hidden = !form.hidden || error.status === 401;
    if (!form.hidden) form.elements.namedItem("id").focus();
  }
}

/** @param {any} error whether it is the id that is missing or wrong */
function asksForId(error) {
  return (error.body?.problems ?? []).some((problem) => problem.startsWith("body.source"));
}

/**
 * @param {string} text
 * @param {boolean} bad
 */
function say(text, bad) {
  state.textContent = text;
  state.className = bad ? "notice bad" : "";
}
