/** Citing evidence: by a button that follows the selection, or from a list. */

import { openDialog } from "../shared/dialogs.js";
import { button, h, render, textElement } from "../shared/view.js";
import { quote, selectedSpan, sentenceSpans } from "./fields.js";

const GAP = 8; // pixels between the button and the selection, or the edge of the window

export class CiteButton {
  /**
   * @param {() => Field[]} fields that may be cited now
   * @param {(span: Span) => void} cite
   */
  constructor(fields, cite) {
    this.fields = fields;
    this.cite = cite;
    this.place = document.createElement("div");
    document.body.append(this.place);
    document.addEventListener("selectionchange", () => this.follow());
    addEventListener("scroll", () => this.follow(), { capture: true, passive: true });
  }

  /** @returns {Span | null} */
  selected() {
    const selection = getSelection();
    const spans = selection ? this.fields().map((field) => selectedSpan(field, selection)) : [];
    return spans.find((span) => span !== null) ?? null;
  }

  citeSelection() {
    const span = this.selected();
    if (!span) return;
    getSelection()?.removeAllRanges();
    this.cite(span);
  }

  follow() {
    const isShown = this.selected() !== null;
    const keepSelection = (/** @type {Event} */ event) => event.preventDefault();
    const attributes = { shortcut: "C", class: "cite primary", id: "cite", onpointerdown: keepSelection };
    render(this.place, [isShown ? button("Cite", () => this.citeSelection(), attributes) : null]);
    const shown = document.getElementById("cite");
    if (!shown) return;
    const box = /** @type {Selection} */ (getSelection()).getRangeAt(0).getBoundingClientRect();
    const { offsetHeight: height, offsetWidth: width } = shown;
    const top = box.bottom + GAP + height > innerHeight ? box.top - height - GAP : box.bottom + GAP;
    shown.style.top = `${Math.max(GAP, top)}px`;
    shown.style.left = `${Math.min(innerWidth - width - GAP, Math.max(GAP, box.left))}px`;
  }
}

/**
 * Opens a list of sentences to cite without a pointer: arrows move up and down, Enter cites or removes.
 * @param {Field[]} fields @param {string} language @param {(span: Span) => boolean} isCited
 * @param {(span: Span) => void} toggle
 */
export function openEvidenceDialog(fields, language, isCited, toggle) {
  const groups = fields.map((field) => ({ field, spans: sentenceSpans(field, language) }));
  const piece = (/** @type {Span} */ span) => {
    const press = () => {
      toggle(span);
      dialog.show(contents());
    };
    const attributes = { class: "piece", "aria-pressed": String(isCited(span)) };
    return button("", press, attributes, textElement("span", quote(fields, span)));
  };
  const contents = () => [
    h("p", { class: "muted small" }, "Arrow keys move up and down, Enter cites or removes."),
    h("div", { class: "pieces stack tight", onkeydown: walk }, groups.map(({ field, spans }) => [
      spans.length > 0 ? h("h3", { dir: "auto" }, field.title) : null,
      spans.map(piece),
    ])),
  ];
  const dialog = openDialog("Choose evidence", contents(), { class: "wide" });
  const pieces = dialog.element.querySelector('.piece[aria-pressed="true"]') ?? dialog.element.querySelector(".piece");
  /** @type {HTMLElement | null} */ (pieces)?.focus();
}

/** @param {KeyboardEvent} event */
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const pieces = Array.from(/** @type {Element} */ (event.currentTarget).querySelectorAll(".piece"));
  const at = pieces.indexOf(/** @type {Element} */ (document.activeElement));
  /** @type {HTMLElement | undefined} */ (pieces[(at + step + pieces.length) % pieces.length])?.focus();
}
