/** Answers on their way to the server. Nothing leaves this box before the server has said that it has it. */

import { Refused, Unreachable, request } from "./api.js";

/**
 * @typedef {object} Entry
 * @property {string} id the rating's id, made here; entries go out in the order of their ids
 * @property {"rating" | "finish"} kind
 * @property {number} task
 * @property {number} position
 * @property {string | null} criterion
 * @property {string | null} after the id of the rating that this one takes the place of
 * @property {any} body
 * @property {string} digest of the protocol it was made under
 * @property {{status: number, error: string, present?: any, missing?: any[]} | null} refused
 */

const LONGEST = 30_000;

export class Outbox extends EventTarget {
  /**
   * Tells of `change` (something came, went or waits), `saved` ({entry, answer}) and `refused` ({entry}), whichever of
   * this person's tabs it happened in.
   * @param {import("./shelf.js").Shelf} shelf
   * @param {(entry: Entry) => Promise<any>} carry brings one entry to the server
   */
  constructor(shelf, carry = sent) {
    super();
    this.shelf = shelf;
    this.carry = carry;
    this.last = 0;
    this.failures = 0;
    /** @type {"resting" | "sending" | "offline" | "retrying" | "ended"} */
    this.state = "resting";
    this.timer = 0;
    this.channel = new BroadcastChannel(shelf.prefix);
    this.channel.onmessage = ({ data }) => this.tell(data.type, data.detail, false);
    addEventListener("online", () => this.send());
    addEventListener("offline", () => this.tell("change"));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.send());
  }

  /** @returns {Entry[]} everything that waits, oldest first */
  entries() {
    const keys = this.shelf.keys().filter((key) => key.startsWith("outbox/"));
    return keys.map((key) => this.shelf.get(key)).filter((entry) => entry !== null);
  }

  /** @returns {Entry[]} what waits for one criterion, oldest first */
  chain(task, position, criterion) {
    return this.entries().filter((e) => e.task === task && e.position === position && e.criterion === criterion);
  }

  /**
   * Puts something in and sends it.
   * @param {Omit<Entry, "id" | "refused">} content
   * @returns {Entry}
   */
  add(content) {
    const id = this.newId();
    const body = content.kind === "rating" ? { id, ...content.body } : content.body;
    const entry = { ...content, id, body, refused: null };
    this.shelf.set(`outbox/${id}`, entry);
    this.tell("change");
    this.send();
    return entry;
  }

  /** @param {Entry[]} entries that are not to be sent after all */
  drop(entries) {
    for (const entry of entries) this.shelf.remove(`outbox/${entry.id}`);
    this.tell("change");
  }

  /** @param {Entry} entry that was refused and may go once more */
  again(entry) {
    this.shelf.set(`outbox/${entry.id}`, { ...entry, refused: null });
    this.send();
  }

  /**
   * What the server answers to an entry; null where it refuses.
   * @param {string} id
   * @returns {Promise<any>}
   */
  outcome(id) {
    return new Promise((resolve) => {
      const hear = (event) => {
        if (event.detail.entry.id !== id) return;
        for (const type of ["saved", "refused"]) this.removeEventListener(type, hear);
        resolve(event.detail.answer ?? null);
      };
      for (const type of ["saved", "refused"]) this.addEventListener(type, hear);
    });
  }

  /**
   * Sends what waits. Only one of a person's tabs does at a time; where the browser has no locks, the ids see to it
   * that what arrives twice is stored once.
   */
  async send() {
    if (this.state === "sending") return;
    clearTimeout(this.timer);
    this.move("sending");
    let outcome = "resting";
    const work = async () => {
      for (let entry = this.next(); entry && outcome === "resting"; entry = this.next()) {
        outcome = await this.deliver(entry);
      }
    };
    await (navigator.locks ? navigator.locks.request(this.shelf.prefix, work) : work());
    this.move(outcome);
    if (outcome === "resting" && this.next()) await this.send(); // it came in while the box was being closed
  }

  /** Waits until everything was tried that can go now. */
  async settled() {
    while (this.state === "sending") await new Promise((go) => this.addEventListener("change", go, { once: true }));
  }

  /** The first entry that may go: not one that was refused, nor one that builds on it. */
  next() {
    const refused = this.entries().filter((entry) => entry.refused);
    const buildsOn = (entry, other) =>
      other.task === entry.task &&
      other.position === entry.position &&
      (entry.kind === "finish" || other.criterion === entry.criterion);
    return this.entries().find((entry) => !refused.some((other) => buildsOn(entry, other)));
  }

  /** @param {Entry} entry */
  async deliver(entry) {
    try {
      const answer = await this.carry(entry);
      this.failures = 0;
      this.shelf.remove(`outbox/${entry.id}`);
      this.tell("saved", { entry, answer }, true);
      return "resting";
    } catch (fault) {
      if (fault instanceof Unreachable || (fault instanceof Refused && fault.passing)) return this.wait(fault);
      if (!(fault instanceof Refused)) throw fault;
      if (fault.status === 401) return "ended";
      const { present, missing } = fault.body ?? {};
      const refused = { ...entry, refused: { status: fault.status, error: fault.message, present, missing } };
      this.shelf.set(`outbox/${entry.id}`, refused);
      this.tell("refused", { entry: refused }, true);
      return "resting";
    }
  }

  /** @param {Refused | Unreachable} fault */
  wait(fault) {
    const named = fault instanceof Refused ? fault.wait : null;
    const pause = named ? named * 1000 : Math.min(LONGEST, 1000 * 2 ** this.failures);
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), pause * (1 + Math.random() / 4));
    return fault instanceof Unreachable ? "offline" : "retrying";
  }

  /** @param {string} state */
  move(state) {
    this.state = /** @type {any} */ (state);
    this.tell("change");
  }

  /**
   * @param {string} type
   * @param {any} [detail]
   * @param {boolean} [abroad] whether the other tabs are to know
   */
  tell(type, detail = null, abroad = false) {
    if (abroad) this.channel.postMessage({ type, detail });
    this.dispatchEvent(new CustomEvent(type, { detail }));
    if (type !== "change") this.dispatchEvent(new CustomEvent("change"));
  }

  /** An id that nobody else makes and that sorts after those made here before. */
  newId() {
    const newest = Number.parseInt(this.entries().at(-1)?.id.slice(0, 12) ?? "0", 16);
    this.last = Math.max(Date.now(), this.last + 1, newest + 1); // clocks are sometimes put back
    const random = crypto.getRandomValues(new Uint8Array(10));
    const digits = [...random].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return this.last.toString(16).padStart(12, "0") + digits;
  }
}

/** @param {Entry} entry */
function sent(entry) {
  const unit = `/api/tasks/${entry.task}/units/${entry.position}`;
  const headers = { "X-Evenhand-Protocol": entry.digest };
  if (entry.kind === "finish") return request("POST", `${unit}/finish`, entry.body, headers);
  const condition = entry.after === null ? { "If-None-Match": "*" } : { "If-Match": `"${entry.after}"` };
  return request("PUT", `${unit}/ratings/${entry.criterion}`, entry.body, { ...headers, ...condition });
}
