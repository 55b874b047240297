/** A rater's tasks, one after the other: the next one is fetched while the current one is rated. */

import { get, post } from "../shared/api.js";

const PAGE_SIZE = 1000; // the most that the server lists at once

export class TaskQueue {
  /** @param {Outbox} outbox */
  constructor(outbox) {
    this.outbox = outbox;
    /** @type {Progress | null} */
    this.progress = null;
    this.changes = 0; // of the number done, made here
    /** @type {Promise<NextTask | null> | null} */
    this.prefetched = null;
  }

  /** @param {TaskId | null} current @returns {Promise<NextTask>} */
  async ask(current) {
    const waiting = this.outbox.entries().map((entry) => entry.task);
    const holding = [...new Set(current === null ? waiting : [current, ...waiting])];
    const { changes } = this;
    const next = await post("/api/tasks/next", { holding });
    // Unless everything had arrived, the server did not know yet what was finished or reopened here.
    const isKnown = waiting.length === 0 && changes === this.changes;
    this.progress = { ...next.progress, ...(this.progress && !isKnown && { done: this.progress.done }) };
    return next;
  }

  /** Fetches the task after this one in the background. @param {TaskId} current */
  prefetch(current) {
    this.prefetched = this.ask(current).catch(() => null);
    return this.prefetched;
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
  async open(number) {
    this.prefetched = null;
    await this.outbox.settled(); // or the task would come without an answer that arrives meanwhile
    return get(`/api/tasks/${number}`);
  }

  /** All tasks, without their content. @param {number} [after] @returns {Promise<ListedTask[]>} */
  async list(after = 0) {
    /** @type {{tasks: ListedTask[]}} */
    const { tasks } = await get(`/api/tasks?after=${after}&limit=${PAGE_SIZE}`);
    return tasks.length < PAGE_SIZE ? tasks : tasks.concat(await this.list(tasks[PAGE_SIZE - 1].number));
  }

  /** Counts a task as done, or as reopened, although the server may not know it yet. @param {1 | -1} by */
  countDone(by) {
    this.changes += 1;
    if (this.progress) this.progress = { ...this.progress, done: this.progress.done + by };
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
