/** The texts of an item: shown, selected from, and cited. */

import { button, element } from "./element.js";
import { codePoints, slice, textNodes, utf16 } from "./text.js";

/** @typedef {{field: string, start: number, end: number}} Span */

export class FieldView {
  /**
   * @param {any} field its specification with its parts
   * @param {string} language
   */
  constructor(field, language) {
    this.field = field;
    const words = () => element("div", { class: "words", dir: "auto", lang: language });
    this.parts = field.parts.map((part) => ({ part, element: words() }));
    const id = `field-${field.name}`;
    const body = this.parts.map(({ part, element: own }) => {
      if (!part.label) return own;
      const mark = element("span", { class: "mark" }, element("span", { class: "unseen" }, "Passage "), part.label);
      return element("div", { class: "passage" }, mark, own);
    });
    this.element = element(
      "section",
      { class: `text ${field.kind} ${field.role}`, "aria-labelledby": id },
      element("h2", { id, dir: "auto", title: field.description ?? null }, field.title),
      element("div", { class: "parts" }, body),
    );
    this.draw([]);
  }

  /**
   * Shows the parts with these spans marked.
   * @param {Span[]} spans
   */
  draw(spans) {
    const own = spans.filter((span) => span.field === this.field.name);
    const drawn = JSON.stringify(own);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    for (const { part, element: words } of this.parts) words.replaceChildren(...pieces(part, own));
  }

  /** Sentences, lines and triples, to be chosen without a pointer. @returns {Span[]} */
  choices(language) {
    return this.parts.flatMap(({ part }) => {
      const whole = { field: this.field.name, start: part.offset, end: part.offset + codePoints(part.text) };
      if (part.triple) return [whole];
      return [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(part.text)]
        .filter(({ segment }) => segment.trim() !== "")
        .map(({ segment, index }) => this.spanAt(part, index, index + segment.trimEnd().length));
    });
  }

  /** The span between two UTF-16 indices of a part. */
  spanAt(part, start, end) {
    const offset = (index) => part.offset + codePoints(part.text, index);
    return { field: this.field.name, start: offset(start), end: offset(end) };
  }

  /** @param {Span} span */
  words(span) {
    const stretches = this.parts.map(({ part: { text, offset } }) => {
      return slice(text, Math.max(0, span.start - offset), Math.max(0, span.end - offset));
    });
    return stretches.filter((words) => words !== "").join(" … ");
  }

  /**
   * What is selected in this field, without white space at its ends; null where nothing is.
   * @param {Selection} selection
   * @returns {Span | null}
   */
  selected(selection) {
    if (selection.rangeCount === 0 || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const bounds = this.parts.flatMap(({ part, element: words }) => {
      if (!range.intersectsNode(words)) return [];
      const { startContainer, startOffset, endContainer, endOffset } = range;
      const start = words.contains(startContainer) ? before(words, startContainer, startOffset) : 0;
      const end = words.contains(endContainer) ? before(words, endContainer, endOffset) : part.text.length;
      const text = part.text.slice(start, end);
      if (text.trim() === "") return [];
      return [this.spanAt(part, start + text.length - text.trimStart().length, start + text.trimEnd().length)];
    });
    if (bounds.length === 0) return null;
    return { field: this.field.name, start: bounds[0].start, end: bounds[bounds.length - 1].end };
  }
}

/** How much text of an element stands before a place in it. */
function before(words, container, offset) {
  const range = document.createRange();
  range.setStart(words, 0);
  range.setEnd(container, offset);
  return range.toString().length;
}

/** A part as nodes, its cited stretches in `mark` elements and the predicate of a triple set apart. */
function pieces(part, spans) {
  const length = part.text.length;
  const inside = (offset) => (offset < part.offset ? 0 : utf16(part.text, offset - part.offset));
  const cuts = spans.map((span) => [inside(span.start), inside(span.end)]).filter(([start, end]) => start < end);
  const stretches = part.triple ? tripleStretches(part) : [[0, length, null]];
  return stretches.map(([from, to, kind]) => {
    const within = cuts.flat().filter((edge) => edge > from && edge < to);
    const edges = [...new Set([from, to, ...within])].sort((a, b) => a - b);
    const nodes = edges.slice(0, -1).map((edge, at) => {
      const nodesOf = textNodes(part.text.slice(edge, edges[at + 1]));
      return cuts.some(([start, end]) => start <= edge && edge < end) ? element("mark", {}, nodesOf) : nodesOf;
    });
    return kind ? element("span", { class: kind }, nodes) : nodes;
  }).flat();
}

/** Where subject, predicate and object stand in "s → p → o". */
function tripleStretches({ text, triple: [subject, predicate] }) {
  const arrow = " → ".length;
  const second = subject.length + arrow;
  const third = second + predicate.length + arrow;
  return [
    [0, subject.length, "subject"],
    [subject.length, second, "arrow"],
    [second, third - arrow, "predicate"],
    [third - arrow, third, "arrow"],
    [third, text.length, "object"],
  ];
}

/** A button that follows the selection, where what is selected may be cited. */
export class Citing {
  /**
   * @param {() => FieldView[]} views those that may be cited now
   * @param {(span: Span) => void} cite
   */
  constructor(views, cite) {
    this.views = views;
    this.cite = cite;
    this.button = button("Cite", () => this.act(), { key: "C", class: "cite primary", hidden: true });
    this.button.addEventListener("pointerdown", (event) => event.preventDefault()); // or the selection would go
    document.body.append(this.button);
    document.addEventListener("selectionchange", () => this.follow());
    addEventListener("scroll", () => this.follow(), { capture: true, passive: true });
  }

  /** @returns {Span | null} */
  span() {
    const selection = getSelection();
    if (!selection) return null;
    return this.views().map((view) => view.selected(selection)).find(Boolean) ?? null;
  }

  /** Cites what is selected; whether anything was. */
  act() {
    const span = this.span();
    if (!span) return false;
    getSelection()?.removeAllRanges();
    this.cite(span);
    return true;
  }

  follow() {
    const span = this.span();
    this.button.hidden = span === null;
    if (span === null) return;
    const box = getSelection().getRangeAt(0).getBoundingClientRect();
    const { offsetHeight: height } = this.button;
    const top = box.bottom + 8 + height > innerHeight ? box.top - height - 8 : box.bottom + 8;
    this.button.style.top = `${Math.max(8, top)}px`;
    this.button.style.left = `${Math.min(innerWidth - this.button.offsetWidth - 8, Math.max(8, box.left))}px`;
  }
}
