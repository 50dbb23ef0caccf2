import type { RuntimeHost } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";
import type { Run } from "../model/run.ts";
import { within } from "./deadline.ts";
import type { Clock, Log } from "./ports.ts";
import type { Presentation } from "./presentation.ts";
import { nextEffect } from "./turn.ts";

/** Sends what a Turn's record wants: a query after a lost reply, a Stop of the observed Run. Each answer is an event that may want more. */
export class Reconciler {
  readonly #options: {
    readonly host: RuntimeHost;
    readonly clock: Clock;
    readonly log: Log;
    readonly sessionId: string;
    readonly signal: AbortSignal;
  };

  /** `signal` ends the waiting between tries, not a command that is out. */
  constructor(
    options: { host: RuntimeHost; clock: Clock; log: Log; sessionId: string; signal: AbortSignal },
  ) {
    this.#options = options;
  }

  /** Derives the next command from the record and sends it. Call it after each change. */
  reconcile(presentation: Presentation): void {
    const effect = nextEffect(presentation.turn);
    if (effect?.kind === "query") this.#query(presentation, effect.settle);
    else if (effect?.kind === "stop") this.#stop(presentation, effect.run);
  }

  #query(presentation: Presentation, settle: boolean): void {
    const { host, sessionId, clock, log, signal } = this.#options;
    const { turnId, query } = presentation.turn;
    presentation.record({ type: "asked" });
    const ask = async () => {
      if (query.tries > 0) await clock.sleep(50 * 2 ** query.tries, signal);
      const answer = host.turns.query({ sessionId, turnId, settle });
      return await within(clock, LIMITS.queryMs, "what became of the Turn", answer, signal);
    };
    ask().then(
      (state) => presentation.record({ type: "answered", state }),
      (error) => {
        if (signal.aborted) return;
        log.warn("the Host did not say what became of a Turn", { turnId, reason: String(error) });
        presentation.record({ type: "unanswered" });
      },
    );
  }

  #stop(presentation: Presentation, run: Run): void {
    const { host, sessionId, clock, log, signal } = this.#options;
    const { tries } = presentation.turn.stop;
    presentation.record({ type: "stop_sent" });
    const stop = async () => {
      if (tries > 0) await clock.sleep(50 * 2 ** tries, signal);
      await within(clock, LIMITS.queryMs, "stopping the Turn", host.turns.stop({ sessionId, run }), signal);
    };
    stop().then(
      () => presentation.record({ type: "stop_taken" }),
      (error) => {
        log.warn("a Stop was not acknowledged", { turnId: run.turnId, reason: String(error) });
        const refused = error instanceof HostError && error.dispatch === "answered" &&
          error.code !== "unavailable";
        presentation.record({ type: refused || signal.aborted ? "stop_refused" : "stop_unknown" });
      },
    );
  }
}
