/** Invites: making a link, which is seen once, and the list of those that were made. */

import { announce } from "./announce.js";
import { get, post, request } from "./api.js";
import { button, element, textElement } from "./element.js";
import { clearErrors, showErrors } from "./field_errors.js";
import { count, counted, dayOf } from "./wording.js";

const PROLIFIC = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}";

const form = /** @type {HTMLFormElement} */ (document.getElementById("invite"));
const table = /** @type {HTMLTableElement} */ (document.getElementById("invites"));
const failed = /** @type {HTMLElement} */ (document.getElementById("invite-error"));
const made = /** @type {HTMLElement} */ (document.getElementById("link"));
const words = /** @type {HTMLElement} */ (document.getElementById("link-words"));
const link = /** @type {HTMLInputElement} */ (document.getElementById("link-text"));
const copied = /** @type {HTMLElement} */ (document.getElementById("link-state"));

/** Wires the form up and shows what is there. */
export function startInvites() {
  form.addEventListener("change", chooseWhom);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    make();
  });
  document.getElementById("link-copy")?.addEventListener("click", copy);
  chooseWhom();
  return showInvites();
}

/** Lists every invite. */
export async function showInvites() {
  const { invites } = await get("/api/invites");
  table.hidden = invites.length === 0;
  table.tBodies[0].replaceChildren(...invites.reverse().map(row));
}

const isGroup = () => new FormData(form).get("whom") === "group";

function chooseWhom() {
  const group = isGroup();
  for (const [name, forGroup] of [["name", false], ["role", false], ["seats", true]]) {
    const field = /** @type {HTMLElement} */ (form.querySelector(`[data-field="${name}"]`));
    field.hidden = group !== forGroup;
  }
}

async function make() {
  const data = new FormData(form);
  const group = isGroup();
  clearErrors(form);
  failed.hidden = true;
  if (!group && !String(data.get("name")).trim()) {
    showErrors(form, ["body.name: Give the name of the person."]);
    return;
  }
  const body = {
    ...(group ? { seats: number(data, "seats") } : { name: String(data.get("name")), role: String(data.get("role")) }),
    share: number(data, "share"),
    ...(number(data, "days") === null ? {} : { days: number(data, "days") }),
  };
  try {
    const answer = await post("/api/invites", body);
    showLink(answer, group);
    form.reset();
    chooseWhom();
    await showInvites();
  } catch (error) {
    const left = showErrors(form, error.body?.problems ?? []);
    failed.textContent = error.body?.problems?.length ? left.join("; ") : error.message;
    failed.hidden = failed.textContent === "";
  }
}

/**
 * @param {FormData} data
 * @param {string} name
 */
function number(data, name) {
  const text = String(data.get(name) ?? "").trim();
  return text === "" ? null : Number(text);
}

/**
 * @param {{invite: any, link: string}} answer
 * @param {boolean} group
 */
function showLink(answer, group) {
  const once = "Copy it now: it is not shown again.";
  words.replaceChildren(
    ...(group
      ? [`The link for up to ${counted(answer.invite.seats, "person").replace("persons", "people")}, ready for Prolific. ${once} `,
         "Without what stands behind the question mark, people are asked for their id."]
      : ["The link for ", textElement("bdi", answer.invite.name, { class: "who" }), `. ${once}`]),
  );
  link.value = answer.link + (group ? PROLIFIC : "");
  copied.textContent = "";
  made.hidden = false;
  link.focus();
  link.select();
}

async function copy() {
  try {
    await navigator.clipboard.writeText(link.value);
    copied.textContent = "Copied.";
  } catch {
    // Without https a browser gives no clipboard to scripts.
    link.focus();
    link.select();
    copied.textContent = "Press Ctrl+C (or ⌘C) to copy it.";
  }
}

/** @param {any} invite */
function row(invite) {
  const cell = (/** @type {string} */ label, /** @type {any[]} */ ...inside) =>
    element("td", { role: "cell", "data-label": label }, ...inside);
  const name = invite.name === null ? "a group" : textElement("bdi", invite.name, { class: "who" });
  const joined = invite.name === null ? `${count(invite.joined)} of ${count(invite.seats)}` : invite.joined ? "yes" : "not yet";
  const ending = button("Withdraw", () => withdraw(invite), { class: "quiet", "aria-label": `Withdraw the invite for ${invite.name ?? "a group"}` });
  const kind = { open: "good", full: "accent" }[invite.state] ?? "";
  return element(
    "tr",
    { role: "row" },
    element("th", { scope: "row", role: "rowheader", "data-label": "For" }, name),
    cell("Role", invite.role),
    cell("Items", invite.share === null ? "as planned" : count(invite.share)),
    cell("Joined", joined),
    cell("Expires", invite.expires === null ? "never" : dayOf(invite.expires)),
    cell("State", element("span", { class: `badge ${kind}` }, invite.state === "revoked" ? "withdrawn" : invite.state)),
    cell("Actions", invite.state === "open" || invite.state === "full" ? ending : ""),
  );
}

/** @param {any} invite */
async function withdraw(invite) {
  const whom = invite.name ?? "the group";
  if (!window.confirm(`Withdraw the invite for ${whom}? Whoever came with it is signed out; their ratings stay.`)) return;
  try {
    await request("DELETE", `/api/invites/${encodeURIComponent(invite.id)}`);
    announce("The invite is withdrawn.");
  } catch (error) {
    failed.textContent = error.message;
    failed.hidden = false;
  }
  await showInvites();
}
