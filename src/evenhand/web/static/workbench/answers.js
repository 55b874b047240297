/** Which criteria are asked, what an answer says and what is missing. Pure; the server applies the same rules. */

export const UNANSWERABLE = "<Unanswerable>";
const TAKEN_BACK = "taken back";

/** @type {Answer} */
const BLANK = { status: null, value: null, rationale: null, confidence: null, notes: null, evidence: [] };

/**
 * The answer in a rating, or in the body of one that is being sent; `draft` is what was written before there was one.
 * @param {any} rating @param {Partial<Answer> | null} draft @returns {Answer}
 */
export function answerFrom(rating, draft) {
  const none = !rating || rating.taken_back || rating.reason === TAKEN_BACK;
  if (none || rating.status === "not_asked" || rating.status === "failed") return { ...BLANK, ...draft };
  const { status, value, rationale, confidence, notes, evidence } = rating;
  return { status, value, rationale, confidence, notes, evidence: evidence ?? [] };
}

/** @param {Answer} one @param {Answer} other */
export function isSameAnswer(one, other) {
  const parts = (/** @type {Answer} */ { status, value, rationale, confidence, notes, evidence }) =>
    JSON.stringify([status, value, rationale, confidence, notes, evidence]);
  return parts(one) === parts(other);
}

/** @param {Span} one @param {Span} other */
export function isSameSpan(one, other) {
  return one.field === other.field && one.start === other.start && one.end === other.end;
}

/** Whether it is asked, given the values before it. @param {Criterion} criterion @param {Map<string, Value>} values */
function isAsked({ when }, values) {
  if (when === null) return true;
  const value = values.get(when.criterion);
  if (value === undefined) return false;
  if (when.any_of !== null && !when.any_of.includes(value)) return false;
  if (typeof value === "string") return when.at_least === null && when.at_most === null;
  return (when.at_least === null || value >= when.at_least) && (when.at_most === null || value <= when.at_most);
}

/** The criteria that are asked. @param {Form} form @param {(criterion: string) => Answer} answer */
export function askedCriteria(form, answer) {
  /** @type {Map<string, Value>} */
  const values = new Map();
  return form.criteria.filter((criterion) => {
    if (!isAsked(criterion, values)) return false;
    const { status, value } = answer(criterion.id);
    if (status === "rated" && value !== null) values.set(criterion.id, value);
    return true;
  });
}

const INSTRUCTIONS = {
  ordinal: "choose a level",
  nominal: "choose a label",
  text: "write an answer",
  percent: "give a percentage",
};

/**
 * What must be given before the unit can be finished, in order.
 * @param {Form} form @param {(criterion: string) => Answer} answer @returns {Missing[]}
 */
export function missingParts(form, answer) {
  const asked = askedCriteria(form, answer);
  if (asked.some((criterion) => criterion.required && answer(criterion.id).status === "skipped")) return [];
  const missing = asked.flatMap((criterion) => missingFrom(criterion, answer(criterion.id)));
  const answers = asked.map((criterion) => answer(criterion.id));
  if (!answers.some(({ status }) => status === "rated")) return missing;
  if (form.confidence === "required" && answers.every(({ confidence }) => confidence === null)) {
    missing.push({ criterion: form.lead, part: "confidence", instruction: "say how confident you are" });
  }
  if (form.notes === "required" && answers.every(({ notes }) => !notes)) {
    missing.push({ criterion: form.lead, part: "notes", instruction: "write a note" });
  }
  return missing;
}

/** @param {Criterion} criterion @param {Answer} answer @returns {Missing[]} */
function missingFrom({ id, required, scale, rationale, evidence }, answer) {
  if (answer.status === null) {
    return required ? [{ criterion: id, part: "value", instruction: INSTRUCTIONS[scale.type] }] : [];
  }
  if (answer.status !== "rated") return [];
  /** @type {Missing[]} */
  const missing = [];
  if (rationale === "required" && !answer.rationale?.trim()) {
    missing.push({ criterion: id, part: "rationale", instruction: "say why" });
  }
  if (evidence === "required" && answer.evidence.length === 0) {
    missing.push({ criterion: id, part: "evidence", instruction: "mark the evidence" });
  }
  return missing;
}

/**
 * A value as people read it.
 * @param {{scale: {type: string, values: Scale["values"]}}} criterion @param {Value | null | undefined} value
 */
export function formatValue(criterion, value) {
  if (value === null || value === undefined) return "no answer";
  if (value === UNANSWERABLE) return "Unanswerable";
  if (criterion.scale.type === "percent") return `${value} %`;
  const choice = criterion.scale.values.find((one) => one.value === value);
  return choice && criterion.scale.type === "ordinal" ? `${value} ${choice.label}` : String(value);
}

/**
 * An answer, or a rating, as people read it.
 * @param {{scale: {type: string, values: Scale["values"]}}} criterion
 * @param {{status: Status | null, value: Value | null, reason?: string | null}} answer
 */
export function formatAnswer(criterion, { status, value, reason }) {
  if (reason === TAKEN_BACK) return "withdrawn";
  if (status === "rated") return formatValue(criterion, value);
  if (status === "cannot_assess") return "Cannot assess";
  if (status === "skipped") return "Skipped";
  if (status === "not_asked") return "not asked";
  return status === null ? "not answered" : "no answer";
}
