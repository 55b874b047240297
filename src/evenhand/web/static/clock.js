/** How long somebody has really been at it: the page in view, and something done within the last half minute. */

const STILL = 30_000;
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "input", "touchstart"];

export class Clock {
  constructor() {
    this.total = 0;
    this.since = performance.now();
    this.sign = this.since;
    this.running = document.visibilityState === "visible";
    for (const sign of SIGNS) addEventListener(sign, () => this.touch(), { capture: true, passive: true });
    document.addEventListener("visibilitychange", () => this.look());
  }

  /** Seconds at work since this was last asked, or since the beginning. */
  take() {
    this.settle();
    const seconds = Math.min(this.total / 1000, 86_400);
    this.total = 0;
    return Math.round(seconds * 10) / 10;
  }

  touch() {
    this.settle();
    this.sign = this.since;
  }

  look() {
    this.settle();
    this.running = document.visibilityState === "visible";
    this.sign = this.since;
  }

  /** Counts what has passed up to now, but not beyond the time after which somebody is taken to have gone. */
  settle() {
    const now = performance.now();
    if (this.running) this.total += Math.max(0, Math.min(now, this.sign + STILL) - this.since);
    this.since = now;
  }
}
