/** Invites: making a link, which is shown once, and the list of those that were made. */

import { announce } from "../shared/announce.js";
import { Refused, get, post, request, requestError } from "../shared/api.js";
import { clearErrors, showErrors } from "../shared/form_errors.js";
import { count, counted, formatDate } from "../shared/formatting.js";
import { table } from "../shared/table.js";
import { button, byId, h, render, textElement } from "../shared/view.js";

const PROLIFIC = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}";
const BADGES = { open: "good", full: "accent", expired: "", revoked: "" };

const form = /** @type {HTMLFormElement} */ (byId("invite"));
const errorText = byId("invite-error");
const link = /** @type {HTMLInputElement} */ (byId("link-text"));
const copyState = byId("link-state");

/** Prepares the form and lists the invites. */
export function startInvites() {
  form.addEventListener("change", showFields);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    makeInvite();
  });
  byId("link-copy").addEventListener("click", copyLink);
  showFields();
  return showInvites();
}

async function showInvites() {
  /** @type {{invites: Invite[]}} */
  const { invites } = await get("/api/invites");
  /** @type {Column<Invite>[]} */
  const columns = [
    { title: "For", cell: ({ name }) => (name === null ? "a group" : textElement("bdi", name, { class: "who" })) },
    { title: "Role", cell: ({ role }) => role },
    { title: "Items", cell: ({ share }) => (share === null ? "as in the plan" : count(share)) },
    { title: "Joined", cell: joinedCell },
    { title: "Expires", cell: ({ expires }) => (expires === null ? "never" : formatDate(expires)) },
    { title: "State", cell: ({ state }) => h("span", { class: `badge ${BADGES[state]}` }, state) },
    { title: "Actions", hideTitle: true, cell: revokeCell },
  ];
  const rows = invites.reverse();
  render(byId("invites"), [rows.length > 0 && table(columns, rows, { class: "folding", row: ({ id }) => ({ key: id }) })]);
}

/** @param {Invite} invite */
function joinedCell({ name, joined, seats }) {
  if (name === null) return `${count(joined)} of ${count(seats)}`;
  return joined ? "yes" : "not yet";
}

/** @param {Invite} invite */
function revokeCell(invite) {
  if (invite.state !== "open" && invite.state !== "full") return null;
  const label = `Revoke the invite for ${invite.name ?? "a group"}`;
  return button("Revoke", () => revoke(invite), { class: "quiet", "aria-label": label });
}

const isForGroup = () => new FormData(form).get("whom") === "group";

/** Shows the fields for one person or for a group. */
function showFields() {
  const fields = { name: false, role: false, seats: true };
  for (const [name, forGroup] of Object.entries(fields)) {
    const field = /** @type {HTMLElement} */ (form.querySelector(`[data-field="${name}"]`));
    field.hidden = isForGroup() !== forGroup;
  }
}

async function makeInvite() {
  const data = new FormData(form);
  const isGroup = isForGroup();
  clearErrors(form);
  errorText.textContent = "";
  if (!isGroup && !String(data.get("name")).trim()) return void showErrors(form, ["body.name: Enter the person's name."]);
  const days = number(data, "days");
  const body = {
    ...(isGroup ? { seats: number(data, "seats") } : { name: String(data.get("name")), role: String(data.get("role")) }),
    share: number(data, "share"),
    ...(days === null ? {} : { days }),
  };
  try {
    showLink(await post("/api/invites", body), isGroup);
    form.reset();
    showFields();
    await showInvites();
  } catch (error) {
    const { message } = requestError(error);
    const problems = error instanceof Refused ? error.problems : [];
    errorText.textContent = problems.length > 0 ? showErrors(form, problems).join("; ") : message;
  }
}

/** @param {FormData} data @param {string} name */
function number(data, name) {
  const text = String(data.get(name) ?? "").trim();
  return text === "" ? null : Number(text);
}

/** @param {{invite: Invite, link: string}} made @param {boolean} isGroup */
function showLink({ invite, link: address }, isGroup) {
  const once = "Copy it now: it is not shown again.";
  const group = [
    `The link for up to ${counted(invite.seats, "person", "people")}, ready for Prolific. ${once} `,
    "Without the part after the question mark, people are asked for their id.",
  ];
  const one = ["The link for ", textElement("bdi", invite.name ?? "", { class: "who" }), `. ${once}`];
  render(byId("link-words"), isGroup ? group : one);
  link.value = address + (isGroup ? PROLIFIC : "");
  copyState.textContent = "";
  byId("link").hidden = false;
  link.focus();
  link.select();
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(link.value);
    copyState.textContent = "Copied.";
  } catch {
    // Without https, scripts have no access to the clipboard.
    link.focus();
    link.select();
    copyState.textContent = "Press Ctrl+C (or ⌘C) to copy it.";
  }
}

/** @param {Invite} invite */
async function revoke({ id, name }) {
  const consequence = "Raters who joined with it are signed out; their ratings stay.";
  if (!window.confirm(`Revoke the invite for ${name ?? "the group"}? ${consequence}`)) return;
  try {
    await request("DELETE", `/api/invites/${encodeURIComponent(id)}`);
    announce("The invite is revoked.");
  } catch (error) {
    errorText.textContent = requestError(error).message;
  }
  await showInvites();
}
