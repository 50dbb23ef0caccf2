import type { Clock } from "../../model/clock.ts";

/** Calls, and units of text, between two turns of the event loop. */
const CALLS = 64;
const UNITS = 32 * 1024;

const DONE: Promise<void> = Promise.resolve();

/**
 * Keeps Engines that never wait for anything real from starving the rest of the process: every so often a call is answered only
 * after the event loop had a turn. One for all Sessions, because they share the loop.
 */
export class Pace {
  readonly #clock: Clock;
  #calls = 0;
  #units = 0;
  #turn: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a call with so many units; resolves at once, or after a turn of the loop when one is due. */
  take(units: number): Promise<void> {
    if (this.#turn !== undefined) return this.#turn;
    this.#calls += 1;
    this.#units += units;
    if (this.#calls < CALLS && this.#units < UNITS) return DONE;
    this.#calls = 0;
    this.#units = 0;
    this.#turn = this.#clock.turn().then(() => {
      this.#turn = undefined;
    });
    return this.#turn;
  }
}
