/** Names for raters that do not say who they are, so that a ruling goes by what was said. Pure. */

/**
 * A name for each rater of a unit: `Rater A`, `Rater B` …; the same in this unit whenever it is looked at, another in
 * the next, so that nobody is known by a letter.
 * @param {string} unit
 * @param {{rater: string, adjudicator: boolean}[]} ratings
 * @returns {Map<string, string>}
 */
export function aliasesOf(unit, ratings) {
  const names = new Map();
  for (const [isAdjudicator, word] of /** @type {[boolean, string][]} */ ([[false, "Rater"], [true, "Adjudicator"]])) {
    const raters = new Set(ratings.filter((rating) => rating.adjudicator === isAdjudicator).map((rating) => rating.rater));
    const shuffled = [...raters].sort((a, b) => mixed(unit, a) - mixed(unit, b) || (a < b ? -1 : 1));
    shuffled.forEach((rater, at) => names.set(rater, `${word} ${letters(at)}`));
  }
  return names;
}

/** A, B … Z, AA, AB … */
function letters(at) {
  return (at >= 26 ? letters(Math.floor(at / 26) - 1) : "") + String.fromCharCode(65 + (at % 26));
}

/** A number that a unit and a rater make together (FNV-1a): not secret, only without an order that anybody knows. */
function mixed(unit, rater) {
  let hash = 0x811c9dc5;
  for (const unitOfCode of `${unit}\n${rater}`) hash = Math.imul(hash ^ unitOfCode.codePointAt(0), 0x01000193);
  return hash >>> 0;
}
