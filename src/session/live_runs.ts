import { Bell } from "./bell.ts";
import { busyError } from "./failures.ts";
import type { Clock } from "./ports.ts";
import { LIMITS } from "../limits.ts";
import type { LiveRun } from "../model/run.ts";
import { within } from "./deadline.ts";

/** The Runs of one Session that have not ended as far as was seen, whoever started them. One of them may hold the foreground slot. */
export class LiveRuns {
  readonly #clock: Clock;
  readonly #byTurn = new Map<string, LiveRun>();
  readonly #bell = new Bell();

  /** Knows of none. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All of them, by their Turns. */
  get byTurn(): ReadonlyMap<string, LiveRun> {
    return this.#byTurn;
  }

  /** The one in the foreground slot. */
  get foreground(): LiveRun | undefined {
    for (const live of this.#byTurn.values()) if (live.foreground) return live;
    return undefined;
  }

  /** Waits while another Run holds the foreground slot, at most {@linkcode Limits.busyWaitMs}, then throws `run_busy`. */
  async free(signal: AbortSignal): Promise<void> {
    const holder = this.foreground;
    if (holder === undefined) return;
    const free = this.until(() => this.foreground === undefined, signal);
    try {
      await within(this.#clock, LIMITS.busyWaitMs, "the running Turn", free, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      throw busyError((this.foreground ?? holder).run);
    }
  }

  /** Waits until something holds, looking again at each {@linkcode changed}. */
  async until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    await this.#bell.until(() => holds() || undefined, signal);
  }

  /** One began, or moved on. Nobody is woken before {@linkcode changed}. */
  put(live: LiveRun): void {
    this.#byTurn.set(live.run.turnId, live);
  }

  /** One ended; it is returned where it was known. Nobody is woken before {@linkcode changed}. */
  take(turnId: string): LiveRun | undefined {
    const live = this.#byTurn.get(turnId);
    this.#byTurn.delete(turnId);
    return live;
  }

  /** None is known any more. Nobody is woken before {@linkcode changed}. */
  clear(): void {
    this.#byTurn.clear();
  }

  /** What followed from a change was done: whoever waits looks again. */
  changed(): void {
    this.#bell.ring();
  }
}
