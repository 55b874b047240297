/** Answers on their way to the server. Nothing leaves the outbox before the server has confirmed it. */

import { Refused, Unreachable, request } from "../shared/api.js";

const LONGEST_PAUSE_MS = 30_000;

export class Outbox extends EventTarget {
  /**
   * Dispatches `change` (something was added, sent or delayed), `saved` ({entry, response}) and `refused` ({entry}),
   * no matter in which of this person's tabs it happened.
   * @param {BrowserStorage} storage
   * @param {string} digest of the form: answers to another version of it stay here, but are not sent
   * @param {(entry: Entry) => Promise<any>} put sends one entry to the server
   */
  constructor(storage, digest, put = putRating) {
    super();
    this.storage = storage;
    this.digest = digest;
    this.put = put;
    this.lastTime = 0;
    this.failures = 0;
    /** @type {OutboxState} */
    this.state = "idle";
    this.timer = 0;
    this.channel = new BroadcastChannel(storage.prefix);
    this.channel.onmessage = ({ data }) => this.notify(data.type, data.detail);
    addEventListener("online", () => this.send());
    addEventListener("offline", () => this.notify("change"));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.send());
  }

  /** @returns {Entry[]} everything that is here, oldest first */
  stored() {
    const keys = this.storage.keys().filter((key) => key.startsWith("outbox/"));
    return keys.map((key) => this.storage.get(key)).filter((entry) => entry !== null);
  }

  /** What waits to be sent, oldest first. */
  entries() {
    return this.stored().filter((entry) => entry.digest === this.digest);
  }

  /** What waits for a criterion. @param {TaskId} task @param {number} position @param {string | null} criterion */
  entriesFor(task, position, criterion) {
    return this.entries().filter((one) => one.task === task && one.position === position && one.criterion === criterion);
  }

  /** Adds an entry and sends it. @param {Omit<Entry, "id" | "digest" | "refused">} content @returns {Entry} */
  add(content) {
    const id = this.newId();
    const body = content.kind === "rating" ? { id, ...content.body } : content.body;
    const entry = { ...content, id, body, digest: this.digest, refused: null };
    this.storage.set(`outbox/${id}`, entry);
    this.notify("change");
    this.send();
    return entry;
  }

  /** @param {Entry[]} entries that are not to be sent after all */
  discard(entries) {
    for (const entry of entries) this.storage.remove(`outbox/${entry.id}`);
    this.notify("change");
  }

  /** @param {Entry} entry that was refused and is to be sent once more */
  retry(entry) {
    this.storage.set(`outbox/${entry.id}`, { ...entry, refused: null });
    this.send();
  }

  /** The server's response to an entry; null if it refuses. @param {string} id @returns {Promise<any>} */
  response(id) {
    return new Promise((resolve) => {
      const listen = (/** @type {Event} */ event) => {
        const { entry, response } = /** @type {CustomEvent} */ (event).detail;
        if (entry.id !== id) return;
        for (const type of ["saved", "refused"]) this.removeEventListener(type, listen);
        resolve(response ?? null);
      };
      for (const type of ["saved", "refused"]) this.addEventListener(type, listen);
    });
  }

  /**
   * Sends what waits. Only one of a person's tabs sends at a time. If the browser has no locks, the ids make sure that
   * what arrives twice is stored once.
   */
  async send() {
    if (this.state === "sending") return;
    clearTimeout(this.timer);
    this.setState("sending");
    /** @type {OutboxState} */
    let outcome = "idle";
    const sendAll = async () => {
      for (let entry = this.next(); entry && outcome === "idle"; entry = this.next()) outcome = await this.deliver(entry);
    };
    await (navigator.locks ? navigator.locks.request(this.storage.prefix, sendAll) : sendAll());
    this.setState(outcome);
    if (outcome === "idle" && this.next()) await this.send(); // it was added after the last look
  }

  /** Waits until everything that can be sent now was tried. */
  async settled() {
    while (this.state === "sending") await new Promise((go) => this.addEventListener("change", go, { once: true }));
  }

  /** The first entry that may be sent: not one that was refused, nor one that builds on it. */
  next() {
    const entries = this.entries();
    const refused = entries.filter((entry) => entry.refused);
    const buildsOn = (/** @type {Entry} */ entry, /** @type {Entry} */ other) =>
      other.task === entry.task &&
      other.position === entry.position &&
      (entry.kind === "finish" || other.criterion === entry.criterion);
    return entries.find((entry) => !refused.some((other) => buildsOn(entry, other)));
  }

  /** @param {Entry} entry @returns {Promise<OutboxState>} */
  async deliver(entry) {
    try {
      const response = await this.put(entry);
      this.failures = 0;
      this.storage.remove(`outbox/${entry.id}`);
      this.broadcast("saved", { entry, response });
      return "idle";
    } catch (error) {
      if (error instanceof Unreachable || (error instanceof Refused && error.isTemporary)) return this.retryLater(error);
      if (!(error instanceof Refused)) throw error;
      if (error.status === 401) return "signed out";
      const refused = { status: error.status, error: error.message, present: error.body?.present };
      this.storage.set(`outbox/${entry.id}`, { ...entry, refused });
      this.broadcast("refused", { entry: { ...entry, refused } });
      return "idle";
    }
  }

  /** @param {Refused | Unreachable} error @returns {OutboxState} */
  retryLater(error) {
    const named = error instanceof Refused ? error.retryAfter : null;
    const pause = named ? named * 1000 : Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** this.failures);
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), pause * (1 + Math.random() / 4));
    return error instanceof Unreachable ? "offline" : "retrying";
  }

  /** @param {OutboxState} state */
  setState(state) {
    this.state = state;
    this.notify("change");
  }

  /** @param {"change" | "saved" | "refused"} type @param {any} [detail] */
  notify(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
    if (type !== "change") this.dispatchEvent(new CustomEvent("change"));
  }

  /** Notifies this tab and the others. @param {"saved" | "refused"} type @param {any} detail */
  broadcast(type, detail) {
    this.channel.postMessage({ type, detail });
    this.notify(type, detail);
  }

  /** A unique id that sorts after all ids made here before. */
  newId() {
    const newest = Number.parseInt(this.stored().at(-1)?.id.slice(0, 12) ?? "0", 16);
    this.lastTime = Math.max(Date.now(), this.lastTime + 1, newest + 1); // clocks are sometimes set back
    const random = crypto.getRandomValues(new Uint8Array(10));
    const digits = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return this.lastTime.toString(16).padStart(12, "0") + digits;
  }
}

/** @param {Entry} entry */
function putRating(entry) {
  const unit = `/api/tasks/${entry.task}/units/${entry.position}`;
  const headers = { "X-Evenhand-Protocol": entry.digest };
  if (entry.kind === "finish") return request("POST", `${unit}/finish`, entry.body, headers);
  return request("PUT", `${unit}/ratings/${entry.criterion}`, entry.body, { ...headers, ...precondition(entry) });
}

/** Sends a ruling; the task of its entry is the id of the unit. @param {Entry} entry */
export function putRuling(entry) {
  const body = { ...entry.body, unit: entry.task, criterion: entry.criterion };
  return request("PUT", "/api/rulings", body, { "X-Evenhand-Protocol": entry.digest, ...precondition(entry) });
}

/** @param {Entry} entry @returns {Record<string, string>} */
function precondition({ after }) {
  return after === null ? { "If-None-Match": "*" } : { "If-Match": `"${after}"` };
}
