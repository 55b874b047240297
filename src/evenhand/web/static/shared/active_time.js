/** Measures active time: the page is visible, and there was input within the last half minute. */

const IDLE_AFTER_MS = 30_000;
const LONGEST_SECONDS = 86_400; // the most that the server accepts
const INPUT = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "input", "touchstart"];

export class ActiveTime {
  constructor() {
    this.total = 0;
    this.countedUntil = performance.now();
    this.lastInput = this.countedUntil;
    this.isVisible = document.visibilityState === "visible";
    for (const type of INPUT) addEventListener(type, () => this.noteInput(), { capture: true, passive: true });
    document.addEventListener("visibilitychange", () => {
      this.noteInput();
      this.isVisible = document.visibilityState === "visible";
    });
  }

  /** Active seconds since the last call. */
  take() {
    this.count();
    const seconds = Math.min(this.total / 1000, LONGEST_SECONDS);
    this.total = 0;
    return Math.round(seconds * 10) / 10;
  }

  noteInput() {
    this.count();
    this.lastInput = this.countedUntil;
  }

  /** Counts the time up to now, but not beyond the point at which the person counts as idle. */
  count() {
    const now = performance.now();
    if (this.isVisible) this.total += Math.max(0, Math.min(now, this.lastInput + IDLE_AFTER_MS) - this.countedUntil);
    this.countedUntil = now;
  }
}
