/** The answers of the open task: what the server has, what is being sent, and what was only begun. */

import { answerFrom, askedCriteria, concerns, formatAnswer, isSameAnswer, missingParts } from "./answers.js";

export class TaskState extends EventTarget {
  /**
   * Dispatches `change` whenever an answer, or its way to the server, has changed, and `reopened` if a task that was
   * done lacks an answer again.
   * @param {Form} form @param {Outbox} outbox
   * @param {BrowserStorage} storage for what is written before there is an answer
   * @param {ActiveTime} activeTime
   */
  constructor(form, outbox, storage, activeTime) {
    super();
    this.form = form;
    this.outbox = outbox;
    this.storage = storage;
    this.activeTime = activeTime;
    /** @type {Task | null} */
    this.current = null;
    /** @type {Change[]} */
    this.history = [];
    outbox.addEventListener("saved", (event) => this.noteSaved(/** @type {CustomEvent} */ (event).detail));
    outbox.addEventListener("change", () => this.dispatchEvent(new Event("change")));
  }

  /** The open task. @returns {Task} */
  get task() {
    if (!this.current) throw new Error("no task is open");
    return this.current;
  }

  /** @param {Task | null} task */
  open(task) {
    this.current = task;
    this.activeTime.take();
  }

  /** @param {number} position @returns {Unit} */
  unit(position) {
    const found = this.task.units.find((unit) => unit.position === position);
    if (!found) throw new Error(`the task has no unit ${position}`);
    return found;
  }

  /** The answer as it is here, sent or not. @param {number} position @param {string} criterion */
  answer(position, criterion) {
    const waiting = this.waiting(position, criterion).at(-1);
    const rating = waiting ? waiting.body : this.unit(position).ratings[criterion];
    return answerFrom(rating, this.storage.get(this.draftKey(position, criterion)));
  }

  /** What is being sent for a criterion. @param {number} position @param {string} criterion */
  waiting(position, criterion) {
    return this.outbox.entriesFor(this.task.number, position, criterion);
  }

  /** @param {number} position */
  asked(position) {
    return askedCriteria(this.form, this.unit(position).field, (criterion) => this.answer(position, criterion));
  }

  /** @param {number} position */
  missing(position) {
    return missingParts(this.form, this.unit(position).field, (criterion) => this.answer(position, criterion));
  }

  /** The answers on a unit in one line. @param {number} position */
  summary(position) {
    const { field } = this.unit(position);
    const concerned = this.form.criteria.filter((criterion) => concerns(criterion, field));
    const answers = concerned.map((criterion) => ({ criterion, answer: this.answer(position, criterion.id) }));
    const given = answers.filter(({ answer }) => answer.status !== null);
    return given.map(({ criterion, answer }) => formatAnswer(criterion, answer)).join(", ");
  }

  /** @param {number} position */
  isFinished(position) {
    return this.unit(position).finished && this.missing(position).length === 0;
  }

  /** How far an answer is on its way. @param {number} position @param {string} criterion @returns {SaveState} */
  saveState(position, criterion) {
    const waiting = this.waiting(position, criterion);
    const refused = waiting.find((entry) => entry.refused);
    if (refused) return { state: "refused", entry: refused };
    if (waiting.length > 0) return { state: "waiting" };
    const rating = this.unit(position).ratings[criterion];
    return answerFrom(rating, null).status === null ? { state: "none" } : { state: "saved", at: rating.at };
  }

  /**
   * Changes an answer and sends it; without a status it is kept here until it has one.
   * @param {number} position @param {string} criterion @param {Partial<Answer>} changes
   * @param {string | null} typing names the text field: a text is undone as a whole, not letter by letter
   */
  change(position, criterion, changes, typing = null) {
    if (this.task.locked) return;
    const before = this.answer(position, criterion);
    const after = { ...before, ...changes };
    if (isSameAnswer(before, after)) return;
    const last = this.history.at(-1);
    const { number: task } = this.task;
    const isHere = last?.task === task && last.position === position && last.criterion === criterion;
    if (typing === null || !isHere || last.typing !== typing) {
      this.history.push({ task, position, criterion, before, typing });
    }
    this.put(position, criterion, after, before);
  }

  /** Undoes a change, which must have been made in the open task. @param {Change} change */
  undo({ position, criterion, before }) {
    this.put(position, criterion, before, this.answer(position, criterion));
  }

  /** @param {number} position @param {string} criterion @param {Answer} after @param {Answer} before */
  put(position, criterion, after, before) {
    if (after.status === null) {
      const { rationale, confidence, notes, evidence } = after;
      this.storage.set(this.draftKey(position, criterion), { rationale, confidence, notes, evidence });
      if (before.status !== null) {
        this.send(position, criterion, { status: "skipped", value: null, taken_back: true });
        this.unit(position).finished = false;
      }
    } else {
      this.storage.remove(this.draftKey(position, criterion));
      this.send(position, criterion, { ...after, taken_back: false });
    }
    if (this.task.state === "done" && !this.isFinished(position)) {
      this.task.state = "open"; // as on the server
      this.dispatchEvent(new Event("reopened"));
    }
    this.dispatchEvent(new Event("change"));
  }

  /**
   * @param {number} position @param {string} criterion @param {any} content
   * @param {string | null} [after] the rating to replace, if it is not the last one known here
   */
  send(position, criterion, content, after) {
    const waiting = this.waiting(position, criterion).at(-1);
    const known = waiting?.id ?? this.unit(position).ratings[criterion]?.id ?? null;
    const body = { ...content, seconds: this.activeTime.take() };
    const replaced = after === undefined ? known : after;
    this.outbox.add({ kind: "rating", task: this.task.number, position, criterion, after: replaced, body });
  }

  /** Finishes a unit. Returns the entry that is sent, or null if something is missing. @param {number} position */
  finish(position) {
    if (this.missing(position).length > 0) return null;
    this.unit(position).finished = true;
    return this.outbox.add({ kind: "finish", task: this.task.number, position, criterion: null, after: null, body: {} });
  }

  /**
   * Resolves a conflict: the answer given here replaces the one on the server, or is discarded in its favour.
   * @param {Entry} refused @param {boolean} keepMine
   */
  resolve({ task, position, criterion, refused }, keepMine) {
    if (criterion === null) return;
    const chain = this.outbox.entriesFor(task, position, criterion);
    const { id: _, ...content } = chain.at(-1)?.body ?? {};
    const present = refused?.present ?? null;
    this.outbox.discard(chain);
    if (present) this.unit(position).ratings[criterion] = present;
    else delete this.unit(position).ratings[criterion];
    if (keepMine) this.send(position, criterion, content, present?.id ?? null);
    else this.outbox.send();
  }

  /** @param {{entry: Entry, response: any}} saved */
  noteSaved({ entry, response }) {
    const unit = this.current?.number === entry.task && this.task.units.find((one) => one.position === entry.position);
    if (!unit) return;
    if (entry.criterion !== null) unit.ratings[entry.criterion] = response.rating;
    else Object.assign(unit, response.unit);
    Object.assign(this.task, entry.kind === "finish" ? response.task : { state: response.task ?? this.task.state });
    this.dispatchEvent(new Event("change"));
  }

  /** @param {number} position @param {string} criterion */
  draftKey(position, criterion) {
    return `draft/${this.task.number}/${position}/${criterion}`;
  }
}
