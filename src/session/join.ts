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

/** What a load or a resume is about. */
interface Scope {
  /** Of the Host that was there when it began. */
  readonly hostEpoch: string;
  readonly adopted: readonly LiveRun[];
  /** Runs of others that were live at one of its openings. */
  readonly others: LiveRun[];
  /** Turns that are not replayed: those of others, and those that are on show. */
  readonly left: Set<string>;
  readonly replay: Replay;
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
  #state: "working" | "finished" = "working";
  readonly #done = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  /** Every row up to here was replayed whole. */
  #position = 0;
  readonly #claimed = new Set<string>();
  /** From the first opening on. */
  #scope: Scope | undefined;

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

  /** Whether the past is shown. */
  get mode(): "load" | "resume" {
    return this.#options.mode;
  }

  /** Whether everything that belongs before the answer was handed to the writer. */
  get finished(): boolean {
    return this.#state === "finished";
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
    const scope = this.#scope ??= await this.#begin(subscription, shown);
    // What began since then is shown live, here or elsewhere.
    for (const turnId of shown) scope.left.add(turnId);
    const adopted = new Set(scope.adopted.map((live) => live.run.turnId));
    for (const live of subscription.snapshot.runs) {
      const { turnId } = live.run;
      if (adopted.has(turnId) || scope.left.has(turnId)) continue;
      scope.left.add(turnId);
      scope.others.push(live);
    }
    return this.#options.mode === "load"
      ? await this.#load(feed, subscription, scope)
      : await this.#resume(feed, subscription, scope);
  }

  /** Whether it is the one who shows this Turn, once it has got so far. */
  claims(turnId: string): boolean {
    return this.#claimed.has(turnId);
  }

  /** The Host that was there when it began. */
  get hostEpoch(): string | undefined {
    return this.#scope?.hostEpoch;
  }

  /** Whether it was decided what belongs to it. */
  get begun(): boolean {
    return this.#scope !== undefined;
  }

  /** Turns that are not replayed. */
  get left(): ReadonlySet<string> {
    return this.#scope?.left ?? new Set();
  }

  /** Runs that were left to others. */
  get others(): readonly LiveRun[] {
    return this.#scope?.others ?? [];
  }

  /** Tells whoever waits that the history is out. */
  finish(): void {
    this.#state = "finished";
    this.#done.resolve();
  }

  async #adopt(live: LiveRun): Promise<boolean> {
    const { host, sessionId, log } = this.#options;
    if (live.presenter === host.connectionId) {
      this.#claimed.add(live.run.turnId);
      return true;
    }
    if (live.presenter !== undefined) return false;
    // Whatever becomes of the answer: the Host may take this connection for the presenter from here on.
    this.#claimed.add(live.run.turnId);
    try {
      await host.turns.adopt({ sessionId, run: live.run });
      return true;
    } catch (error) {
      const decided = error instanceof HostError && error.dispatch === "answered" &&
        error.code !== "unavailable";
      if (!decided) throw error;
      this.#claimed.delete(live.run.turnId);
      log.debug("a running Turn is shown elsewhere", { turnId: live.run.turnId, code: error.code });
      return false;
    }
  }

  /** Decides once what belongs to it: what goes on after a lost opening shows the same Turns. */
  async #begin({ snapshot }: Subscription, shown: ReadonlySet<string>): Promise<Scope> {
    const adopted: LiveRun[] = [];
    for (const live of snapshot.runs) {
      if (!shown.has(live.run.turnId) && await this.#adopt(live)) adopted.push(live);
    }
    const { abilities } = this.#options.client;
    const replay = new Replay({ abilities, live: adopted.map((live) => live.run.turnId) });
    return { hostEpoch: snapshot.hostEpoch, adopted, others: [], left: new Set(), replay };
  }

  async #load(
    feed: Feed,
    subscription: Subscription,
    { adopted, left, replay }: Scope,
  ): Promise<readonly Joined[]> {
    const { client, sessionId, clock } = this.#options;
    let whole = true;
    const { last } = subscription.snapshot;
    await feed.readOn(subscription, { after: this.#position, through: last }, (row) => {
      const { turnId } = row.run;
      if (!left.has(turnId)) {
        for (const update of replay.read(row, clock.now()).updates) client.update(sessionId, update);
      }
      const read = row.body === undefined || row.body.offset + row.body.text.length >= row.length;
      whole &&= row.complete;
      if (whole && read) this.#position = row.seq;
    });
    for (const update of replay.end().updates) client.update(sessionId, update);
    return adopted.map((live) => ({
      live,
      projection: replay.handOver(live.run.turnId) ?? this.#fresh(live),
    }));
  }

  /** A resume shows nothing of the past: what a Run said before counts as shown, and only tools that still work are announced. */
  async #resume(
    feed: Feed,
    subscription: Subscription,
    { adopted }: Scope,
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
