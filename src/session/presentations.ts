import type { LiveRun, Run } from "../model/run.ts";
import { type Step, TurnProjection } from "../projection/mod.ts";
import { SessionError } from "./errors.ts";
import type { ClientPort, Clock, Log } from "./ports.ts";
import { type Owner, Presentation } from "./presentation.ts";
import { Ticker, type Ticking } from "./ticker.ts";
import { foundTurn, isStopped, type Turn } from "./turn.ts";

/** The Turns that one Attachment shows or keeps behind a fence, by `turnId`, and the one way of their updates to the Client. */
export class Presentations implements Ticking {
  readonly #client: ClientPort;
  readonly #sessionId: string;
  readonly #changed: (presentation: Presentation) => void;
  readonly #ticker: Ticker;
  readonly #all = new Map<string, Presentation>();

  /** `changed` is called after each change of a record; `signal` ends the pacing of cards. */
  constructor(options: {
    client: ClientPort;
    clock: Clock;
    log: Log;
    sessionId: string;
    signal: AbortSignal;
    changed: (presentation: Presentation) => void;
  }) {
    this.#client = options.client;
    this.#sessionId = options.sessionId;
    this.#changed = options.changed;
    this.#ticker = new Ticker(this, options);
  }

  /** Begins to show a Turn. */
  present(turn: Turn, options: { cut: number; owner: Owner; projection?: TurnProjection }): Presentation {
    const { abilities } = this.#client;
    const presentation = new Presentation(turn, {
      cut: options.cut,
      owner: options.owner,
      projection: options.projection ?? new TurnProjection(turn.turnId, { abilities }),
      changed: this.#changed,
    });
    this.#all.set(turn.turnId, presentation);
    return presentation;
  }

  /** The presentation of a live Run, which begins now where there was none. */
  of({ run, cut }: LiveRun, owner: Owner = "attachment"): Presentation {
    return this.#all.get(run.turnId) ?? this.present(foundTurn(run), { cut, owner });
  }

  /** The presentation of a Turn, fenced or not. */
  get(turnId: string): Presentation | undefined {
    return this.#all.get(turnId);
  }

  /** The presentation of a Run that is wanted: without a fence. */
  wanted(run: Run): Presentation | undefined {
    const presentation = this.#all.get(run.turnId);
    return presentation?.unwanted === undefined ? presentation : undefined;
  }

  /** All there are now; the list does not change under its reader. */
  get all(): readonly Presentation[] {
    return [...this.#all.values()];
  }

  /** Their `turnId`s. */
  get turnIds(): ReadonlySet<string> {
    return new Set(this.#all.keys());
  }

  /** Turns that may still run and whose Stop the Host has not acknowledged. */
  get unstopped(): readonly Turn[] {
    return this.all.map(({ turn }) => turn).filter((turn) => !isStopped(turn));
  }

  /**
   * What a load leaves alone: Turns on show, and those behind a fence that have not ended, which come when they have. One that goes
   * on after a lost Subscription leaves alone what it `left` before.
   */
  reshown(live: ReadonlyMap<string, LiveRun>, left: ReadonlySet<string>): ReadonlySet<string> {
    for (const presentation of this.#all.values()) {
      if (presentation.unwanted === undefined || presentation.owner === "prompt") continue;
      const { turn: { turnId }, owner } = presentation;
      const waits = live.has(turnId) || (owner === "later" && left.has(turnId));
      presentation.leave(waits ? "later" : "none");
    }
    return new Set(this.all.filter(({ owner }) => owner !== "none").map(({ turn }) => turn.turnId));
  }

  /** Puts a step on the wire, or fails the Turn with its fault. */
  show(presentation: Presentation, step: Step): void {
    // Its dialogs are taken back first: a card is left alone while one is open.
    if (step.fault !== undefined) presentation.fail(new SessionError(step.fault.code, step.fault.message));
    for (const update of step.updates) this.#client.update(this.#sessionId, update);
    if (presentation.projection.due !== undefined) this.#ticker.wake();
  }

  /** Ends the showing of a Turn, and with it its fence. */
  delete(turnId: string): void {
    this.#all.delete(turnId);
  }

  /** Ends all of it. */
  clear(): void {
    this.#all.clear();
  }

  get due(): number | undefined {
    let due: number | undefined;
    for (const { projection, unwanted } of this.#all.values()) {
      if (unwanted !== undefined || projection.due === undefined) continue;
      due = Math.min(due ?? Infinity, projection.due);
    }
    return due;
  }

  tick(now: number): void {
    for (const presentation of this.#all.values()) {
      if (presentation.unwanted === undefined) this.show(presentation, presentation.projection.tick(now));
    }
  }
}
