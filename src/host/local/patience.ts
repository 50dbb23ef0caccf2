import type { Clock } from "../../model/clock.ts";
import type { Fanout } from "./fanout.ts";
import type { LocalSubscription } from "./subscription.ts";

/**
 * Lets an Engine that is faster than an editor's reading wait a moment, so that frames arrive as they were made instead of merged.
 * The moment is bounded: a Subscription that it did not help is not waited for again until it has caught up, so that nobody's
 * stalled editor holds up work.
 */
export class Patience {
  readonly #fanout: Fanout;
  readonly #clock: Clock;
  readonly #ms: number;
  #waiting: Promise<void> | undefined;

  /** `ms` is the moment's length; 0 for never waiting. */
  constructor(fanout: Fanout, clock: Clock, ms: number) {
    this.#fanout = fanout;
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Undefined while every Subscription keeps up; else a promise for the end of the moment, or of the signal's Run. Never rejects. */
  wait(signal: AbortSignal): Promise<void> | undefined {
    const crowded = this.#ms > 0 ? this.#fanout.crowded() : undefined;
    if (crowded === undefined) return undefined;
    this.#waiting ??= this.#wait(crowded, signal).finally(() => this.#waiting = undefined);
    return this.#waiting;
  }

  async #wait(subscription: LocalSubscription, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const moment = this.#clock.sleep(this.#ms, AbortSignal.any([over.signal, signal]))
      .then(() => subscription.fallBehind(), () => {});
    await Promise.race([subscription.fetched(), moment]);
    over.abort("over");
  }
}
