/** What this browser stores for one person in one study: JSON under keys, in memory if the browser has no room for it. */

export class BrowserStorage {
  /** @param {string} name of the person and study; nothing else in the browser is touched */
  constructor(name) {
    this.prefix = `evenhand/${name}/`;
    /** @type {Map<string, string>} what localStorage refused */
    this.memory = new Map();
  }

  /** @param {string} key @returns {any} null if there is nothing, or nothing of ours */
  get(key) {
    return attempt(() => JSON.parse(this.memory.get(key) ?? localStorage.getItem(this.prefix + key) ?? "null"));
  }

  /** @param {string} key @param {any} value */
  set(key, value) {
    const text = JSON.stringify(value);
    this.memory.set(key, text);
    attempt(() => {
      localStorage.setItem(this.prefix + key, text);
      this.memory.delete(key);
    });
  }

  /** @param {string} key */
  remove(key) {
    this.memory.delete(key);
    attempt(() => localStorage.removeItem(this.prefix + key));
  }

  /** @returns {string[]} sorted */
  keys() {
    const stored = attempt(() => Object.keys(localStorage)) ?? [];
    const own = stored.filter((key) => key.startsWith(this.prefix)).map((key) => key.slice(this.prefix.length));
    return [...new Set([...own, ...this.memory.keys()])].sort();
  }
}

/**
 * The result of an action; null if it fails: storage is full or switched off, or holds something else.
 * @template T @param {() => T} action
 */
function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
