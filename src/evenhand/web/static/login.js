/** The owner's way in: by the link that the server printed, which has a token behind its #, or by the password. */

import { get, post } from "./api.js";

const state = /** @type {HTMLElement} */ (document.getElementById("state"));
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("sign-in"));

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(String(new FormData(form).get("password")));
});
window.addEventListener("hashchange", start);
start();

async function start() {
  const token = location.hash.slice(1);
  // The token is no part of what stays in the address line or the history.
  if (token) history.replaceState(null, "", location.pathname);
  if (token && (await signIn(token))) return;
  // Whoever is signed in is shown this page, too: links from other sites bring no cookies.
  const me = await get("/api/me").catch(() => null);
  if (me?.access.includes("owner")) location.replace("/manage");
}

/**
 * @param {string} password
 * @returns {Promise<boolean>} whether it was the right one
 */
async function signIn(password) {
  state.hidden = true;
  try {
    const signedIn = await post("/api/session/owner", { password });
    location.replace(signedIn.next);
    return true;
  } catch (error) {
    state.textContent = error.message;
    state.hidden = false;
    const field = /** @type {HTMLInputElement | null} */ (document.getElementById("password"));
    field?.select();
    return false;
  }
}
