/** Problems that the server found in a form, shown next to the fields. */

/** Removes earlier errors. @param {HTMLElement} form */
export function clearErrors(form) {
  for (const place of form.querySelectorAll("[data-field] .error")) place.textContent = "";
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

/**
 * Shows each problem next to its field and focuses the first field; returns the problems that belong to no field.
 * @param {HTMLElement} form @param {string[]} problems `body.FIELD: what is wrong`
 */
export function showErrors(form, problems) {
  /** @type {string[]} */
  const rest = [];
  /** @type {HTMLElement | null} */
  let first = null;
  for (const problem of problems) {
    const found = /^body\.([a-z_]+)[^:]*: (.*)$/s.exec(problem);
    const field = found && form.querySelector(`[data-field="${found[1]}"]:not([hidden])`);
    const place = field?.querySelector(".error");
    if (!found || !field || !place) {
      rest.push(problem);
      continue;
    }
    place.textContent = place.textContent || found[2];
    const input = /** @type {HTMLElement | null} */ (field.querySelector("input, select"));
    input?.setAttribute("aria-invalid", "true");
    first ??= input;
  }
  first?.focus();
  return rest;
}
