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

/** Whether it is asked about units from this field at all. @param {Criterion} criterion @param {string | null} field */
export const concerns = ({ of }, field) => of === null || of === field;

/** The id of the criterion that carries confidence and notes. @param {Form} form @param {string | null} field */
export function leadFor({ criteria, lead }, field) {
  const asked = criteria.filter((criterion) => concerns(criterion, field)).map(({ id }) => id);
  return asked.includes(lead) ? lead : (asked[0] ?? lead);
}

/**
 * Whether it is asked about a unit from this field, given the values before it.
 * @param {Criterion} criterion @param {Map<string, Value>} values @param {string | null} field
 */
function isAsked(criterion, values, field) {
  const { when } = criterion;
  if (!concerns(criterion, field)) return false;
  if (when === null) return true;
  const value = values.get(when.criterion);
  if (value === undefined) return false;
  if (when.any_of !== null && !when.any_of.includes(value)) return false;
  if (typeof value === "string") return when.at_least === null && when.at_most === null;
  return (when.at_least === null || value >= when.at_least) && (when.at_most === null || value <= when.at_most);
}

/**
 * The criteria that are asked about a unit from this field.
 * @param {Form} form @param {string | null} field @param {(criterion: string) => Answer} answer
 */
export function askedCriteria(form, field, answer) {
  /** @type {Map<string, Value>} */
  const values = new Map();
  return form.criteria.filter((criterion) => {
    if (!isAsked(criterion, values, field)) return false;
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
  continuous: "give a number from 0 to 1",
};

/**
 * What must be given before the unit can be finished, in order.
 * @param {Form} form @param {string | null} field @param {(criterion: string) => Answer} answer @returns {Missing[]}
 */
export function missingParts(form, field, answer) {
  const asked = askedCriteria(form, field, answer);
  if (asked.some((criterion) => criterion.required && answer(criterion.id).status === "skipped")) return [];
  const missing = asked.flatMap((criterion) => missingFrom(criterion, answer(criterion.id)));
  const answers = asked.map((criterion) => answer(criterion.id));
  if (!answers.some(({ status }) => status === "rated")) return missing;
  const lead = leadFor(form, field);
  if (form.confidence === "required" && answers.every(({ confidence }) => confidence === null)) {
    missing.push({ criterion: lead, part: "confidence", instruction: "say how confident you are" });
  }
  if (form.notes === "required" && answers.every(({ notes }) => !notes)) {
    missing.push({ criterion: lead, part: "notes", instruction: "write a note" });
  }
  return missing;
}

/** A bare number or a single key, as it gets into a field that was focused meanwhile. */
const STRAY = /^([0-9]+|[!-~])?$/;

/** Whether an answer must cite evidence. @param {Criterion} criterion @param {Answer} answer */
export function needsEvidence({ evidence, scale }, { value }) {
  return evidence === "required" && !scale.exempt_from_evidence.includes(String(value));
}

/** @param {Criterion} criterion @param {Answer} answer @returns {Missing[]} */
function missingFrom(criterion, answer) {
  const { id, required, scale, rationale } = criterion;
  if (answer.status === null) {
    return required ? [{ criterion: id, part: "value", instruction: INSTRUCTIONS[scale.type] }] : [];
  }
  if (answer.status !== "rated") return [];
  /** @type {Missing[]} */
  const missing = [];
  if (rationale === "required" && STRAY.test(answer.rationale?.trim() ?? "")) {
    missing.push({ criterion: id, part: "rationale", instruction: "say why in words" });
  }
  if (needsEvidence(criterion, answer) && answer.evidence.length === 0) {
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
  if (criterion.scale.type === "percent") return `${value}%`;
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
