import { unlessAborted } from "./deadline.ts";
import type { ClientPort, Clock, Log } from "./ports.ts";

/** Something with a next moment at which it wants to show more. */
export interface Ticking {
  /** In the Clock's milliseconds; undefined while nothing is wanted. */
  readonly due: number | undefined;
  /** Shows what is due. */
  tick(now: number): void;
}

/** Sends paced card snapshots when they are due, never faster than the Client reads. One timer however many cards. */
export class Ticker {
  readonly #source: Ticking;
  readonly #client: ClientPort;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  #state: "idle" | "running" = "idle";

  /** Runs nothing before it is woken. */
  constructor(source: Ticking, options: { client: ClientPort; clock: Clock; log: Log; signal: AbortSignal }) {
    this.#source = source;
    this.#client = options.client;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#signal = options.signal;
  }

  /** Looks whether something became due later on. */
  wake(): void {
    if (this.#state === "running" || this.#signal.aborted) return;
    this.#state = "running";
    this.#run()
      .catch((error) => {
        if (!this.#signal.aborted) this.#log.warn("card snapshots stopped", { reason: String(error) });
      })
      .finally(() => this.#state = "idle");
  }

  async #run(): Promise<void> {
    for (;;) {
      const { due } = this.#source;
      if (due === undefined) return;
      await this.#clock.sleep(Math.max(due - this.#clock.now(), 0), this.#signal);
      const room = this.#client.room();
      if (room !== undefined) await unlessAborted(room, this.#signal);
      this.#source.tick(this.#clock.now());
    }
  }
}
