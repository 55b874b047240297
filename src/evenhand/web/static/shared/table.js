/** Tables. Roles are spelled out because narrow screens lay the rows out as blocks, which would lose them. */

import { h } from "./view.js";

/**
 * Describes a table. The cells of the first column are the headers of their rows.
 * @template Row
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @param {{class?: string, caption?: Child, row?: (row: Row) => Record<string, any>}} [options]
 */
export function table(columns, rows, { class: name = "", caption, row: attributesOf = () => ({}) } = {}) {
  const titles = columns.map(({ title, class: kind, hideTitle }) =>
    h("th", { scope: "col", role: "columnheader", class: kind }, hideTitle ? h("span", { class: "unseen" }, title) : title),
  );
  const cells = (/** @type {Row} */ row) => columns.map((column, at) => cell(column, row, at === 0));
  const body = rows.map((row) => h("tr", { role: "row", ...attributesOf(row) }, cells(row)));
  return h(
    "table",
    { class: `grid ${name}`, role: "table" },
    caption ? h("caption", { class: "unseen" }, caption) : null,
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, titles)),
    h("tbody", { role: "rowgroup" }, body),
  );
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {Row} row
 * @param {boolean} isHeader
 */
function cell(column, row, isHeader) {
  const attributes = { class: column.class, "data-label": column.title };
  const role = isHeader ? { role: "rowheader", scope: "row" } : { role: "cell" };
  return h(isHeader ? "th" : "td", { ...attributes, ...role }, column.cell(row));
}
