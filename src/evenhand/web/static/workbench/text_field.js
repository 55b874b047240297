/** Text fields that save by themselves: a second after the last keystroke, on leaving, and on Enter. */

import { isComposing } from "../shared/keyboard.js";
import { h, row } from "../shared/view.js";

const SAVE_AFTER_MS = 1000;
const LONGEST = 20_000; // characters, as the server allows

/** What is being typed, by the id of its field. */
export class Drafts {
  /** @param {() => void} changed called when a field has to be drawn again */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, Draft>} */
    this.drafts = new Map();
  }

  /**
   * @param {string} id @param {string} text
   * @param {(text: string) => boolean | void} save returns false if the text cannot be saved as it is
   */
  type(id, text, save) {
    const before = this.drafts.get(id);
    clearTimeout(before?.timer);
    const timer = setTimeout(() => this.save(id), SAVE_AFTER_MS);
    this.drafts.set(id, { text, save, isDirty: true, isInvalid: false, timer });
    if (before?.isInvalid) this.changed();
  }

  /** @param {string} id */
  save(id) {
    const draft = this.drafts.get(id);
    if (!draft?.isDirty) return;
    clearTimeout(draft.timer);
    draft.isInvalid = draft.save(draft.text) === false; // what cannot be saved stays there to be corrected
    draft.isDirty = draft.isInvalid;
    this.changed();
  }

  saveAll() {
    for (const id of this.drafts.keys()) this.save(id);
  }

  /** Saves everything and forgets the fields. */
  close() {
    this.saveAll();
    this.drafts.clear();
  }

  /**
   * The text to show: what is being typed, otherwise what is saved. Spaces at the end are left while one types.
   * @param {string} id @param {string} saved
   */
  text(id, saved) {
    const draft = this.drafts.get(id);
    return draft && (draft.isDirty || draft.text.trim() === saved.trim()) ? draft.text : saved;
  }

  /** @param {string} id */
  isInvalid(id) {
    return this.drafts.get(id)?.isInvalid ?? false;
  }
}

/** @param {Context} context @param {TextField} field */
export function textField({ tasks, drafts, actions }, field) {
  const { id, kind, label, labelledBy, hint, accept = () => actions.accept() } = field;
  const attributes = {
    id,
    maxlength: LONGEST,
    "aria-labelledby": labelledBy,
    "aria-describedby": hint ? `${id}-hint` : null,
    "aria-invalid": drafts.isInvalid(id) ? "true" : null,
    disabled: tasks.task.locked,
    value: drafts.text(id, field.saved),
    oninput: (/** @type {any} */ event) => drafts.type(id, event.target.value, field.save),
    onblur: () => drafts.save(id),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const act = keyAction(event);
      if (!act) return;
      drafts.save(id);
      if (act === "finish") return; // which is a shortcut of the page
      event.preventDefault();
      if (act === "leave") actions.leaveField();
      else accept();
    },
  };
  const sign = kind === "percent" ? h("span", { class: "muted", "aria-hidden": "true" }, "%") : null;
  return h(
    "div",
    { class: "field", id: `${id}-field` },
    labelledBy ? null : h("label", { for: id }, label),
    row(input(kind, attributes), sign),
    hint ? h("p", { class: "hint", id: `${id}-hint` }, hint) : null,
  );
}

/** @param {TextField["kind"]} kind @param {Record<string, any>} attributes */
function input(kind, attributes) {
  if (kind === "lines") return h("textarea", { ...attributes, rows: 2, dir: "auto" });
  // Not type=number: that drops a decimal comma silently and changes with the mouse wheel.
  return h("input", { ...attributes, type: "text", autocomplete: "off", inputmode: "decimal", class: "number" });
}

/** Enter saves and continues, Shift+Enter starts a new line, Escape leaves the field. @param {KeyboardEvent} event */
function keyAction(event) {
  if (isComposing(event)) return null;
  if (event.key === "Escape") return "leave";
  if (event.key !== "Enter" || event.shiftKey || event.altKey) return null;
  return event.ctrlKey || event.metaKey ? "finish" : "accept";
}

/** Focuses a field and brings it into view with its label and hint. @param {string} id */
export function focusField(id) {
  document.getElementById(id)?.focus({ preventScroll: true });
  document.getElementById(`${id}-field`)?.scrollIntoView({ block: "nearest" });
}

/**
 * The number in a field: null if it is empty, undefined if it is none between the ends.
 * @param {string} text @param {[number, number]} ends by default those of a percentage
 */
export function parseNumber(text, [lowest, highest] = [0, 100]) {
  if (text.trim() === "") return null;
  const number = Number(text.replace(",", "."));
  return Number.isFinite(number) && number >= lowest && number <= highest ? number : undefined;
}
