/**
 * The page as descriptions: elements are described as plain objects, and `render` changes on the page only what differs
 * from them. Focus, selection and scrolling survive. Nothing is ever parsed as markup.
 */

const SVG = "http://www.w3.org/2000/svg";
const BIDI_OVERRIDE = /([\u202D\u202E])/u;

/** @type {WeakMap<Node, {key: string, attributes: Record<string, any>}>} */
const rendered = new WeakMap();

/**
 * Describes an element. An attribute that is null, undefined or false is left out, true makes it empty, and a function
 * is a listener (`onclick`). Children are matched with what is on the page by their position or by the attribute `key`.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...Child} children @returns {ViewNode}
 */
export function h(tag, attributes = {}, ...children) {
  return { tag, attributes, children };
}

/**
 * Describes an element that holds a text from a study, in the text's own direction.
 * @param {string} tag @param {string} text @param {Record<string, any>} [attributes]
 */
export function textElement(tag, text, attributes = {}) {
  return h(tag, { dir: "auto", ...attributes }, isolated(text));
}

/**
 * A text from a study as children. Each bidirectional override is isolated in an element that shows it, so that it
 * cannot reorder anything else. Together the children hold exactly the text.
 * @param {string} text @returns {Child[]}
 */
export function isolated(text) {
  return text.split(BIDI_OVERRIDE).map((piece) => {
    if (!BIDI_OVERRIDE.test(piece)) return piece;
    const code = `U+${piece.charCodeAt(0).toString(16).toUpperCase()}`;
    return h("bdi", { class: "control", "data-code": code }, piece);
  });
}

/**
 * Describes a button. `shortcut` is the key shown next to its label.
 * @param {string} label @param {(event: MouseEvent) => void} onclick
 * @param {{shortcut?: string, [attribute: string]: any}} [options] @param {...Child} more
 */
export function button(label, onclick, { shortcut, ...attributes } = {}, ...more) {
  const hint = shortcut ? h("kbd", { "aria-hidden": "true" }, shortcut) : null;
  return h("button", { type: "button", onclick, ...attributes }, label, hint, ...more);
}

/** Describes a row of buttons and the like. @param {...Child} children */
export const row = (...children) => h("div", { class: "row" }, ...children);

/**
 * Makes the children of an element those described, and its own attributes, if given.
 * @param {Element} container @param {Child[]} children @param {Record<string, any>} [attributes]
 */
export function render(container, children, attributes) {
  patchChildren(container, children);
  if (!attributes) return;
  patchAttributes(container, rendered.get(container)?.attributes ?? {}, attributes);
  rendered.set(container, { key: "", attributes });
}

/** An element that the page's template is sure to have. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** @param {Element} parent @param {Child[]} children */
function patchChildren(parent, children) {
  const wanted = keyed(children);
  const present = new Map(Array.from(parent.childNodes, (node) => [rendered.get(node)?.key, node]));
  /** @type {Map<string, Node>} */
  const kept = new Map();
  for (const [key, child] of wanted) {
    const node = present.get(key);
    if (node && fits(node, child)) kept.set(key, node);
  }
  const stays = new Set(kept.values());
  for (const node of [...parent.childNodes]) if (!stays.has(node)) node.remove();
  wanted.forEach(([key, child], at) => {
    const node = kept.get(key) ?? create(parent, child);
    patch(node, key, child);
    if (parent.childNodes[at] !== node) parent.insertBefore(node, parent.childNodes[at] ?? null);
  });
}

/**
 * The children that are there, each with a key that does not depend on which of its siblings are.
 * @param {Child[]} children @param {string} [prefix] @returns {[string, ViewNode | string][]}
 */
function keyed(children, prefix = "") {
  return children.flatMap((child, at) => {
    if (Array.isArray(child)) return keyed(child, `${prefix}${at}.`);
    if (child === null || child === undefined || child === false || child === "") return [];
    const key = typeof child === "string" ? undefined : child.attributes.key;
    return [[prefix + (key === undefined ? at : `#${key}`), child]];
  });
}

/** @param {Node} node @param {ViewNode | string} child */
function fits(node, child) {
  return typeof child === "string" ? node instanceof Text : node instanceof Element && node.localName === child.tag;
}

/** @param {Element} parent @param {ViewNode | string} child */
function create(parent, child) {
  if (typeof child === "string") return document.createTextNode(child);
  const isSvg = child.tag === "svg" || parent.namespaceURI === SVG;
  return isSvg ? document.createElementNS(SVG, child.tag) : document.createElement(child.tag);
}

/** @param {Node} node @param {string} key @param {ViewNode | string} child */
function patch(node, key, child) {
  if (typeof child === "string") {
    if (node.nodeValue !== child) node.nodeValue = child;
    rendered.set(node, { key, attributes: {} });
    return;
  }
  const element = /** @type {Element} */ (node);
  patchChildren(element, child.children);
  patchAttributes(element, rendered.get(node)?.attributes ?? {}, child.attributes);
  rendered.set(node, { key, attributes: child.attributes });
}

/** @param {any} element @param {Record<string, any>} before @param {Record<string, any>} after */
function patchAttributes(element, before, after) {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const value = after[name] ?? false;
    if (name === "key") continue;
    if (typeof value === "function" || typeof before[name] === "function") element[name] = value || null;
    else if (name === "value") setValue(element, value);
    else if ((before[name] ?? false) === value) continue;
    else if (value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** A value is compared with the page, where people change it. @param {any} element @param {string | number} value */
function setValue(element, value) {
  if (element.value !== value) element.value = value;
}
