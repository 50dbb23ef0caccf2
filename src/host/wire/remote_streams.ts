import type { Frame, FrameBatch, Snapshot } from "../../model/frame.ts";
import type { ClientServices, ReadPage, ReadRequest, Subscription } from "../contract.ts";
import { HostError } from "../errors.ts";
import { frameFault, isUnknownFrame } from "./frames.ts";
import { Inlet, type InletOptions } from "./inlet.ts";
import type { Link } from "./link.ts";
import type { Log } from "../../model/log.ts";
import { unpack } from "./packing.ts";
import type { HeldStream } from "./protocol.ts";
import type { Requests } from "./requests.ts";
import { faultOf, type Shape } from "./shape.ts";

/** Its last frame where the Host is not there any more. */
const LOST: Frame = { type: "closed", reason: "lost" };

/** Its last frame where its connection was closed here. */
const RELEASED: Frame = { type: "closed", reason: "released" };

/** A stream that the Host may have. */
interface Held {
  readonly inlet: Inlet<unknown>;
  /** The Host does not have it any more. */
  readonly lose: () => void;
  /** Its last item where the connection is closed. */
  readonly last: unknown;
}

/** The numbered streams of a client. */
export class RemoteStreams {
  readonly #requests: Requests;
  readonly #log: Log;
  readonly #inlets = new Map<number, Held>();
  #link: Link | undefined;
  #windowLength = 0;
  #state: "open" | "closed" = "open";
  #numbers = 0;

  /** None yet. */
  constructor(requests: Requests, log: Log) {
    this.#requests = requests;
    this.#log = log;
  }

  /** Whether any of them waits for more. */
  get live(): boolean {
    for (const { inlet } of this.#inlets.values()) if (inlet.expectant) return true;
    return false;
  }

  /** What a client that comes back says that it holds. */
  get held(): HeldStream[] {
    return [...this.#inlets.values()].map(({ inlet: { stream, have } }) => ({ stream, have }));
  }

  /** Opens a Subscription. */
  async open(sessionId: string, services: ClientServices): Promise<Subscription> {
    const inlet = this.#begin<Frame>({ fault: frameFault, unknown: isUnknownFrame, unpack }, LOST, RELEASED);
    const { stream } = inlet;
    try {
      const { snapshot } = await this.#requests.ask("sessions.open", { sessionId, stream, services }, {
        stream,
      });
      inlet.opened();
      return new RemoteSubscription(snapshot, inlet, this, this.#requests);
    } catch (error) {
      this.close(inlet);
      throw error;
    }
  }

  /** A feed of other items, from now on. Where the Host does not know it any more, `ask` asks for it anew. */
  follow<T>(
    shape: Shape<T>,
    ask: (stream: number) => Promise<unknown>,
    signal: AbortSignal,
  ): AsyncGenerator<T> {
    const begin = () => {
      const inlet = this.#begin<T>({ fault: (item) => faultOf(shape, item) });
      const opened = ask(inlet.stream).then(() => inlet.opened(), (error) => {
        inlet.end();
        // What became of it is not known: it is asked for anew.
        if (!(error instanceof HostError) || error.dispatch !== "unknown") throw error;
      });
      opened.catch(() => {});
      return { inlet, opened };
    };
    return this.#follow(begin(), begin, signal);
  }

  async *#follow<T>(
    first: { readonly inlet: Inlet<T>; readonly opened: Promise<void> },
    begin: () => { readonly inlet: Inlet<T>; readonly opened: Promise<void> },
    signal: AbortSignal,
  ): AsyncGenerator<T> {
    for (let feed = first; !signal.aborted && this.#state === "open"; feed = begin()) {
      const { inlet, opened } = feed;
      const stop = () => inlet.close();
      signal.addEventListener("abort", stop, { once: true });
      try {
        for (;;) {
          const items = await this.next(inlet);
          if (items.length === 0) break;
          for (const item of items) if (!signal.aborted) yield item;
        }
        if (!signal.aborted && this.#state === "open") await opened;
      } finally {
        signal.removeEventListener("abort", stop);
        this.close(inlet);
      }
    }
  }

  /** The next items of a stream. */
  next<T>(inlet: Inlet<T>): Promise<readonly T[]> {
    return inlet.next(this.#windowLength);
  }

  /** Ends a stream at both ends. Never rejects. */
  async close(inlet: Inlet<unknown>): Promise<void> {
    const { stream, handed } = inlet;
    inlet.close();
    if (!this.#inlets.has(stream)) return;
    this.#requests.end(stream);
    try {
      await this.#requests.ask("streams.close", { stream, through: handed });
      this.#inlets.delete(stream);
    } catch {
      // The next welcome tells whether the Host still has it.
    }
  }

  /** The Host can be reached and says which streams go on. */
  attach(link: Link, streams: readonly number[], windowLength: number): void {
    this.#link = link;
    this.#windowLength = windowLength;
    const known = new Set(streams);
    for (const [stream, { inlet, lose }] of this.#inlets) {
      if (known.has(stream)) {
        inlet.tell();
        if (inlet.state === "closed") this.close(inlet);
      } else if (inlet.state === "opening") {
        // The request for it is on its way, for the first time or again.
        inlet.reset();
      } else lose();
    }
  }

  /** The link is lost. */
  detach(): void {
    this.#link = undefined;
  }

  /** Takes items of a stream; one that is over is left alone. What is wrong with them costs that stream, and no other. */
  take(stream: number, first: number, items: readonly unknown[], length: number): void {
    const held = this.#inlets.get(stream);
    try {
      held?.inlet.take(first, items, length);
    } catch (error) {
      this.#log.warn("a stream was given up", { stream, reason: String(error) });
      held?.lose();
      this.#requests.ask("streams.close", { stream, through: held?.inlet.handed ?? 0 }).catch(() => {});
    }
  }

  /** The Host cannot send more of a stream. */
  lose(stream: number): void {
    this.#inlets.get(stream)?.lose();
  }

  /** The Host is not there any more. */
  loseAll(): void {
    for (const { lose } of [...this.#inlets.values()]) lose();
  }

  /** The connection is closed. */
  closeAll(): void {
    this.#state = "closed";
    for (const { inlet, last } of this.#inlets.values()) inlet.end(last);
    this.#inlets.clear();
  }

  #begin<T>(options: Omit<InletOptions, "stream" | "ack">, lost?: T, closed?: T): Inlet<T> {
    const stream = ++this.#numbers;
    const inlet = new Inlet<T>({
      stream,
      ...options,
      ack: (through) => this.#link?.send(JSON.stringify({ type: "ack", stream, through })),
    });
    const lose = () => {
      this.#inlets.delete(stream);
      inlet.end(lost);
      this.#requests.end(stream);
    };
    this.#inlets.set(stream, { inlet, lose, last: closed });
    return inlet;
  }
}

/** A Subscription to a Session of another process. It goes on where it was when the connection is lost and comes back. */
class RemoteSubscription implements Subscription {
  readonly snapshot: Snapshot;
  readonly #inlet: Inlet<Frame>;
  readonly #streams: RemoteStreams;
  readonly #requests: Requests;
  #state: "open" | "closed" = "open";
  #next = 1;

  constructor(snapshot: Snapshot, inlet: Inlet<Frame>, streams: RemoteStreams, requests: Requests) {
    this.snapshot = snapshot;
    this.#inlet = inlet;
    this.#streams = streams;
    this.#requests = requests;
  }

  async next(): Promise<FrameBatch> {
    if (this.#inlet.awaited) {
      throw new HostError("invalid", "Cannot wait for frames twice at a time on one Subscription");
    }
    const frames = this.#state === "closed" ? [] : await this.#streams.next(this.#inlet);
    if (frames.length === 0 || frames.at(-1)?.type === "closed") this.#state = "closed";
    const first = this.#next;
    this.#next += frames.length;
    return { first, frames };
  }

  async read(request: ReadRequest): Promise<ReadPage> {
    const { stream, expectant } = this.#inlet;
    if (this.#state === "closed" || !expectant) {
      throw new HostError(
        "unavailable",
        "Cannot read the transcript: this Subscription has ended, open another one",
      );
    }
    return await this.#requests.ask("streams.read", { stream, request }, { stream });
  }

  async close(): Promise<void> {
    this.#state = "closed";
    await this.#streams.close(this.#inlet);
  }
}
