/** Making elements; there is no markup in strings anywhere on these pages. */

import { textNodes } from "./text.js";

/**
 * An element with attributes and children. An attribute that is null, undefined or false is left out; one that is true
 * is set empty; `on` holds listeners by event name. Strings among the children become text nodes.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false | (Node | string | null)[])} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/**
 * A text of others in an element of its own, in its own direction.
 * @param {string} name
 * @param {string} text
 * @param {Record<string, any>} [attributes]
 */
export function textElement(name, text, attributes = {}) {
  const made = element(name, { dir: "auto", ...attributes });
  made.append(textNodes(text));
  return made;
}

/**
 * A button; `key` is shown beside its words.
 * @param {string} words
 * @param {() => void} press
 * @param {{key?: string, class?: string, [attribute: string]: any}} [options]
 * @returns {HTMLButtonElement}
 */
export function button(words, press, { key, ...attributes } = {}) {
  const shown = key ? element("kbd", { "aria-hidden": "true" }, key) : null;
  const made = element("button", { type: "button", on: { click: press }, ...attributes }, words, shown);
  return /** @type {HTMLButtonElement} */ (made);
}

/**
 * An element that the page's template is sure to have.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}
