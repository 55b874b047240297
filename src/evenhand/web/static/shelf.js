/** What this browser keeps for one person in one study: JSON under keys; in memory only where storage is refused. */

export class Shelf {
  /** @param {string} name whose things these are; other shelves in the same browser are not touched */
  constructor(name) {
    this.prefix = `evenhand/${name}/`;
    this.storage = usable() ?? new Memory();
  }

  /** @param {string} key */
  get(key) {
    const text = this.storage.getItem(this.prefix + key);
    try {
      return text === null ? null : JSON.parse(text);
    } catch {
      return null; // not of our making
    }
  }

  /**
   * @param {string} key
   * @param {any} value
   */
  set(key, value) {
    const text = JSON.stringify(value);
    try {
      this.storage.setItem(this.prefix + key, text);
    } catch {
      this.storage = new Memory(this.storage); // the browser's room is used up: better in memory than lost
      this.storage.setItem(this.prefix + key, text);
    }
  }

  /** @param {string} key */
  remove(key) {
    this.storage.removeItem(this.prefix + key);
  }

  /** The keys in order. */
  keys() {
    const keys = [];
    for (let at = 0; at < this.storage.length; at += 1) {
      const key = this.storage.key(at);
      if (key?.startsWith(this.prefix)) keys.push(key.slice(this.prefix.length));
    }
    return keys.sort();
  }
}

/** As much of the browser's Storage as a shelf needs. */
class Memory {
  /** @param {Storage | Memory} [before] whose contents are taken over */
  constructor(before) {
    /** @type {Map<string, string>} */
    this.items = new Map();
    for (let at = 0; before && at < before.length; at += 1) {
      const key = before.key(at);
      if (key !== null) this.items.set(key, before.getItem(key) ?? "");
    }
  }

  get length() {
    return this.items.size;
  }

  /** @param {number} at */
  key(at) {
    return [...this.items.keys()][at] ?? null;
  }

  /** @param {string} key */
  getItem(key) {
    return this.items.get(key) ?? null;
  }

  /**
   * @param {string} key
   * @param {string} text
   */
  setItem(key, text) {
    this.items.set(key, text);
  }

  /** @param {string} key */
  removeItem(key) {
    this.items.delete(key);
  }
}

function usable() {
  try {
    localStorage.setItem("evenhand", "");
    localStorage.removeItem("evenhand");
    return localStorage;
  } catch {
    return null;
  }
}
