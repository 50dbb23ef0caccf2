import { setImmediate } from "node:timers";
import type { Clock } from "../../src/model/clock.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #now = 0;
  #order = 0;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  /** How many sleepers there are: what is left in the process. */
  get sleepers(): number {
    return this.#timers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        reject(signal?.reason);
      };
      const timer: Timer = {
        at: this.#now + Math.max(ms, 0),
        order: this.#order++,
        wake: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      this.#timers.push(timer);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  turn(): Promise<void> {
    return settle();
  }

  /** Moves on, waking sleepers in order and letting each do all it can before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= until)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (due === undefined) break;
      this.#timers.splice(this.#timers.indexOf(due), 1);
      this.#now = Math.max(this.#now, due.at);
      due.wake();
      await settle();
    }
    this.#now = until;
  }
}

/** Resolves when no promise has anything left to do: two rounds of the event loop without I/O. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 2; round++) await new Promise<void>((resolve) => setImmediate(() => resolve()));
}
