/** The task in hand: what the server has, what is on its way there, and what was only begun. */

import { answerOf, askedOf, lacksOf, sameAnswer } from "./answers.js";

/** @typedef {import("./answers.js").Answer} Answer */

export class Work extends EventTarget {
  /**
   * Tells of `change` whenever an answer, or what became of it, is another than before.
   * @param {any} form
   * @param {import("./outbox.js").Outbox} outbox
   * @param {import("./shelf.js").Shelf} shelf for what was written before there was an answer to go with it
   * @param {import("./clock.js").Clock} clock
   */
  constructor(form, outbox, shelf, clock) {
    super();
    this.form = form;
    this.outbox = outbox;
    this.shelf = shelf;
    this.clock = clock;
    /** @type {any} */
    this.task = null;
    /** @type {{task: number, position: number, criterion: string, before: Answer, typing: string | null}[]} */
    this.history = [];
    outbox.addEventListener("saved", (event) => this.heard(/** @type {CustomEvent} */ (event).detail));
    outbox.addEventListener("change", () => this.dispatchEvent(new Event("change")));
  }

  /** @param {any} task */
  take(task) {
    this.task = task;
    this.clock.take();
  }

  /** @param {number} position */
  unit(position) {
    return this.task.units.find((unit) => unit.position === position);
  }

  /**
   * The answer as it stands here, sent or not.
   * @param {number} position
   * @param {string} criterion
   * @returns {Answer}
   */
  answer(position, criterion) {
    const waiting = this.waiting(position, criterion).at(-1);
    const rating = waiting ? waiting.body : this.unit(position).ratings[criterion];
    return answerOf(rating, this.shelf.get(this.draftKey(position, criterion)));
  }

  /**
   * What is on its way for a criterion; not what a tab that still has the questions of before may have sent.
   * @param {number} position
   * @param {string} criterion
   */
  waiting(position, criterion) {
    const { digest } = this.form.study;
    return this.outbox.chain(this.task.number, position, criterion).filter((entry) => entry.digest === digest);
  }

  /** @param {number} position */
  asked(position) {
    return askedOf(this.form, (criterion) => this.answer(position, criterion));
  }

  /** @param {number} position */
  lacks(position) {
    return lacksOf(this.form, (criterion) => this.answer(position, criterion));
  }

  /** @param {number} position */
  isFinished(position) {
    return this.unit(position).finished && this.lacks(position).length === 0;
  }

  /**
   * What became of an answer: on its way, refused, with the server, or not given.
   * @param {number} position
   * @param {string} criterion
   * @returns {{state: "none" | "waiting" | "refused" | "saved", entry?: import("./outbox.js").Entry, at?: string}}
   */
  standing(position, criterion) {
    const chain = this.waiting(position, criterion);
    const refused = chain.find((entry) => entry.refused);
    if (refused) return { state: "refused", entry: refused };
    if (chain.length > 0) return { state: "waiting", entry: chain.at(-1) };
    const rating = this.unit(position).ratings[criterion];
    return answerOf(rating, null).status === null ? { state: "none" } : { state: "saved", at: rating.at };
  }

  /**
   * Changes an answer and sends it; what has no status yet is kept here until it has.
   * @param {number} position
   * @param {string} criterion
   * @param {Partial<Answer>} changes
   * @param {string | null} typing names the text field: a text is taken back at once, not letter by letter
   */
  change(position, criterion, changes, typing = null) {
    if (this.task.locked) return;
    const before = this.answer(position, criterion);
    const after = { ...before, ...changes };
    if (sameAnswer(before, after)) return;
    const last = this.history.at(-1);
    const { number: task } = this.task;
    const isHere = last?.task === task && last.position === position && last.criterion === criterion;
    const goesOn = typing !== null && isHere && last.typing === typing;
    if (!goesOn) this.history.push({ task, position, criterion, before, typing });
    this.put(position, criterion, after, before);
  }

  /**
   * @param {number} position
   * @param {string} criterion
   * @param {Answer} after
   * @param {Answer} before
   */
  put(position, criterion, after, before) {
    if (after.status === null) {
      const { rationale, confidence, notes, evidence } = after;
      this.shelf.set(this.draftKey(position, criterion), { rationale, confidence, notes, evidence });
      if (before.status !== null) this.send(position, criterion, { status: "skipped", value: null, taken_back: true });
    } else {
      this.shelf.remove(this.draftKey(position, criterion));
      this.send(position, criterion, { ...after, taken_back: false });
    }
    this.dispatchEvent(new Event("change"));
  }

  /**
   * @param {number} position
   * @param {string} criterion
   * @param {any} content
   * @param {string | null} [after] the rating to go on top of, where it is another than the last one known here
   */
  send(position, criterion, content, after) {
    const { number: task } = this.task;
    const waiting = this.waiting(position, criterion).at(-1);
    const known = waiting?.id ?? this.unit(position).ratings[criterion]?.id ?? null;
    const body = { ...content, seconds: this.clock.take() };
    const digest = this.form.study.digest;
    const onTop = after === undefined ? known : after;
    this.outbox.add({ kind: "rating", task, position, criterion, after: onTop, body, digest });
  }

  /**
   * Says that a unit is finished; what it lacks, where it lacks anything.
   * @param {number} position
   */
  finish(position) {
    const lacks = this.lacks(position);
    if (lacks.length > 0) return { lacks, entry: null };
    this.unit(position).finished = true;
    const { number: task } = this.task;
    const digest = this.form.study.digest;
    const content = { task, position, criterion: null, after: null, body: {}, digest };
    return { lacks, entry: this.outbox.add({ kind: "finish", ...content }) };
  }

  /**
   * Takes the last change back; the task in hand must be the one it was made in.
   * @param {{position: number, criterion: string, before: Answer}} change
   */
  takeBack({ position, criterion, before }) {
    this.put(position, criterion, before, this.answer(position, criterion));
  }

  /**
   * Settles a conflict: the answer given here goes on top of the one found there, or is given up for it.
   * @param {import("./outbox.js").Entry} refused
   * @param {boolean} mine
   */
  settle(refused, mine) {
    const { position, criterion } = refused;
    const chain = this.outbox.chain(refused.task, position, criterion);
    const { id, ...content } = chain.at(-1).body;
    const { present } = refused.refused;
    this.outbox.drop(chain);
    if (present) this.unit(position).ratings[criterion] = present;
    else delete this.unit(position).ratings[criterion];
    if (mine) this.send(position, criterion, content, present?.id ?? null);
    else this.outbox.send();
  }

  /** @param {{entry: import("./outbox.js").Entry, answer: any}} saved */
  heard({ entry, answer }) {
    if (this.task?.number !== entry.task) return;
    const unit = this.unit(entry.position);
    if (!unit) return;
    if (entry.kind === "rating") unit.ratings[entry.criterion] = answer.rating;
    else Object.assign(unit, answer.unit);
    if (entry.kind === "finish") Object.assign(this.task, answer.task);
    this.dispatchEvent(new Event("change"));
  }

  /**
   * @param {number} position
   * @param {string} criterion
   */
  draftKey(position, criterion) {
    return `draft/${this.task.number}/${position}/${criterion}`;
  }
}
