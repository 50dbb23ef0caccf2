import type { ReadRequest, RuntimeHost, Subscription } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";
import type { Frame } from "../model/frame.ts";
import type { Row } from "../model/row.ts";
import { Bell } from "./bell.ts";
import { DeadlineError, unlessAborted, within } from "./deadline.ts";
import { SessionError } from "./errors.ts";
import { sessionErrorOf } from "./failures.ts";
import type { ClientPort, Clock, Log } from "./ports.ts";
import { servicesOf } from "./services.ts";

/** What a Feed tells the Attachment that owns it, one call at a time and in the order of the Host. */
export interface FeedEvents {
  /** A new Subscription is open; no frame of it is delivered before this resolves. A lost Subscription may reject it. */
  opened(subscription: Subscription): Promise<void>;
  /** What else comes before the first frame; asked again after each piece of work, until there is none. */
  before(subscription: Subscription): Promise<void> | undefined;
  /** Frames follow now. */
  live(subscription: Subscription): void;
  /** The next frame. A promise holds the following ones back. */
  frame(frame: Frame, subscription: Subscription): Promise<void> | undefined;
  /** No Subscription can be had any more until someone asks again. */
  failed(error: Error): void;
}

/** What a reader asks for, page by page. */
export type ReadRange = Omit<ReadRequest, "cursor" | "maxLength">;

type State =
  | { readonly kind: "idle"; readonly failure?: Error }
  | { readonly kind: "opening" }
  | { readonly kind: "open"; readonly subscription: Subscription }
  | { readonly kind: "closed"; readonly error: Error };

/** The time without a Subscription: when it is too long, and how often one was tried. */
interface Gap {
  readonly until: number;
  attempt: number;
}

/**
 * Successive Subscriptions to one Session, one at a time: opened once however many ask, kept, and opened anew after a gap, a loss or an
 * eviction. It fetches no faster than the Client reads.
 */
export class Feed {
  readonly #options: {
    readonly host: RuntimeHost;
    readonly client: ClientPort;
    readonly clock: Clock;
    readonly log: Log;
    readonly sessionId: string;
  };
  readonly #events: FeedEvents;
  readonly #bell = new Bell();
  readonly #over = new AbortController();
  #state: State = { kind: "idle" };
  /** Whether the Subscription that is being opened will do, or only one that is asked for after it. */
  #wanted: "any" | "newer" = "any";
  /** Whether there was an opening: from then on a loss is recovered from. */
  #known = false;

  /** Opens nothing yet. */
  constructor(
    options: { host: RuntimeHost; client: ClientPort; clock: Clock; log: Log; sessionId: string },
    events: FeedEvents,
  ) {
    this.#options = options;
    this.#events = events;
  }

  /** Aborts when the Feed is closed. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Whether a Subscription is open or being opened. */
  get attached(): boolean {
    return this.#state.kind === "open" || this.#state.kind === "opening";
  }

  get #outdated(): boolean {
    return this.#wanted === "newer";
  }

  /** Waits for an open Subscription. Rejects when it cannot be opened; the next call tries again. */
  async ready(signal: AbortSignal): Promise<Subscription> {
    if (this.#state.kind === "idle") this.#start();
    return await this.#bell.until(() => {
      switch (this.#state.kind) {
        case "open":
          return this.#state.subscription;
        case "closed":
          throw this.#state.error;
        case "idle":
          throw this.#state.failure ?? new SessionError("host_unavailable", "The Host cannot be reached");
        case "opening":
          return undefined;
      }
    }, signal);
  }

  /** Gives the present Subscription up, if there is one, and opens the next. */
  reopen(): void {
    if (this.#state.kind === "idle") return this.#start();
    this.#wanted = "newer";
    if (this.#state.kind !== "open") return;
    const { subscription } = this.#state;
    this.#state = { kind: "opening" };
    this.#release(subscription);
  }

  /**
   * Reads the transcript page by page, as fast as the Client takes what comes of it. When the Subscription is lost it begins again on
   * the next one: `range` is asked anew, so that it says what is held by then. Rejects with `host_unavailable` when no row comes for
   * `recoveryMs`, however often a Subscription is opened.
   */
  async read(range: () => ReadRange, take: (row: Row) => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let until = clock.now() + LIMITS.recoveryMs;
    for (;;) {
      const subscription = await this.ready(signal);
      let rows = 0;
      try {
        return await this.readOn(subscription, range(), (row) => (rows++, take(row)), signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!isLoss(error)) throw error;
        if (rows > 0) until = clock.now() + LIMITS.recoveryMs;
        if (clock.now() >= until) {
          throw new SessionError("host_unavailable", "The Host does not show what is in the transcript");
        }
        // Whatever was lost, the next Subscription can be read again.
        if (this.#state.kind === "open" && this.#state.subscription === subscription) this.reopen();
      }
    }
  }

  /** Reads on one Subscription. Its loss rejects: `unavailable`, or a {@linkcode DeadlineError} where a page does not come. */
  async readOn(
    subscription: Subscription,
    range: ReadRange,
    take: (row: Row) => void,
    signal: AbortSignal = this.#over.signal,
  ): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await within(
        this.#options.clock,
        LIMITS.readMs,
        "a page of the transcript",
        subscription.read({ ...range, cursor, maxLength: LIMITS.pageLength }),
        signal,
      );
      for (const row of page.rows) take(row);
      const room = this.#options.client.room();
      if (room !== undefined) await unlessAborted(room, signal);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Ends everything without waiting for the Host. Whoever waits gets `error`. */
  close(error: Error): void {
    if (this.#state.kind === "closed") return;
    const subscription = this.#state.kind === "open" ? this.#state.subscription : undefined;
    this.#state = { kind: "closed", error };
    this.#over.abort(error);
    this.#bell.ring();
    if (subscription !== undefined) this.#release(subscription);
  }

  #release(subscription: Subscription): void {
    subscription.close().catch((cause) =>
      this.#options.log.warn("a Subscription did not close", { reason: String(cause) })
    );
  }

  #start(): void {
    this.#state = { kind: "opening" };
    this.#pump().catch((cause) => {
      if (this.#state.kind === "closed") return;
      const failure = sessionErrorOf(cause, this.#options.sessionId);
      this.#state = { kind: "idle", failure };
      this.#events.failed(failure);
      this.#bell.ring();
    });
  }

  async #pump(): Promise<void> {
    const { clock, client, log } = this.#options;
    let gap: Gap | undefined;
    while (!this.#over.signal.aborted) {
      gap ??= { until: clock.now() + LIMITS.recoveryMs, attempt: 0 };
      const subscription = await this.#open(gap);
      try {
        const wanted = await this.#prepare(subscription);
        gap = undefined;
        if (!wanted) continue;
        const reason = await this.#follow(subscription);
        if (reason === "removed") throw new SessionError("unknown_session", "The Session was removed");
        log.debug("a Subscription ended", { reason });
      } catch (error) {
        // A read that lost its Subscription is no more than the loss itself.
        if (!isLoss(error)) throw error;
      } finally {
        if (this.#state.kind === "open") this.#state = { kind: "opening" };
        this.#bell.ring();
        this.#release(subscription);
      }
      // After an eviction the writer drains first, so that the next Subscription begins with room.
      await unlessAborted(Promise.resolve(client.room()), this.#over.signal);
    }
  }

  /** Opens the next Subscription. With something to recover it keeps trying; without, the first refusal is the answer. */
  async #open(gap: Gap): Promise<Subscription> {
    const { host, sessionId, clock, client } = this.#options;
    const services = servicesOf(client.abilities);
    for (;;) {
      const attempt = gap.attempt++;
      // The first loss is made good at once.
      if (attempt > 1) await clock.sleep(Math.min(25 * 2 ** (attempt - 2), 1000), this.#over.signal);
      const left = Math.max(gap.until - clock.now(), 1);
      this.#wanted = "any";
      const opening = host.sessions.open(sessionId, services);
      try {
        // An answer that was lost must not use up all the time that there is.
        const patience = Math.min(LIMITS.startMs * 2 ** attempt, left);
        const subscription = await within(clock, patience, "opening the Session", opening, this.#over.signal);
        this.#known = true;
        return subscription;
      } catch (error) {
        // Whichever comes too late is let go again.
        opening.then((late) => this.#release(late), () => {});
        const again = error instanceof DeadlineError || (this.#known && isLoss(error));
        if (this.#over.signal.aborted || !again || clock.now() >= gap.until) throw error;
      }
    }
  }

  /** Takes in what comes before the first frame. False where the Subscription is not wanted any more. */
  async #prepare(subscription: Subscription): Promise<boolean> {
    // It may have come in the moment of the close.
    if (this.#over.signal.aborted || this.#outdated) return false;
    await this.#events.opened(subscription);
    for (;;) {
      if (this.#state.kind === "closed" || this.#outdated) return false;
      const work = this.#events.before(subscription);
      if (work === undefined) break;
      await work;
    }
    this.#state = { kind: "open", subscription };
    this.#events.live(subscription);
    this.#bell.ring();
    return true;
  }

  async #follow(subscription: Subscription): Promise<string> {
    let expected = 1;
    for (;;) {
      // Closing the Subscription ends a waiting `next`: no signal is needed on the hot path.
      const { first, frames } = await subscription.next();
      if (frames.length === 0 || this.#over.signal.aborted) return "ended";
      if (first !== expected) {
        this.#calls(frames, subscription);
        return "gap";
      }
      expected = first + frames.length;
      for (let index = 0; index < frames.length; index++) {
        const frame = frames[index]!;
        if (frame.type === "closed") return frame.reason;
        const work = this.#events.frame(frame, subscription);
        if (work === undefined) continue;
        await work.catch((error) => {
          this.#calls(frames.slice(index + 1), subscription);
          throw error;
        });
      }
      const room = this.#options.client.room();
      if (room !== undefined) await unlessAborted(room, this.#over.signal);
    }
  }

  /** Hands over the calls of a batch that is given up: what else was in it can be read again, calls never come again. */
  #calls(frames: readonly Frame[], subscription: Subscription): void {
    for (const frame of frames) if (frame.type === "call") this.#events.frame(frame, subscription);
  }
}

function isLoss(error: unknown): boolean {
  return error instanceof DeadlineError || error instanceof HostError && error.code === "unavailable";
}
