/** A rater's tasks, one after the other: the next one is fetched while the current one is rated. */

import { get, post } from "../shared/api.js";

export const PAGE_SIZE = 100;

export class TaskQueue {
  /** @param {Outbox} outbox */
  constructor(outbox) {
    this.outbox = outbox;
    /** @type {Progress | null} */
    this.progress = null;
    /** @type {Promise<NextTask | null> | null} */
    this.prefetched = null;
  }

  /** @param {TaskId | null} current @returns {Promise<NextTask>} */
  async ask(current) {
    const waiting = this.outbox.entries().map((entry) => entry.task);
    const holding = [...new Set(current === null ? waiting : [current, ...waiting])];
    const next = await post("/api/tasks/next", { holding });
    const done = Math.max(next.progress.done, this.progress?.done ?? 0); // the server may not know yet what was finished
    this.progress = { ...next.progress, done };
    return next;
  }

  /** Fetches the task after this one in the background. @param {TaskId} current */
  prefetch(current) {
    this.prefetched = this.ask(current).catch(() => null);
  }

  /**
   * The next task, or why there is none. Throws if the server cannot be reached and nothing was fetched before.
   * @param {TaskId | null} current
   */
  async next(current) {
    const prefetched = await this.prefetched;
    this.prefetched = null;
    if (prefetched?.task && prefetched.task.number !== current) return prefetched;
    const next = await this.ask(current);
    if (next.state === "task") return next;
    await this.outbox.settled();
    return this.ask(null); // whether everything is done depends on what was still being sent
  }

  /** @param {TaskId} number @returns {Promise<Task>} */
  open(number) {
    this.prefetched = null;
    return get(`/api/tasks/${number}`);
  }

  /** @param {number} after @returns {Promise<{tasks: ListedTask[]}>} */
  list(after) {
    return get(`/api/tasks?after=${after}&limit=${PAGE_SIZE}`);
  }

  /** Counts a task as done, although the server may not know it yet. */
  countDone() {
    if (this.progress) this.progress = { ...this.progress, done: this.progress.done + 1 };
  }

  /** @param {TaskId} number @param {string | null} reason @param {string} digest */
  skip(number, reason, digest) {
    return post(`/api/tasks/${number}/skip`, { reason }, { "X-Evenhand-Protocol": digest });
  }

  skipTraining() {
    this.prefetched = null;
    return post("/api/training/skip");
  }
}
