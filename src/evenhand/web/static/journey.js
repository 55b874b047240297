/** From task to task: the next one is fetched while the present one is rated. */

import { get, post } from "./api.js";

export class Journey {
  /** @param {import("./outbox.js").Outbox} outbox */
  constructor(outbox) {
    this.outbox = outbox;
    /** @type {{done: number, of: number | null} | null} */
    this.progress = null;
    /** @type {Promise<any> | null} */
    this.ahead = null;
  }

  /** Numbers of tasks that are in hand, or finished here and not yet there. */
  holding(number) {
    const waiting = this.outbox.entries().map((entry) => entry.task);
    return [...new Set(number === null ? waiting : [number, ...waiting])];
  }

  /** @param {number | null} number of the task in hand */
  async ask(number) {
    const answer = await post("/api/tasks/next", { holding: this.holding(number) });
    const done = Math.max(answer.progress.done, this.progress?.done ?? 0); // what was finished here may not be there yet
    this.progress = { ...answer.progress, done };
    return answer;
  }

  /**
   * Fetches what comes after a task, without anybody waiting for it.
   * @param {number} number
   */
  lookAhead(number) {
    this.ahead = this.ask(number).catch(() => null);
  }

  /**
   * The next task, or why there is none; throws where the server cannot be reached and nothing was fetched before.
   * @param {number | null} number of the task that was in hand
   */
  async next(number) {
    const ahead = await this.ahead;
    this.ahead = null;
    if (ahead?.state === "task" && ahead.task.number !== number) return ahead;
    const answer = await this.ask(number);
    if (answer.state === "task") return answer;
    await this.outbox.settled();
    return this.ask(null); // whether everything is done hangs on what was still on its way
  }

  /** @param {number} number */
  open(number) {
    this.ahead = null;
    return get(`/api/tasks/${number}`);
  }

  /** @param {number} after */
  list(after = 0) {
    return get(`/api/tasks?after=${after}&limit=100`);
  }

  /** One more is done, though the server may not know it yet. */
  count() {
    if (this.progress) this.progress = { ...this.progress, done: this.progress.done + 1 };
  }

  /** @param {number} number @param {string | null} reason @param {string} digest */
  skip(number, reason, digest) {
    return post(`/api/tasks/${number}/skip`, { reason }, { "X-Evenhand-Protocol": digest });
  }

  skipTraining() {
    this.ahead = null;
    return post("/api/training/skip");
  }
}
