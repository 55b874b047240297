/** The page behind an invite link: exchanges the link's token for a session and goes to the work. */

import { Refused, post, requestError } from "../shared/api.js";
import { byId } from "../shared/view.js";

const PARAMETERS = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "id"];

const token = decodeURIComponent(location.pathname.split("/").pop() ?? "");
const source = givenParameters(new URLSearchParams(location.search));
const state = byId("state");
const form = /** @type {HTMLFormElement} */ (byId("who"));
const again = byId("again");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  delete source.PROLIFIC_PID; // the id that was entered replaces it
  source.id = String(new FormData(form).get("id")).trim();
  join();
});
again.addEventListener("click", join);
join();

/** What the link says about its user. @param {URLSearchParams} query @returns {Record<string, string>} */
function givenParameters(query) {
  return Object.fromEntries([...query].filter(([name, value]) => PARAMETERS.includes(name) && value));
}

async function join() {
  again.hidden = true;
  showState("Opening your page …", false);
  try {
    const { next } = await post("/api/session", { token, source });
    location.replace(next); // the address of this page holds the token, and Back should not lead to it
  } catch (error) {
    showRefusal(requestError(error));
  }
}

/** @param {Error} error */
function showRefusal(error) {
  const { status = 0, problems = [] } = error instanceof Refused ? error : {};
  const hasId = Boolean(source.id ?? source.PROLIFIC_PID);
  // The id is missing, wrong or taken: another one may be entered.
  if (status === 422 && (hasId || problems.some((problem) => problem.startsWith("body.source")))) form.hidden = false;
  showState(error.message, hasId || Boolean(form.hidden));
  for (const problem of problems) delete source[/^body\.source\.(\w+):/.exec(problem)?.[1] ?? ""];
  again.hidden = !form.hidden || status === 401;
  if (!form.hidden) byId("id").focus();
}

/** @param {string} message @param {boolean} isBad */
function showState(message, isBad) {
  state.textContent = message;
  state.className = isBad ? "notice bad" : "";
}
