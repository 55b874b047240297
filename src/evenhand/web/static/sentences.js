/** A text whose sentences are rated one by one: shown whole, each sentence a place to go to. */

import { element } from "./element.js";
import { textNodes, utf16 } from "./text.js";

export class Sentences {
  /**
   * @param {any} field with its parts
   * @param {any[]} units each with its span
   * @param {string} language
   * @param {(position: number) => void} goTo
   */
  constructor(field, units, language, goTo) {
    this.units = units;
    this.marks = new Map();
    const id = `field-${field.name}`;
    const words = element("div", { class: "words sentences", dir: "auto", lang: language });
    for (const part of field.parts) {
      let at = 0;
      for (const unit of units.filter(({ span }) => span?.field === field.name && span.start >= part.offset)) {
        const [start, end] = [unit.span.start, unit.span.end].map((offset) => utf16(part.text, offset - part.offset));
        if (start < at || end <= start) continue;
        words.append(textNodes(part.text.slice(at, start)), this.made(unit, part.text.slice(start, end), goTo));
        at = end;
      }
      words.append(textNodes(part.text.slice(at)));
    }
    this.element = element(
      "section",
      { class: `text ${field.role}`, "aria-labelledby": id },
      element("h2", { id, dir: "auto" }, field.title),
      words,
      element("span", { hidden: true, id: "sentence-finished" }, "finished"),
    );
  }

  made(unit, text, goTo) {
    const go = () => goTo(unit.position);
    const press = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      go();
    };
    const on = { click: go, keydown: press };
    const mark = element("span", { class: "sentence", role: "button", tabindex: "0", on });
    mark.append(textNodes(text));
    this.marks.set(unit.position, mark);
    return mark;
  }

  /**
   * @param {number} current
   * @param {(position: number) => boolean} isFinished
   */
  update(current, isFinished) {
    for (const [position, mark] of this.marks) {
      const finished = isFinished(position);
      mark.classList.toggle("finished", finished);
      if (position === current) mark.setAttribute("aria-current", "true");
      else mark.removeAttribute("aria-current");
      if (finished) mark.setAttribute("aria-describedby", "sentence-finished");
      else mark.removeAttribute("aria-describedby");
    }
  }

  /** @param {number} position */
  show(position) {
    this.marks.get(position)?.scrollIntoView({ block: "nearest" });
  }
}
