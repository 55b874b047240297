/** Double clicks: the second half of one is meant for what was there at the first, never for what came in its place. */

/** What answers, finishes or goes on, and could be hit unread. */
const GUARDED = ".unit, .asking, .sentence, .bar .primary, .outcomes";

let isNew = false;

/** Says that what is on the page now is not what was there before: a task, a unit, or what a dialog had covered. */
export function renewed() {
  isNew = true;
}

/** Lets no click through that only goes on with an earlier one, where the page was renewed between the two. */
export function guardDoubleClicks() {
  document.addEventListener("click", (event) => {
    if (event.detail <= 1) {
      if (event.detail === 1) isNew = false; // 0: a key pressed a button
      return;
    }
    if (!isNew || !(event.target instanceof Element) || !event.target.closest(GUARDED)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
}
