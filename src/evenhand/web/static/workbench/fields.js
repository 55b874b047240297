/** The texts of an item: which of them are shown where, how they are drawn, and which part of them is selected. */

import { h, isolated, textElement } from "../shared/view.js";

const SHORT = ["label", "number"];

/**
 * Decides which field is shown where. Evidence and references have a pane of their own. Without evidence, the other
 * texts go there: what is rated with its context or, for questions, the text in which the answers are sought. A text
 * whose sentences are rated stays with the criteria; one whose claims are rated is quoted with them.
 * @param {Form} form @param {Task} task @returns {Arrangement}
 */
export function arrange(form, task) {
  const fields = fieldsOf(form, task);
  const isShort = (/** @type {Field} */ field) => SHORT.includes(field.kind);
  const texts = (/** @type {string[]} */ ...roles) => fields.filter((field) => roles.includes(field.role) && !isShort(field));
  const facts = fields.filter((field) => isShort(field) && field.role !== "rated");
  const rated = fields.filter((field) => field.role === "rated");
  const others = texts("context", "reference");
  if (form.unit === "question") {
    const sources = [...texts("context"), ...rated, ...texts("evidence", "reference")];
    return { name: "Text", sources, facts, context: [], rated: [], together: false };
  }
  if (form.unit === "claim") {
    const sources = texts("evidence").concat(texts("rated"), texts("reference"));
    return { name: "Texts", sources, facts, context: texts("context"), rated: rated.filter(isShort), together: false };
  }
  if (texts("evidence").length > 0) {
    const sources = [...texts("evidence"), ...texts("reference")];
    return { name: "Evidence", sources, facts, context: texts("context"), rated, together: false };
  }
  if (form.unit === "item" && texts("rated").length > 0) {
    const sources = [...texts("rated"), ...others];
    return { name: "Text", sources, facts, context: [], rated: rated.filter(isShort), together: true };
  }
  return { name: "Background", sources: others, facts, context: [], rated, together: false };
}

/** The fields of a task's item that raters see. @param {Form} form @param {Task} task @returns {Field[]} */
export function fieldsOf(form, task) {
  const parts = new Map(task.fields.map((field) => [field.name, field.parts]));
  return form.fields.flatMap((spec) => {
    const found = parts.get(spec.name);
    return found ? [{ ...spec, parts: found }] : [];
  });
}

/** A field as a titled text with marked spans. @param {Field} field @param {Span[]} spans @param {string} language */
export function fieldView(field, spans, language) {
  const own = spans.filter((span) => span.field === field.name);
  const parts = field.parts.map((part, at) => {
    const words = h("div", { class: "words", id: partId(field, at), dir: "auto", lang: language }, markedText(part, own));
    if (!part.label) return words;
    const label = h("span", { class: "mark" }, h("span", { class: "unseen" }, "Passage "), part.label);
    return h("div", { class: "passage" }, label, words);
  });
  return section(field, h("div", { class: "parts", tabindex: field.role === "rated" ? "0" : null }, parts));
}

/** The text that a claim comes from, with the words of the claim marked. @param {Context} context @param {Unit} unit */
export function claimSource({ form, tasks }, { field: name, span, position }) {
  const field = fieldsOf(form, tasks.task).find((one) => one.name === name);
  if (!field) return null;
  const words = field.parts.map((part) => markedText(part, span ? [span] : []));
  const attributes = { class: "words", id: `source-${position}`, dir: "auto", lang: form.study.language, tabindex: "0" };
  return h("figure", { class: "claim-source" }, h("figcaption", { dir: "auto" }, field.title), h("div", attributes, words));
}

/** @param {Field} field @param {...Child} children */
function section(field, ...children) {
  const id = `field-${field.name}`;
  const title = h("h2", { id, dir: "auto", title: field.description }, field.title);
  return h("section", { class: `text ${field.kind} ${field.role}`, "aria-labelledby": id }, title, ...children);
}

/** @param {Field} field @param {number} at */
const partId = (field, at) => `field-${field.name}-${at}`;

/** Short values as a list. @param {Field[]} facts @param {string} language */
export function factList(facts, language) {
  if (facts.length === 0) return null;
  const rows = facts.map(({ title, parts }) => [h("dt", { dir: "auto" }, title), textElement("dd", parts[0].text, { lang: language })]);
  return h("dl", { class: "facts" }, rows.map((row) => h("div", {}, row)));
}

/**
 * A text whose sentences are rated one by one: shown whole, each sentence a button that opens it.
 * @param {Context} context @param {Field} field
 */
export function sentencesView({ form, tasks, ui, actions }, field) {
  /** @param {{text: string, unit?: Unit}} piece */
  const pieceView = ({ text, unit }) => {
    if (!unit) return isolated(text);
    const { position } = unit;
    const isFinished = tasks.isFinished(position);
    const attributes = {
      key: position,
      id: `sentence-${position}`,
      class: isFinished ? "sentence finished" : "sentence",
      role: "button",
      tabindex: "0",
      "aria-current": position === ui.position ? "true" : null,
      onclick: () => actions.goToUnit(position),
      onkeydown: (/** @type {KeyboardEvent} */ event) => pressOnKey(event, () => actions.goToUnit(position)),
    };
    const given = isFinished && h("span", { class: "given" }, tasks.summary(position));
    return h("span", attributes, isolated(text), given);
  };
  const content = field.parts.map((part) => sentencePieces(field, part, tasks.task.units).map(pieceView));
  const words = h("div", { class: "words sentences", dir: "auto", lang: form.study.language }, content);
  return section(field, words);
}

/** @param {KeyboardEvent} event @param {() => void} press */
function pressOnKey(event, press) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  press();
}

/**
 * A part of a text, cut into the sentences that are rated and what is between them.
 * @param {Field} field @param {Part} part @param {Unit[]} units
 */
function sentencePieces(field, part, units) {
  /** @type {{text: string, unit?: Unit}[]} */
  const pieces = [];
  const characters = Array.from(part.text);
  const textBetween = (/** @type {number} */ from, /** @type {number} */ to) => characters.slice(from, to).join("");
  let at = 0;
  for (const unit of units) {
    const [start, end] = unit.span?.field === field.name ? boundsIn(part, unit.span) : [0, 0];
    if (start < at || end <= start) continue;
    pieces.push({ text: textBetween(at, start) }, { text: textBetween(start, end), unit });
    at = end;
  }
  return [...pieces, { text: textBetween(at, characters.length) }];
}

/** Where a span starts and ends in a part. @param {Part} part @param {Span} span @returns {[number, number]} */
function boundsIn({ offset }, { start, end }) {
  return [Math.max(0, start - offset), Math.max(0, end - offset)];
}

/**
 * A part as children, its cited stretches in `mark` elements and the predicate of a triple set apart.
 * @param {Part} part @param {Span[]} spans @returns {Child[]}
 */
function markedText(part, spans) {
  const characters = Array.from(part.text);
  const cuts = spans.map((span) => boundsIn(part, span)).filter(([start, end]) => start < end);
  return stretches(part).map(({ from, to, kind }) => {
    const within = cuts.flat().filter((edge) => edge > from && edge < to);
    const edges = [...new Set([from, to, ...within])].sort((a, b) => a - b);
    const children = edges.slice(0, -1).map((edge, at) => {
      const text = isolated(characters.slice(edge, edges[at + 1]).join(""));
      return cuts.some(([start, end]) => start <= edge && edge < end) ? h("mark", {}, text) : text;
    });
    return kind ? h("span", { class: kind }, children) : children;
  });
}

/**
 * A part's text as one stretch; a triple "s → p → o" as its parts.
 * @param {Part} part @returns {{from: number, to: number, kind: string | null}[]}
 */
function stretches({ text, triple }) {
  if (!triple) return [{ from: 0, to: codePoints(text), kind: null }];
  const kinds = ["subject", "arrow", "predicate", "arrow", "object"];
  const pieces = [triple[0], " → ", triple[1], " → ", triple[2]];
  const ends = pieces.map((_, at) => codePoints(pieces.slice(0, at + 1).join("")));
  return kinds.map((kind, at) => ({ kind, from: ends[at - 1] ?? 0, to: ends[at] }));
}

// Spans. The server counts code points, as Python does; the browser counts UTF-16 units.

/** The number of code points before a UTF-16 index. @param {string} text @param {number} [index] */
function codePoints(text, index = text.length) {
  return Array.from(text.slice(0, index)).length;
}

/** The words of a span. @param {Field[]} fields @param {Span} span */
export function quote(fields, span) {
  const parts = fields.find((field) => field.name === span.field)?.parts ?? [];
  const words = parts.map((part) => Array.from(part.text).slice(...boundsIn(part, span)).join(""));
  return words.filter((one) => one !== "").join(" … ") || `(not in this item: ${span.field})`;
}

/** The sentences and triples of a field. @param {Field} field @param {string} language */
export function sentenceSpans(field, language) {
  return field.parts.flatMap((part) => {
    if (part.triple) return [spanBetween(field, part, 0, part.text.length)];
    return [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(part.text)]
      .filter(({ segment }) => segment.trim() !== "")
      .map(({ segment, index }) => spanBetween(field, part, index, index + segment.trimEnd().length));
  });
}

/**
 * What is selected in a field, without white space at the ends; null if nothing is.
 * @param {Field} field @param {Selection} selection @returns {Span | null}
 */
export function selectedSpan(field, selection) {
  if (selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const spans = field.parts.flatMap((part, at) => {
    const words = document.getElementById(partId(field, at));
    if (!words || !range.intersectsNode(words)) return [];
    const { startContainer, startOffset, endContainer, endOffset } = range;
    const start = words.contains(startContainer) ? textBefore(words, startContainer, startOffset) : 0;
    const end = words.contains(endContainer) ? textBefore(words, endContainer, endOffset) : part.text.length;
    const text = part.text.slice(start, end);
    if (text.trim() === "") return [];
    return [spanBetween(field, part, start + text.length - text.trimStart().length, start + text.trimEnd().length)];
  });
  const last = spans.at(-1);
  return last ? { field: field.name, start: spans[0].start, end: last.end } : null;
}

/** The span between two indices. @param {Field} field @param {Part} part @param {number} start @param {number} end */
function spanBetween(field, part, start, end) {
  const offset = (/** @type {number} */ index) => part.offset + codePoints(part.text, index);
  return { field: field.name, start: offset(start), end: offset(end) };
}

/** The length of the text before a point. @param {Element} element @param {Node} container @param {number} offset */
function textBefore(element, container, offset) {
  const range = document.createRange();
  range.setStart(element, 0);
  range.setEnd(container, offset);
  return range.toString().length;
}
