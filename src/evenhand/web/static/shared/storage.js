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
    try {
      return JSON.parse(this.memory.get(key) ?? localStorage.getItem(this.prefix + key) ?? "null");
    } catch {
      return null;
    }
  }

  /** @param {string} key @param {any} value */
  set(key, value) {
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(this.prefix + key, text);
      this.memory.delete(key);
    } catch {
      this.memory.set(key, text); // storage is full or switched off
    }
  }

  /** @param {string} key */
  remove(key) {
    this.memory.delete(key);
    try {
      localStorage.removeItem(this.prefix + key);
    } catch {
      // storage is switched off: there is nothing to remove
    }
  }

  /** @returns {string[]} sorted */
  keys() {
    const own = storedKeys().filter((key) => key.startsWith(this.prefix)).map((key) => key.slice(this.prefix.length));
    return [...new Set([...own, ...this.memory.keys()])].sort();
  }
}

function storedKeys() {
  try {
    return Object.keys(localStorage);
  } catch {
    return []; // storage is switched off
  }
}
