/** What the server found wrong, shown beside the fields of a form. */

/**
 * Takes earlier errors away.
 * @param {HTMLElement} form
 */
export function clearErrors(form) {
  for (const place of form.querySelectorAll("[data-field] .error")) {
    /** @type {HTMLElement} */ (place).hidden = true;
    place.textContent = "";
  }
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

/**
 * Shows each problem beside its field, and goes to the first; gives back those that belong to no field.
 * @param {HTMLElement} form
 * @param {string[]} problems `body.FIELD: what is wrong`
 */
export function showErrors(form, problems) {
  const left = [];
  let first = null;
  for (const problem of problems) {
    const found = /^body\.([a-z_]+)[^:]*: (.*)$/s.exec(problem);
    const field = found && form.querySelector(`[data-field="${found[1]}"]:not([hidden])`);
    const place = field?.querySelector(".error");
    if (!found || !field || !(place instanceof HTMLElement)) {
      left.push(problem);
      continue;
    }
    place.textContent = place.textContent || found[2];
    place.hidden = false;
    const input = field.querySelector("input, select");
    input?.setAttribute("aria-invalid", "true");
    first ??= input;
  }
  if (first instanceof HTMLElement) first.focus();
  return left;
}
