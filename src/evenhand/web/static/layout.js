/** Which field stands where. Pure. */

const SHORT = ["label", "number"];

/**
 * The shown fields of an item, parted: `beside`, under a `name`, is read against what is rated; `facts` are short;
 * `context` comes before the rated texts, and `rated` are those.
 *
 * Evidence and references stand beside. Where there are none, the other texts do: the context of what is rated or, for
 * questions, the text in which the answers are sought.
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
    return { name: "Text", beside, facts, context: [], rated: [] };
  }
  if (texts("evidence").length > 0) {
    const beside = [...texts("evidence"), ...texts("reference")];
    return { name: "Evidence", beside, facts, context: texts("context"), rated };
  }
  return { name: "Background", beside: texts("context", "reference"), facts, context: [], rated };
}
