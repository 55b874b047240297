/** The keyboard shortcuts of the rating and adjudication pages, and the dialog that lists them. */

import { openDialog } from "../shared/dialogs.js";
import { listenForShortcuts } from "../shared/keyboard.js";
import { h } from "../shared/view.js";

/** @type {{shown: string[], names: string[], action: KeyAction | null, help: string}[]} */
const KEYS = [
  { shown: ["1 – 9"], names: [..."123456789"], action: "digit", help: "Choose a level by its number, a label by its position" },
  { shown: ["0"], names: ["0"], action: "digit", help: "Unanswerable, or level 0" },
  { shown: ["Enter"], names: ["Enter"], action: "accept", help: "Accept and go on to the next step" },
  { shown: ["Ctrl", "Enter"], names: ["Ctrl+Enter"], action: "finish", help: "Finish and continue; also while typing" },
  { shown: ["↑", "↓"], names: ["ArrowUp", "ArrowDown"], action: "stepCriterion", help: "Previous or next criterion" },
  { shown: ["←", "→"], names: [], action: null, help: "Move between the choices; Space selects" },
  { shown: ["[", "]"], names: ["[", "]"], action: "stepUnit", help: "Previous or next sentence, question, claim or dispute" },
  { shown: ["U"], names: ["u"], action: "undo", help: "Undo the last answer; again for the one before" },
  { shown: ["X"], names: ["x"], action: "cannotAssess", help: "Cannot assess" },
  { shown: ["S"], names: ["s"], action: "leaveOut", help: "Leave out an optional criterion" },
  { shown: ["R"], names: ["r"], action: "rationale", help: "Write why" },
  { shown: ["N"], names: ["n"], action: "notes", help: "Write notes" },
  { shown: ["C"], names: ["c"], action: "cite", help: "Cite the selected words" },
  { shown: ["E"], names: ["e"], action: "chooseEvidence", help: "Choose evidence from a list" },
  { shown: ["H"], names: ["h"], action: "names", help: "Hide or show names" },
  { shown: ["B"], names: ["b"], action: "back", help: "Back to the previous task" },
  { shown: ["T"], names: ["t"], action: "tasks", help: "Your tasks" },
  { shown: ["G"], names: ["g"], action: "guideline", help: "Guideline" },
  { shown: ["Esc"], names: [], action: null, help: "Leave a text field, close a dialog" },
  { shown: ["?"], names: ["?"], action: "help", help: "This list" },
];

/** Listens for the keys of the actions that a page has. @param {KeyActions} actions */
export function bindKeys(actions) {
  const bindings = KEYS.flatMap(({ names, action }) => {
    const run = action && actions[action];
    return run ? names.map((name) => [name, run]) : [];
  });
  listenForShortcuts(Object.fromEntries(bindings));
}

/** @param {KeyActions} actions */
export function openKeyHelp(actions) {
  const known = KEYS.filter(({ action }) => action === null || actions[action]);
  const keys = (/** @type {string[]} */ shown) => h("dt", {}, shown.map((key) => h("kbd", {}, key)));
  const rows = known.map(({ shown, help }) => h("div", {}, keys(shown), h("dd", {}, help)));
  const hint = h("p", { class: "muted small" }, "Shortcuts are off while you type in a field.");
  openDialog("Keys", [h("dl", { class: "keys" }, rows), hint]);
}
