/** The levels or labels of a scale, as a group of radio buttons that digits pick. */

import { h, textElement } from "../shared/view.js";

/** @param {ChoicesState} state @param {Actions} actions */
export function choices({ id, labelledBy, scale, language, value, locked, cursor }, actions) {
  const chosen = scale.values.findIndex((choice) => choice.value === value);
  const tabStop = cursor?.index ?? Math.max(0, chosen);
  const buttons = scale.values.map((choice, index) => {
    const attributes = {
      id: `${id}-${index}`,
      type: "button",
      role: "radio",
      "aria-checked": String(index === chosen),
      "aria-labelledby": `${id}-${index}-label`,
      "aria-describedby": `${id}-${index}-text`,
      tabindex: index === tabStop ? "0" : "-1",
      disabled: locked,
      onclick: () => actions.pick(choice.value),
      onblur: () => cursor?.isQuiet && actions.moveCursor({ index, isQuiet: false }),
    };
    const level = scale.type === "ordinal" ? [h("span", { class: "level" }, String(choice.value)), " "] : null;
    const name = textElement("span", choice.label, { lang: language });
    const label = h("span", { class: "label", id: `${id}-${index}-label` }, level, name);
    const text = textElement("span", choice.text, { class: "text", id: `${id}-${index}-text`, lang: language });
    const digit = h("kbd", { "aria-hidden": "true" }, digitOf(scale, index) ?? "·");
    return h("button", attributes, digit, h("span", { class: "words" }, label, text));
  });
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const isEntering = document.activeElement?.id === id && chosen < 0;
    const index = step(event, isEntering ? null : tabStop, buttons.length);
    if (index === null) return;
    event.preventDefault();
    actions.moveCursor({ index, isQuiet: false });
    document.getElementById(`${id}-${index}`)?.focus();
  };
  const kind = cursor?.isQuiet ? "choices picked" : "choices";
  return h("div", { id, class: kind, role: "radiogroup", "aria-labelledby": labelledBy, tabindex: "-1", onkeydown }, buttons);
}

/** The index of the choice that a digit picks, or -1. @param {Scale} scale @param {string} digit */
export function indexOfDigit(scale, digit) {
  return scale.values.findIndex((_, index) => digitOf(scale, index) === digit);
}

/** The digit that picks a choice: a level's number or a label's position. @param {Scale} scale @param {number} index */
function digitOf(scale, index) {
  const number = scale.type === "ordinal" ? Number(scale.values[index].value) : index + 1;
  return number >= 0 && number <= 9 ? String(number) : null;
}

/**
 * The choice that left or right leads to, without choosing it; up and down belong to the criteria.
 * @param {KeyboardEvent} event @param {number | null} from null: the group itself has the focus
 * @param {number} length
 */
function step(event, from, length) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return null;
  return ((from ?? Math.min(0, -by)) + by + length) % length;
}
