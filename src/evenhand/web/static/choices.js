/** The levels or labels of a scale, as a group of radio buttons that digits pick. */

import { element, textElement } from "./element.js";

/**
 * The digit that picks a choice: a level's own number, a label's place; null beyond one digit.
 * @param {any} scale
 * @param {number} index
 */
export function digitOf(scale, index) {
  const number = scale.type === "ordinal" ? scale.values[index].value : index + 1;
  return number >= 0 && number <= 9 ? String(number) : null;
}

export class Choices {
  /**
   * @param {any} criterion
   * @param {string} labelledBy the id of the question
   * @param {string} language
   * @param {(value: any) => void} pick
   */
  constructor(criterion, labelledBy, language, pick) {
    this.scale = criterion.scale;
    this.pick = pick;
    this.buttons = criterion.scale.values.map((choice, index) => this.made(choice, index, labelledBy, language));
    const attributes = { class: "choices", role: "radiogroup", "aria-labelledby": labelledBy, tabindex: "-1" };
    this.element = element("div", attributes, this.buttons);
    this.element.addEventListener("keydown", (event) => this.walk(event));
    this.element.addEventListener("focusout", () => this.element.classList.remove("picked"));
    this.rove(0);
  }

  made(choice, index, prefix, language) {
    const id = `${prefix}-${index}`;
    const digit = digitOf(this.scale, index);
    const label = element("span", { class: "label", id: `${id}-label` });
    if (this.scale.type === "ordinal") label.append(element("span", { class: "level" }, String(choice.value)), " ");
    label.append(textElement("span", choice.label, { lang: language }));
    const text = textElement("span", choice.text, { class: "text", id: `${id}-text`, lang: language });
    const attributes = { type: "button", role: "radio", "aria-checked": "false", "aria-labelledby": `${id}-label` };
    return element(
      "button",
      { ...attributes, "aria-describedby": `${id}-text`, on: { click: () => this.pick(choice.value) } },
      element("kbd", { "aria-hidden": "true" }, digit ?? "·"),
      element("span", { class: "words" }, label, text),
    );
  }

  /** @param {any} value the one that is chosen, or null */
  show(value) {
    const chosen = this.scale.values.findIndex((choice) => choice.value === value);
    this.buttons.forEach((button, index) => button.setAttribute("aria-checked", String(index === chosen)));
    this.hasChosen = chosen >= 0;
    if (this.hasChosen) this.rove(chosen);
  }

  /** @param {boolean} locked */
  lock(locked) {
    for (const button of this.buttons) button.toggleAttribute("disabled", locked);
  }

  /** @param {string} digit */
  press(digit) {
    const index = this.scale.values.findIndex((_, at) => digitOf(this.scale, at) === digit);
    if (index < 0) return false;
    this.pick(this.scale.values[index].value);
    this.rove(index);
    const button = this.buttons[index];
    if (this.element.contains(document.activeElement)) {
      button.focus({ preventScroll: true }); // so that it is read out; it shows as chosen and needs no ring
      this.element.classList.add("picked");
    }
    button.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** The focus goes to the group: on one of the choices it would look as if that were chosen already. */
  focus() {
    this.element.focus({ preventScroll: true });
  }

  rove(index) {
    this.at = index;
    this.buttons.forEach((button, at) => button.setAttribute("tabindex", at === index ? "0" : "-1"));
  }

  /** Left and right move among the choices without choosing; up and down belong to the criteria. */
  walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const enters = document.activeElement === this.element && !this.hasChosen;
    const from = enters ? Math.min(0, -step) : this.at;
    this.rove((from + step + this.buttons.length) % this.buttons.length);
    this.element.classList.remove("picked");
    this.buttons[this.at].focus();
  }
}
