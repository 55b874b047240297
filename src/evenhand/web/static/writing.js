/** Text fields that save by themselves: a second after the last letter, on leaving, and on Enter. */

import { element } from "./element.js";

const PAUSE = 1000;

/**
 * A labelled field. `save` gets the text whenever it should be kept; `accept` is called on Enter, when the text was
 * saved; `leave` on Escape. Shift+Enter begins a new line in a field of several lines.
 */
export class Writing {
  /**
   * @param {object} options
   * @param {string} options.id
   * @param {string} options.label
   * @param {string} [options.hint]
   * @param {"line" | "lines" | "percent"} options.kind
   * @param {(text: string) => void} options.save
   * @param {() => void} options.accept
   * @param {() => void} options.leave
   * @param {string | null} [options.labelledBy] the id of a label that stands elsewhere
   */
  constructor({ id, label, hint, kind, save, accept, leave, labelledBy = null }) {
    this.save = save;
    this.timer = 0;
    const describedBy = hint ? `${id}-hint` : null;
    const attributes = { id, maxlength: 20_000, "aria-labelledby": labelledBy, "aria-describedby": describedBy };
    const line = { type: "text", dir: "auto" };
    // Not type=number: that drops a decimal comma without a word, and turns with the mouse wheel.
    const percent = { type: "text", inputmode: "decimal", maxlength: 20, class: "percent" };
    this.isPercent = kind === "percent";
    this.input = /** @type {HTMLInputElement} */ (
      kind === "lines"
        ? element("textarea", { ...attributes, rows: 2, dir: "auto" })
        : element("input", { ...attributes, autocomplete: "off", ...(kind === "percent" ? percent : line) })
    );
    const unit = kind === "percent" ? element("span", { class: "muted", "aria-hidden": "true" }, "%") : null;
    this.element = element(
      "div",
      { class: "field" },
      labelledBy ? null : element("label", { for: id }, label),
      element("div", { class: "row" }, this.input, unit),
      hint ? element("p", { class: "hint", id: `${id}-hint` }, hint) : null,
    );
    this.input.addEventListener("input", () => this.later());
    this.input.addEventListener("blur", () => this.now());
    this.input.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === "Escape") {
        event.preventDefault();
        this.now();
        leave();
      } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
        this.now();
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        accept();
      }
    });
  }

  later() {
    clearTimeout(this.timer);
    this.dirty = true;
    this.timer = setTimeout(() => this.now(), PAUSE);
    this.input.removeAttribute("aria-invalid");
  }

  now() {
    clearTimeout(this.timer);
    if (!this.dirty) return;
    if (this.isPercent && percentage(this.input.value) === undefined) {
      this.input.setAttribute("aria-invalid", "true"); // it stays there to be mended
      return;
    }
    this.dirty = false;
    this.save(this.input.value);
  }

  /** @param {string} text that is in force; what is being written is left alone */
  show(text) {
    if (!this.dirty && this.input.value !== text) this.input.value = text;
  }

  /** @param {boolean} locked */
  lock(locked) {
    this.input.disabled = locked;
  }

  focus() {
    this.input.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" }); // with its label and its hint
  }
}

/**
 * The number in a field for percentages: null where it is empty, undefined where it is none.
 * @param {string} text
 */
export function percentage(text) {
  if (text.trim() === "") return null;
  const number = Number(text.replace(",", "."));
  return Number.isFinite(number) && number >= 0 && number <= 100 ? number : undefined;
}
