/** The owner's page: keeps what it shows up to date while somebody looks at it. */

import { announce } from "./announce.js";
import { get, post, request, Refused } from "./api.js";
import { growthPlots } from "./growth_plot.js";
import { openInHand, startInHand } from "./in_hand.js";
import { startInvites } from "./invites.js";
import { startPlan } from "./plan_form.js";
import { showRaters } from "./raters_table.js";
import { showStudy } from "./study_progress.js";
import { clockTime } from "./wording.js";

const EVERY = 5000;

const freshness = /** @type {HTMLElement} */ (document.getElementById("freshness"));
const trouble = /** @type {HTMLElement} */ (document.getElementById("trouble"));
const plots = /** @type {HTMLElement} */ (document.getElementById("growth"));
const actAs = /** @type {HTMLFormElement} */ (document.getElementById("act-as"));
const actError = /** @type {HTMLElement} */ (document.getElementById("act-error"));

let timer = 0;
let looking = false;
let updated = "";
let drawn = "";

/** Asks the server what is new, and again in a while, as long as the page is visible. */
async function look() {
  clearTimeout(timer);
  if (looking || document.hidden) return;
  looking = true;
  try {
    const progress = await get("/api/progress");
    showStudy(progress.study, progress.elsewhere);
    showRaters(progress.raters, { pause, open: openInHand }, Date.now());
    showGrowth((await get("/api/growth")).criteria);
    updated = clockTime(Date.now());
    freshness.textContent = `Up to date at ${updated}`;
    trouble.hidden = true;
  } catch (error) {
    missed(error);
  }
  looking = false;
  timer = setTimeout(look, EVERY);
}

/** @param {Error} error */
function missed(error) {
  if (error instanceof Refused && error.status === 401) {
    location.assign("/login");
    return;
  }
  const since = updated ? ` What you see is from ${updated}.` : "";
  const words = `${error.message}${since} It is asked again every few seconds.`;
  if (trouble.textContent !== words) trouble.textContent = words;
  trouble.hidden = false;
  freshness.textContent = updated ? `Last up to date at ${updated}` : "Not up to date";
}

/** @param {Record<string, {title: string, points: any[]}>} criteria */
function showGrowth(criteria) {
  const mark = JSON.stringify(criteria);
  if (mark === drawn) return;
  drawn = mark;
  const open = new Set([...plots.querySelectorAll("details[open]")].map((one) => one.closest("figure")?.dataset.criterion));
  const figures = growthPlots(criteria);
  for (const figure of figures) {
    const details = figure.querySelector("details");
    if (details && open.has(figure.dataset.criterion)) details.open = true;
  }
  plots.replaceChildren(...figures);
}

/**
 * @param {string} rater
 * @param {boolean} paused
 */
async function pause(rater, paused) {
  try {
    await post("/api/raters/pause", { rater, paused });
    announce(paused ? `${rater} is given nothing new.` : `${rater} goes on.`);
    await look();
  } catch (error) {
    missed(error);
  }
}

actAs.addEventListener("submit", async (event) => {
  event.preventDefault();
  const role = event.submitter instanceof HTMLButtonElement ? event.submitter.value : "rater";
  actError.hidden = true;
  try {
    const { next } = await post("/api/session/as", { name: String(new FormData(actAs).get("name")), role });
    location.assign(next);
  } catch (error) {
    actError.textContent = error.message.replace(/^body\.name: /, "");
    actError.hidden = false;
  }
});

document.getElementById("sign-out")?.addEventListener("click", async () => {
  await request("DELETE", "/api/session").catch(() => null);
  location.assign("/login");
});

document.addEventListener("visibilitychange", look);
window.addEventListener("online", look);
startInHand(look);
look();
for (const started of [startInvites(), startPlan(look), knowMe()]) started.catch(missed);

/** Offers the name under which this browser rated last. */
async function knowMe() {
  const me = await get("/api/me");
  const name = /** @type {HTMLInputElement} */ (document.getElementById("act-name"));
  if (me.rater && !name.value) name.value = me.rater;
}
