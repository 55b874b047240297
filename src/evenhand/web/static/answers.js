/** What is asked, what an answer says and what is missing. Pure: the server holds everybody to the same rules. */

/**
 * @typedef {object} Answer
 * @property {"rated" | "skipped" | "cannot_assess" | null} status null: not answered yet
 * @property {any} value
 * @property {string | null} rationale
 * @property {number | null} confidence
 * @property {string | null} notes
 * @property {{field: string, start: number, end: number}[]} evidence
 *
 * @typedef {object} Lack
 * @property {string} criterion where to go
 * @property {"value" | "rationale" | "evidence" | "confidence" | "notes"} part
 * @property {string} words
 */

export const UNANSWERABLE = "<Unanswerable>";
const TAKEN_BACK = "taken back";

/** @type {Answer} */
const BLANK = { status: null, value: null, rationale: null, confidence: null, notes: null, evidence: [] };

/**
 * The answer that a rating or a body on its way gives; `draft` is what was written before there was one.
 * @param {any} rating
 * @param {Partial<Answer> | null} draft
 * @returns {Answer}
 */
export function answerOf(rating, draft) {
  const none = !rating || rating.taken_back || rating.reason === TAKEN_BACK;
  if (none || rating.status === "not_asked" || rating.status === "failed") return { ...BLANK, ...draft };
  const { status, value, rationale, confidence, notes, evidence } = rating;
  return { status, value, rationale, confidence, notes, evidence: evidence ?? [] };
}

/**
 * @param {Answer} a
 * @param {Answer} b
 */
export function sameAnswer(a, b) {
  return Object.keys(BLANK).every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
}

/**
 * Whether a criterion is asked, given the values of those before it.
 * @param {any} criterion
 * @param {Map<string, any>} values
 */
function isAsked({ when }, values) {
  if (when === null) return true;
  const value = values.get(when.criterion);
  if (value === undefined) return false;
  if (when.any_of !== null && !when.any_of.includes(value)) return false;
  if (typeof value === "string") return when.at_least === null && when.at_most === null;
  return (when.at_least === null || value >= when.at_least) && (when.at_most === null || value <= when.at_most);
}

/**
 * The criteria that are asked.
 * @param {any} form
 * @param {(criterion: string) => Answer} answer
 * @returns {any[]}
 */
export function askedOf(form, answer) {
  const values = new Map();
  return form.criteria.filter((criterion) => {
    if (!isAsked(criterion, values)) return false;
    const { status, value } = answer(criterion.id);
    if (status === "rated") values.set(criterion.id, value);
    return true;
  });
}

const WANTED = {
  ordinal: "choose a level",
  nominal: "choose a label",
  text: "write an answer",
  percent: "give a percentage",
};

/**
 * What must be given before the unit can be finished, in order.
 * @param {any} form
 * @param {(criterion: string) => Answer} answer
 * @returns {Lack[]}
 */
export function lacksOf(form, answer) {
  const asked = askedOf(form, answer);
  if (asked.some((criterion) => criterion.required && answer(criterion.id).status === "skipped")) return [];
  const lacks = asked.flatMap((criterion) => lacksOfOne(criterion, answer(criterion.id)));
  if (!asked.some((criterion) => answer(criterion.id).status === "rated")) return lacks;
  const bearing = asked.map((criterion) => answer(criterion.id));
  const once = (part, words) => lacks.push({ criterion: form.lead, part, words });
  const unsure = bearing.every(({ confidence }) => confidence === null);
  if (form.confidence === "required" && unsure) once("confidence", "say how sure you are");
  if (form.notes === "required" && bearing.every(({ notes }) => !notes)) once("notes", "write a note");
  return lacks;
}

/**
 * @param {any} criterion
 * @param {Answer} answer
 * @returns {Lack[]}
 */
function lacksOfOne(criterion, answer) {
  const lack = (part, words) => ({ criterion: criterion.id, part, words });
  if (answer.status === null) return criterion.required ? [lack("value", WANTED[criterion.scale.type])] : [];
  if (answer.status !== "rated") return [];
  const lacks = [];
  if (criterion.rationale === "required" && !answer.rationale?.trim()) lacks.push(lack("rationale", "say why"));
  const uncited = answer.evidence.length === 0;
  if (criterion.evidence === "required" && uncited) lacks.push(lack("evidence", "mark the evidence"));
  return lacks;
}

/**
 * A value as people read it.
 * @param {any} criterion
 * @param {any} value
 */
export function valueInWords(criterion, value) {
  if (value === null || value === undefined) return "no answer";
  if (value === UNANSWERABLE) return "Unanswerable";
  if (criterion.scale.type === "percent") return `${value} %`;
  const choice = criterion.scale.values.find((one) => one.value === value);
  return choice && criterion.scale.type === "ordinal" ? `${value} ${choice.label}` : String(value);
}

/**
 * An answer, or a rating, as people read it.
 * @param {any} criterion
 * @param {{status: string | null, value: any} | null} answer
 */
export function answerInWords(criterion, answer) {
  if (!answer || answer.status === null) return "not answered";
  if (answer.status === "cannot_assess") return "Cannot assess";
  if (answer.status === "skipped") return "Skipped";
  if (answer.status === "not_asked") return "not asked";
  return answer.status === "rated" ? valueInWords(criterion, answer.value) : "no answer";
}
