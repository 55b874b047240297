/** Which field stands where. Pure. */

const SHORT = ["label", "number"];

/**
 * The shown fields of an item, parted: `beside`, under a `name`, is read against what is rated; `facts` are short;
 * `context` comes before the rated texts, and `rated` are those. With `together`, what is rated stands beside, and has
 * to be in view with the criteria on every screen.
 *
 * Evidence and references stand beside. Where there is no evidence, the other texts do: what is rated with its context
 * or, for questions, the text in which the answers are sought. A text whose sentences are rated stays with the criteria.
 * @param {any} form
 * @param {any} task
 */
export function placed(form, task) {
  const parts = new Map(task.fields.map((field) => [field.name, field.parts]));
  const given = form.fields.filter((spec) => parts.has(spec.name));
  const fields = given.map((spec) => ({ ...spec, parts: parts.get(spec.name) }));
  const isShort = (field) => SHORT.includes(field.kind);
  const texts = (...roles) => fields.filter((field) => roles.includes(field.role) && !isShort(field));
  const facts = fields.filter((field) => isShort(field) && field.role !== "rated");
  const rated = fields.filter((field) => field.role === "rated");
  if (form.unit === "question") {
    const beside = [...texts("context"), ...rated, ...texts("evidence", "reference")];
    return { name: "Text", beside, facts, context: [], rated: [], together: false };
  }
  if (texts("evidence").length > 0) {
    const beside = [...texts("evidence"), ...texts("reference")];
    return { name: "Evidence", beside, facts, context: texts("context"), rated, together: false };
  }
  const others = texts("context", "reference");
  if (form.unit === "item" && texts("rated").length > 0) {
    const short = rated.filter(isShort);
    return { name: "Text", beside: [...texts("rated"), ...others], facts, context: [], rated: short, together: true };
  }
  return { name: "Background", beside: others, facts, context: [], rated, together: false };
}
