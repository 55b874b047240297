/** Numbers and times as people read them. */

const whole = new Intl.NumberFormat("en");

/** @param {number} number */
export const count = (number) => whole.format(number);

/** `1 item`, `2 items`. @param {number} number @param {string} noun @param {string} [plural] */
export const counted = (number, noun, plural = `${noun}s`) => `${count(number)} ${number === 1 ? noun : plural}`;

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}%`;

/** The interval of a share, `17–69%`. @param {[number, number]} interval */
export const percents = ([low, high]) => `${Math.round(100 * low)}–${Math.round(100 * high)}%`;

/** @param {number} value a coefficient between -1 and 1 */
export const coefficient = (value) => value.toFixed(2).replace("-", "−");

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** How long ago a moment was. @param {string} at @param {number} now milliseconds */
export function ago(at, now) {
  const minutes = Math.floor((now - Date.parse(at)) / 60_000);
  if (minutes < 2) return "just now";
  if (minutes < 120) return `${minutes} minutes ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} hours ago` : `${Math.floor(minutes / 1440)} days ago`;
}

const dateTime = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** @param {string} at */
export const formatDateTime = (at) => dateTime.format(new Date(at));

/** @param {string} at */
export const formatDate = (at) => date.format(new Date(at));

/** The time of day as this person's region writes it. @param {string | number} at */
export const localTime = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
