import type { RuntimeHost, Subscription } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import type { LiveRun } from "../model/run.ts";
import { Replay, TurnProjection } from "../projection/mod.ts";
import type { Feed } from "./feed.ts";
import type { ClientPort, Clock, Log } from "./ports.ts";

/** A Run that this connection shows from now on, and what the Client has seen of it. */
export interface Joined {
  readonly live: LiveRun;
  readonly projection: TurnProjection;
}

/**
 * A load or a resume. It runs inside an opening, before the first frame, so that history and live output cannot cross; when the
 * Subscription is lost in the middle, the next opening goes on where it was.
 */
export class Join {
  readonly #options: {
    readonly mode: "load" | "resume";
    readonly host: RuntimeHost;
    readonly client: ClientPort;
    readonly clock: Clock;
    readonly log: Log;
    readonly sessionId: string;
  };
  readonly #done = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  /** Every row up to here was replayed whole. */
  #position = 0;
  /** From the first opening on: what goes on after a lost one is the same replay of the same live Runs. */
  #history: { readonly replay: Replay; readonly adopted: readonly LiveRun[] } | undefined;

  /** Does nothing before an opening runs it. */
  constructor(options: {
    mode: "load" | "resume";
    host: RuntimeHost;
    client: ClientPort;
    clock: Clock;
    log: Log;
    sessionId: string;
  }) {
    this.#options = options;
    this.#done.promise.catch(() => {});
  }

  /** Resolves when everything that belongs before the answer was handed to the writer. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Resolves when the answer is on its way: only then may live output follow. */
  get released(): Promise<void> {
    return this.#released.promise;
  }

  /** The answer is on its way. */
  release(): void {
    this.#released.resolve();
  }

  /** It cannot be done. */
  fail(error: Error): void {
    this.#done.reject(error);
    this.#released.resolve();
  }

  /** Adopts the Runs that nobody presents, shows the history (load), and returns the Runs to show live. */
  async run(feed: Feed, subscription: Subscription, shown: ReadonlySet<string>): Promise<readonly Joined[]> {
    const adopted: LiveRun[] = [];
    for (const live of subscription.snapshot.runs) {
      if (!shown.has(live.run.turnId) && await this.#adopt(live)) adopted.push(live);
    }
    const joined = this.#options.mode === "load"
      ? await this.#load(feed, subscription, adopted, shown)
      : await this.#resume(feed, subscription, adopted);
    return joined;
  }

  /** Tells whoever waits that the history is out. */
  finish(): void {
    this.#done.resolve();
  }

  async #adopt(live: LiveRun): Promise<boolean> {
    const { host, sessionId, log } = this.#options;
    if (live.presenter === host.connectionId) return true;
    if (live.presenter !== undefined) return false;
    try {
      await host.turns.adopt({ sessionId, run: live.run });
      return true;
    } catch (error) {
      if (!(error instanceof HostError) || error.dispatch !== "answered") throw error;
      log.debug("a running Turn is shown elsewhere", { turnId: live.run.turnId, code: error.code });
      return false;
    }
  }

  async #load(
    feed: Feed,
    subscription: Subscription,
    adopted: readonly LiveRun[],
    shown: ReadonlySet<string>,
  ): Promise<readonly Joined[]> {
    const { client, sessionId, clock } = this.#options;
    this.#history ??= {
      adopted,
      replay: new Replay({ abilities: client.abilities, live: adopted.map((live) => live.run.turnId) }),
    };
    const { replay } = this.#history;
    const mine = new Set(this.#history.adopted.map((live) => live.run.turnId));
    const foreign = new Set(
      subscription.snapshot.runs.map((live) => live.run.turnId).filter((turnId) => !mine.has(turnId)),
    );
    let whole = true;
    await feed.readOn(subscription, { after: this.#position }, (row) => {
      const { turnId } = row.run;
      if (!foreign.has(turnId) && !shown.has(turnId)) {
        for (const update of replay.read(row, clock.now()).updates) client.update(sessionId, update);
      }
      const read = row.body === undefined || row.body.offset + row.body.text.length >= row.length;
      whole &&= row.complete;
      if (whole && read) this.#position = row.seq;
    });
    for (const update of replay.end().updates) client.update(sessionId, update);
    return this.#history.adopted.map((live) => ({
      live,
      projection: replay.handOver(live.run.turnId) ?? this.#fresh(live),
    }));
  }

  /** A resume shows nothing of the past: what a Run said before counts as shown, and only tools that still work are announced. */
  async #resume(
    feed: Feed,
    subscription: Subscription,
    adopted: readonly LiveRun[],
  ): Promise<readonly Joined[]> {
    const joined: Joined[] = [];
    for (const live of adopted) {
      const projection = this.#fresh(live);
      await feed.readOn(subscription, { turnId: live.run.turnId, after: live.cut }, (row) => {
        if (row.kind !== "tool" || row.complete) projection.read(row, this.#options.clock.now());
      });
      joined.push({ live, projection });
    }
    return joined;
  }

  #fresh(live: LiveRun): TurnProjection {
    return new TurnProjection(live.run.turnId, { abilities: this.#options.client.abilities });
  }
}
