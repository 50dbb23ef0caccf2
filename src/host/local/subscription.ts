import type { Frame, FrameBatch, Snapshot } from "../../model/frame.ts";
import type { Limits } from "../../limits.ts";
import type { ReadPage, ReadRequest, Subscription } from "../contract.ts";
import { HostError } from "../errors.ts";
import { FrameQueue } from "./queue.ts";
import type { TranscriptReader } from "./reader.ts";

/** Why a Subscription ended, as its last frame says. */
export type CloseReason = Extract<Frame, { type: "closed" }>["reason"];

/** What a {@linkcode LocalSubscription} is made of. */
export interface SubscriptionOptions {
  readonly connectionId: string;
  readonly snapshot: Snapshot;
  readonly reader: TranscriptReader;
  readonly limits: Limits;
  /** Called when it takes no more frames, and when it is closed, with the calls to the Client that it will not hand out. */
  readonly ended: (self: LocalSubscription, lostCalls: readonly string[]) => void;
}

/** One numbered stream of frames to a connection. */
export class LocalSubscription implements Subscription {
  readonly connectionId: string;
  readonly snapshot: Snapshot;
  readonly #reader: TranscriptReader;
  readonly #queue: FrameQueue;
  readonly #ended: SubscriptionOptions["ended"];
  /** `ending`: takes no more frames, but has some that were not fetched. */
  #state: "open" | "ending" | "closed" = "open";
  /** `behind`: it did not fetch in the moment that it was given, and has not caught up since. */
  #pace: "even" | "behind" = "even";
  #fetched: PromiseWithResolvers<void> | undefined;
  #next = 1;
  #wake: (() => void) | undefined;

  constructor(options: SubscriptionOptions) {
    this.connectionId = options.connectionId;
    this.snapshot = options.snapshot;
    this.#reader = options.reader;
    this.#queue = new FrameQueue(options.limits);
    this.#ended = options.ended;
  }

  /** Whether it is full, and waiting a moment for it may help. */
  get crowded(): boolean {
    return this.#queue.full && this.#pace === "even" && this.#state === "open";
  }

  /** Resolves when its frames were fetched, or when it takes no more. */
  fetched(): Promise<void> {
    this.#fetched ??= Promise.withResolvers();
    return this.#fetched.promise;
  }

  /** Waiting did not help: from now on its frames are merged until it has caught up. */
  fallBehind(): void {
    this.#pace = "behind";
  }

  /** Takes a frame that carries so many units of text. False where it cannot; then it has ended. */
  push(frame: Frame, units: number): boolean {
    if (this.#state !== "open") return false;
    if (!this.#queue.push(frame, units)) {
      this.end("slow_consumer");
      return false;
    }
    this.#awake();
    return true;
  }

  /** Ends the stream after what is queued. */
  end(reason: CloseReason): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.#queue.end({ type: "closed", reason });
    this.#awake();
    this.#ended(this, []);
  }

  async next(): Promise<FrameBatch> {
    if (this.#queue.empty && this.#state === "open") {
      if (this.#wake !== undefined) {
        throw new HostError("invalid", "Cannot wait for frames twice at a time on one Subscription");
      }
      this.#pace = "even";
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const frames = this.#drain();
    if (this.#state === "ending") this.#state = "closed";
    const first = this.#next;
    this.#next += frames.length;
    return { first, frames };
  }

  read(request: ReadRequest): Promise<ReadPage> {
    if (this.#state !== "closed") return this.#reader.read(request);
    return Promise.reject(
      new HostError(
        "unavailable",
        "Cannot read the transcript: this Subscription has ended, open another one",
      ),
    );
  }

  close(): Promise<void> {
    if (this.#state === "closed") return Promise.resolve();
    this.#state = "closed";
    const lost = this.#drain().flatMap((frame) => frame.type === "call" ? [frame.call.callId] : []);
    this.#awake();
    this.#ended(this, lost);
    return Promise.resolve();
  }

  #drain(): Frame[] {
    this.#fetched?.resolve();
    this.#fetched = undefined;
    return this.#queue.drain();
  }

  #awake(): void {
    const wake = this.#wake;
    if (wake === undefined) return;
    this.#wake = undefined;
    wake();
  }
}
