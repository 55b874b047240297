/** Names for raters that do not reveal who they are, so that a ruling depends only on what was said. Pure. */

/**
 * A name for each rater of a unit: `Rater A`, `Rater B` … The same rater has the same name whenever the unit is opened,
 * but another one in the next unit, so that letters do not give raters away.
 * @param {string} unit @param {{rater: string, adjudicator: boolean}[]} ratings @returns {Map<string, string>}
 */
export function aliasesOf(unit, ratings) {
  const names = new Map();
  for (const isAdjudicator of [false, true]) {
    const own = ratings.filter(({ adjudicator }) => adjudicator === isAdjudicator).map(({ rater }) => rater);
    const shuffled = [...new Set(own)].sort((a, b) => hash(unit, a) - hash(unit, b) || (a < b ? -1 : 1));
    shuffled.forEach((rater, at) => names.set(rater, `${isAdjudicator ? "Adjudicator" : "Rater"} ${letters(at)}`));
  }
  return names;
}

/** A, B … Z, AA, AB … @param {number} at @returns {string} */
function letters(at) {
  return (at >= 26 ? letters(Math.floor(at / 26) - 1) : "") + String.fromCharCode(65 + (at % 26));
}

/** FNV-1a: not secret, only an order that nobody knows by heart. @param {string} unit @param {string} rater */
function hash(unit, rater) {
  let value = 0x811c9dc5;
  for (const character of `${unit}\n${rater}`) value = Math.imul(value ^ Number(character.codePointAt(0)), 0x01000193);
  return value >>> 0;
}
