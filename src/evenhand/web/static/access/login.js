/** Signing in as the study's owner: by the link that the server printed, with a token after its #, or by password. */

import { get, post, requestError } from "../shared/api.js";
import { byId } from "../shared/view.js";

const state = byId("state");
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("sign-in"));

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(String(new FormData(form).get("password")));
});
window.addEventListener("hashchange", start);
start();

async function start() {
  const token = location.hash.slice(1);
  if (token) history.replaceState(null, "", location.pathname); // it must not stay in the address or the history
  if (token && (await signIn(token))) return;
  // An owner who is signed in gets here, too: links from other sites send no cookies.
  const me = await get("/api/me").catch(() => null);
  if (me?.access.includes("owner")) location.replace("/manage");
}

/** @param {string} password @returns {Promise<boolean>} whether it was accepted */
async function signIn(password) {
  state.textContent = "";
  try {
    const { next } = await post("/api/session/owner", { password });
    location.replace(next);
    return true;
  } catch (error) {
    state.textContent = requestError(error).message;
    /** @type {HTMLInputElement | null} */ (document.getElementById("password"))?.select();
    return false;
  }
}
