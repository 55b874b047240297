/** The owner's page: keeps what it shows up to date while it is visible. */

import { announce } from "../shared/announce.js";
import { Refused, get, post, request, requestError } from "../shared/api.js";
import { localTime } from "../shared/formatting.js";
import { byId, render } from "../shared/view.js";
import { agreementPlots } from "./agreement_plot.js";
import { startInvites } from "./invites.js";
import { openOpenTasks } from "./open_tasks.js";
import { startPlan } from "./plan_form.js";
import { showRaters } from "./raters_table.js";
import { showStudy } from "./study_progress.js";

const REFRESH_MS = 5000;

const freshness = byId("freshness");
const trouble = byId("trouble");
const actAs = /** @type {HTMLFormElement} */ (byId("act-as"));

let timer = 0;
let isLoading = false;
let isOutdated = false; // something changed while the figures were loading
let updatedAt = "";

/** Loads the figures, and again every few seconds, as long as the page is visible. */
async function refresh() {
  clearTimeout(timer);
  isOutdated = isLoading;
  if (isLoading || document.hidden) return;
  isLoading = true;
  try {
    const { study, elsewhere, raters } = await get("/api/progress");
    showStudy(study, elsewhere);
    showRaters(raters, { pause, open: (rater) => openOpenTasks(rater, refresh).catch(showTrouble) }, Date.now());
    render(byId("growth"), agreementPlots((await get("/api/growth")).criteria));
    updatedAt = localTime(Date.now());
    freshness.textContent = `Up to date at ${updatedAt}`;
    trouble.hidden = true;
  } catch (error) {
    showTrouble(error);
  }
  isLoading = false;
  timer = setTimeout(refresh, isOutdated ? 0 : REFRESH_MS);
}

/** @param {unknown} error */
function showTrouble(error) {
  const { message } = requestError(error);
  if (error instanceof Refused && error.status === 401) return location.assign("/login");
  const since = updatedAt ? ` What you see is from ${updatedAt}.` : "";
  render(trouble, [`${message}${since} This page tries again every few seconds.`]);
  trouble.hidden = false;
  freshness.textContent = updatedAt ? `Last updated at ${updatedAt}` : "Not up to date";
}

/** @param {string} rater @param {boolean} paused */
async function pause(rater, paused) {
  try {
    await post("/api/raters/pause", { rater, paused });
    announce(paused ? `${rater} is paused.` : `${rater} can continue.`);
    await refresh();
  } catch (error) {
    showTrouble(error);
  }
}

/** @param {SubmitEvent} event */
async function rateYourself(event) {
  event.preventDefault();
  const role = event.submitter instanceof HTMLButtonElement ? event.submitter.value : "rater";
  const failure = byId("act-error");
  failure.textContent = "";
  try {
    const { next } = await post("/api/session/as", { name: String(new FormData(actAs).get("name")), role });
    location.assign(next);
  } catch (error) {
    failure.textContent = requestError(error).message;
  }
}

/** Offers the name under which this browser rated last. */
async function fillInName() {
  const me = await get("/api/me");
  const name = /** @type {HTMLInputElement} */ (byId("act-name"));
  if (me.rater && !name.value) name.value = me.rater;
}

async function signOut() {
  await request("DELETE", "/api/session").catch(() => null);
  location.assign("/login");
}

actAs.addEventListener("submit", rateYourself);
byId("sign-out").addEventListener("click", signOut);
document.addEventListener("visibilitychange", refresh);
window.addEventListener("online", refresh);
refresh();
for (const started of [startInvites(), startPlan(refresh), fillInName()]) started.catch(showTrouble);
