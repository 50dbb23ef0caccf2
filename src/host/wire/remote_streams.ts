import type { Frame, FrameBatch, Snapshot } from "../../model/frame.ts";
import type { ClientServices, ReadPage, ReadRequest, Subscription } from "../contract.ts";
import { HostError } from "../errors.ts";
import { frameFault, isUnknownFrame } from "./frames.ts";
import { Inlet, type InletOptions } from "./inlet.ts";
import type { Link } from "./link.ts";
import type { HeldStream, Welcome } from "./protocol.ts";
import type { Requests } from "./requests.ts";
import { faultOf, type Shape } from "./shape.ts";

/** Its last frame where the Host is not there any more. */
const LOST: Frame = { type: "closed", reason: "lost" };

/** The numbered streams of a client. */
export class RemoteStreams {
  readonly #requests: Requests;
  readonly #inlets = new Map<number, { readonly inlet: Inlet<unknown>; readonly lose: () => void }>();
  #link: Link | undefined;
  #windowLength = 0;
  #state: "open" | "closed" = "open";
  #numbers = 0;

  /** None yet. */
  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Whether any of them waits for more. */
  get live(): boolean {
    for (const { inlet } of this.#inlets.values()) if (inlet.state !== "over") return true;
    return false;
  }

  /** What a client that comes back says that it holds. */
  get held(): HeldStream[] {
    return [...this.#inlets.values()].map(({ inlet: { stream, have } }) => ({ stream, have }));
  }

  /** Opens a Subscription. */
  async open(sessionId: string, services: ClientServices): Promise<Subscription> {
    const inlet = this.#begin<Frame>({ fault: frameFault, unknown: isUnknownFrame }, LOST);
    const { stream } = inlet;
    try {
      const { snapshot } = await this.#requests.ask("sessions.open", { sessionId, stream, services }, {
        stream,
      });
      inlet.opened();
      return new RemoteSubscription(snapshot, inlet, this, this.#requests);
    } catch (error) {
      this.close(inlet).catch(() => {});
      throw error;
    }
  }

  /** A feed of other items. Where the Host does not know it any more, `ask` asks for it anew. */
  async *follow<T>(
    shape: Shape<T>,
    ask: (stream: number) => Promise<unknown>,
    signal: AbortSignal,
  ): AsyncGenerator<T> {
    while (!signal.aborted && this.#state === "open") {
      const inlet = this.#begin<T>({ fault: (item) => faultOf(shape, item) });
      const stop = () => inlet.close();
      signal.addEventListener("abort", stop, { once: true });
      try {
        await ask(inlet.stream).catch((error) => {
          // What became of it is not known: it is asked for anew.
          if (signal.aborted || this.#state === "closed") return inlet.close();
          if (!(error instanceof HostError) || error.dispatch !== "unknown") throw error;
          inlet.end();
        });
        inlet.opened();
        for (;;) {
          const items = await this.next(inlet);
          if (items.length === 0) break;
          for (const item of items) if (!signal.aborted) yield item;
        }
      } finally {
        signal.removeEventListener("abort", stop);
        this.close(inlet).catch(() => {});
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
    await this.#requests.ask("streams.close", { stream, through: handed }).catch(() => {});
    this.#inlets.delete(stream);
  }

  /** The Host can be reached and says which streams go on. */
  attach(link: Link, { streams, limits }: Welcome): void {
    this.#link = link;
    this.#windowLength = limits.windowLength;
    const known = new Set(streams);
    for (const [stream, { inlet, lose }] of this.#inlets) {
      if (known.has(stream)) inlet.tell();
      // The request for it is on its way, for the first time or again.
      else if (inlet.state === "opening") inlet.reset();
      else lose();
    }
  }

  /** The link is lost. */
  detach(): void {
    this.#link = undefined;
  }

  /** Takes items of a stream; one that is over is left alone. Throws {@linkcode ProtocolError}. */
  take(stream: number, first: number, items: readonly unknown[], length: number): void {
    this.#inlets.get(stream)?.inlet.take(first, items, length);
  }

  /** The Host cannot send more of a stream. */
  lose(stream: number): void {
    this.#inlets.get(stream)?.lose();
  }

  /** The Host is not there any more. */
  loseAll(): void {
    for (const { lose } of [...this.#inlets.values()]) lose();
  }

  /** Nobody wants them any more. */
  closeAll(): void {
    this.#state = "closed";
    for (const { inlet } of this.#inlets.values()) inlet.close();
    this.#inlets.clear();
  }

  #begin<T>(options: Pick<InletOptions, "fault" | "unknown">, last?: T): Inlet<T> {
    const stream = ++this.#numbers;
    const inlet = new Inlet<T>({
      stream,
      ...options,
      ack: (through) => this.#link?.send(JSON.stringify({ type: "ack", stream, through })),
    });
    const lose = () => {
      this.#inlets.delete(stream);
      inlet.end(last);
      this.#requests.end(stream);
    };
    this.#inlets.set(stream, { inlet, lose });
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
    const frames = await this.#streams.next(this.#inlet);
    if (frames.length === 0 || frames.at(-1)?.type === "closed") this.#state = "closed";
    const first = this.#next;
    this.#next += frames.length;
    return { first, frames };
  }

  async read(request: ReadRequest): Promise<ReadPage> {
    const { stream, state } = this.#inlet;
    if (this.#state === "closed" || state === "over") {
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
