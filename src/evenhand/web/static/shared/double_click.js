/** Double clicks: the second click is meant for what was there at the first, never for what replaced it. */

/** What answers, finishes or continues, and could be hit unread. */
const GUARDED = ".unit, .unit-row, .sentence, .bar .primary, .results";

let hasChanged = false;

/** Reports that the page now shows something else: a task, a unit, or what a dialog had covered. */
export function pageChanged() {
  hasChanged = true;
}

/** Stops the second click of a double click if the page changed between the two. */
export function guardDoubleClicks() {
  document.addEventListener("click", (event) => {
    if (event.detail <= 1) {
      if (event.detail === 1) hasChanged = false; // 0: a key pressed the button
      return;
    }
    if (!hasChanged || !(event.target instanceof Element) || !event.target.closest(GUARDED)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
}
