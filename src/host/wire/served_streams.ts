import type { Clock } from "../../model/clock.ts";
import type { Frame } from "../../model/frame.ts";
import type { Log } from "../../model/log.ts";
import type { RuntimeHost, Subscription } from "../contract.ts";
import { HostError } from "../errors.ts";
import { extensionsOf } from "./handlers.ts";
import type { WireLimits } from "./limits.ts";
import type { Link } from "./link.ts";
import type { OperationGives, OperationOf } from "./operations.ts";
import { Outlet, type OutletOptions } from "./outlet.ts";
import { pack } from "./packing.ts";
import type { HeldStream } from "./protocol.ts";

/** A stream of a connection. */
interface ServedStream {
  /** What it was asked for: another request for the same number has to ask for the same. */
  readonly about: string;
  /** Resolves when it is open. */
  opened: Promise<void>;
  outlet?: Pick<Outlet<unknown>, "follows" | "resume" | "detach" | "ack" | "close">;
  subscription?: Subscription;
}

/** The numbered streams of one connection, at the Host's end. */
export class ServedStreams {
  readonly #host: RuntimeHost;
  readonly #clock: Clock;
  readonly #limits: WireLimits;
  readonly #log: Log;
  readonly #streams = new Map<number, ServedStream>();
  #link: Link | undefined;

  /** None yet. */
  constructor(host: RuntimeHost, clock: Clock, limits: WireLimits, log: Log) {
    this.#host = host;
    this.#clock = clock;
    this.#limits = limits;
    this.#log = log;
  }

  /** Opens a Subscription, or finds the one that this number has. */
  async open(
    { sessionId, stream, services }: OperationOf<"sessions.open">,
  ): Promise<OperationGives<"sessions.open">> {
    const served = this.#begin(stream, `Session ${sessionId}`, async (served) => {
      const subscription = await this.#host.sessions.open(sessionId, services);
      if (this.#streams.get(stream) !== served) return await subscription.close();
      served.subscription = subscription;
      this.#serve<Frame>(stream, served, {
        pull: async () => (await subscription.next()).frames,
        release: () => this.#freed(subscription.close()),
        pack,
        callIn: (frame) => frame.type === "call" ? frame.call.callId : undefined,
        unseen: (callIds) => {
          for (const callId of callIds) this.#refuse(sessionId, callId);
        },
      });
    });
    await served.opened;
    if (served.subscription === undefined) throw over();
    return { snapshot: served.subscription.snapshot };
  }

  /** Watches lists. */
  watch(stream: number): Promise<void> {
    return this.#begin(
      stream,
      "lists",
      (served) => this.#follow(stream, served, (signal) => this.#host.watch(signal)),
    )
      .opened;
  }

  /** Listens to what Engines say beyond the contract. */
  listen({ stream, services }: OperationOf<"extensions.listen">): Promise<void> {
    return this.#begin(
      stream,
      "extensions",
      (served) => this.#follow(stream, served, (signal) => extensionsOf(this.#host).listen(services, signal)),
    ).opened;
  }

  /** Reads the transcript that belongs to a Subscription. */
  async read({ stream, request }: OperationOf<"streams.read">): Promise<OperationGives<"streams.read">> {
    const served = this.#streams.get(stream);
    await served?.opened;
    if (served?.subscription === undefined) throw over();
    const maxLength = Math.min(request.maxLength, this.#limits.pageLength);
    return await served.subscription.read({ ...request, maxLength });
  }

  /** Ends a stream. One that there is not is over already. */
  close({ stream, through }: OperationOf<"streams.close">): void {
    const served = this.#streams.get(stream);
    this.#streams.delete(stream);
    served?.outlet?.close(through);
  }

  /** The consumer took items. */
  ack(stream: number, through: number): void {
    this.#streams.get(stream)?.outlet?.ack(through);
  }

  /** The connection has no stream of bytes any more. */
  detach(): void {
    this.#link = undefined;
    for (const { outlet } of this.#streams.values()) outlet?.detach();
  }

  /** The connection has one again and holds these: the others end. Returns those that go on, and what sends them. */
  attach(
    link: Link,
    held: readonly HeldStream[],
  ): { readonly streams: number[]; readonly resume: () => void } {
    this.#link = link;
    const have = new Map(held.map((each) => [each.stream, each.have]));
    for (const [stream, { outlet }] of this.#streams) {
      const from = have.get(stream);
      if (from === undefined || outlet?.follows(from) === false) this.close({ stream, through: from ?? 0 });
    }
    return {
      streams: [...this.#streams.keys()],
      resume: () => {
        for (const [stream, { outlet }] of this.#streams) outlet?.resume(link, have.get(stream) ?? 0);
      },
    };
  }

  /** Ends all of them. */
  closeAll(): void {
    for (const stream of [...this.#streams.keys()]) this.close({ stream, through: 0 });
  }

  #begin(stream: number, about: string, open: (served: ServedStream) => Promise<void>): ServedStream {
    const known = this.#streams.get(stream);
    if (known !== undefined) {
      if (known.about === about) return known;
      throw new HostError("conflict", `Stream ${stream} is open for something else`);
    }
    if (this.#streams.size >= this.#limits.streams) {
      throw new HostError("capacity", `This connection has ${this.#limits.streams} streams already`);
    }
    const served: ServedStream = { about, opened: Promise.resolve() };
    this.#streams.set(stream, served);
    served.opened = open(served).catch((error) => {
      if (this.#streams.get(stream) === served) this.#streams.delete(stream);
      throw error;
    });
    return served;
  }

  #serve<T>(
    stream: number,
    served: ServedStream,
    parts: Omit<OutletOptions<T>, "stream" | "windowLength" | "lineBytes" | "turn">,
  ): void {
    const { windowLength, lineBytes } = this.#limits;
    const outlet = new Outlet<T>({
      stream,
      windowLength,
      lineBytes,
      turn: () => this.#clock.turn(),
      ...parts,
      release: () => {
        if (this.#streams.get(stream) === served) this.#streams.delete(stream);
        parts.release();
      },
    });
    served.outlet = outlet;
    outlet.start(this.#link);
  }

  #follow<T>(
    stream: number,
    served: ServedStream,
    begin: (signal: AbortSignal) => AsyncIterable<T>,
  ): Promise<void> {
    const over = new AbortController();
    const items = begin(over.signal)[Symbol.asyncIterator]();
    this.#serve(stream, served, {
      pull: async () => {
        const { done, value } = await items.next();
        return done === true ? [] : [value];
      },
      release: () => {
        over.abort();
        this.#freed(items.return?.() ?? Promise.resolve());
      },
    });
    return Promise.resolve();
  }

  #freed(closing: Promise<unknown>): void {
    closing.catch((error) => this.#log.warn("a stream did not close", { reason: String(error) }));
  }

  #refuse(sessionId: string, callId: string): void {
    this.#host.calls.fail({
      sessionId,
      callId,
      code: -32603,
      message: "The editor does not serve this Turn any more",
    })
      .catch((error) => this.#log.debug("a call could not be refused", { callId, reason: String(error) }));
  }
}

function over(): HostError {
  return new HostError("unavailable", "This Subscription has ended, open another one");
}
