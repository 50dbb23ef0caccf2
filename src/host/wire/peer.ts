import type { Clock } from "../../model/clock.ts";
import type { Log } from "../../model/log.ts";
import type { Json } from "../../model/json.ts";
import type { Line } from "../../wire/lines.ts";
import type { RuntimeHost } from "../contract.ts";
import { HostError } from "../errors.ts";
import { HANDLERS } from "./handlers.ts";
import type { ClientInfo } from "./info.ts";
import type { WireLimits } from "./limits.ts";
import { fits, type Link } from "./link.ts";
import { featureOf, isOperation, type OperationName, OPERATIONS } from "./operations.ts";
import { type HeldStream, idInHead, readClientMessage, wireErrorOf } from "./protocol.ts";
import { ServedStreams } from "./served_streams.ts";
import { faultOf } from "./shape.ts";

/** What a {@linkcode Peer} is made of. */
export interface PeerOptions {
  readonly connectionId: string;
  /** Known to the client of this connection alone. */
  readonly key: string;
  readonly client: ClientInfo;
  readonly host: RuntimeHost;
  readonly clock: Clock;
  readonly limits: WireLimits;
  readonly log: Log;
}

/** A request that is at work. */
interface Work {
  readonly drop: AbortController;
}

const PONG = JSON.stringify({ type: "pong" });
const BYE = JSON.stringify({ type: "bye" });

/**
 * One connection at the Host's end. It outlives its streams of bytes: one at a time is linked to it, and whatever comes on an earlier one
 * has no effect any more.
 */
export class Peer {
  readonly connectionId: string;
  readonly key: string;
  readonly client: ClientInfo;
  /** Of the newest hello. */
  attempt = 0;
  readonly #host: RuntimeHost;
  readonly #limits: WireLimits;
  readonly #log: Log;
  readonly #streams: ServedStreams;
  #link: Link | undefined;
  #welcomed = false;
  #features: ReadonlySet<string> = new Set();
  #working = 0;
  #works = new Map<number, Work>();
  #farewell: "none" | "said" = "none";
  #released: Promise<void> | undefined;

  /** Linked to nothing yet. */
  constructor(options: PeerOptions) {
    this.connectionId = options.connectionId;
    this.key = options.key;
    this.client = options.client;
    this.#host = options.host;
    this.#limits = options.limits;
    this.#log = options.log;
    this.#streams = new ServedStreams(options.host, options.clock, options.limits, options.log);
  }

  /** The Host as this connection sees it. */
  get host(): RuntimeHost {
    return this.#host;
  }

  /** The stream of bytes that it is linked to. */
  get link(): Link | undefined {
    return this.#link;
  }

  /** Whether it was linked before. */
  get welcomed(): boolean {
    return this.#welcomed;
  }

  /** Whether its client may come back for it. */
  get resumable(): boolean {
    return this.#farewell === "none" && this.#features.has("resume");
  }

  /** Links it to a new stream of bytes; an earlier one is cut. Returns the streams that go on, and what sends them again. */
  attach(
    link: Link,
    features: readonly string[],
    held: readonly HeldStream[],
  ): { readonly streams: number[]; readonly resume: () => void } {
    const before = this.#link;
    this.#welcomed = true;
    this.#link = link;
    this.#features = new Set(features);
    this.#drop();
    before?.cut("its connection has another one");
    return this.#streams.attach(link, held);
  }

  /** The stream of bytes is over. False where it was not the one that it is linked to. */
  detach(link: Link): boolean {
    if (this.#link !== link) return false;
    this.#link = undefined;
    this.#drop();
    this.#streams.detach();
    return true;
  }

  /** Ends the connection and frees what it holds. Runs go on. Shared by all who ask. */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  /** Takes a line that came on a stream of bytes. */
  take(link: Link, line: Line): void {
    if (link !== this.#link) return;
    if (line.kind === "oversize") {
      const id = idInHead(line.head);
      const sentence = `A line may have at most ${this.#limits.lineBytes} bytes`;
      if (id === undefined) return this.#fault(link, sentence);
      return this.#refuse(
        link,
        id,
        new HostError("capacity", sentence, { data: { limit: this.#limits.lineBytes } }),
      );
    }
    const read = readClientMessage(line.text);
    if ("fault" in read) {
      if (read.id === undefined) return this.#fault(link, read.fault);
      return this.#refuse(link, read.id, new HostError("invalid", `The request is malformed: ${read.fault}`));
    }
    const { message } = read;
    switch (message.type) {
      case "ask":
        return this.#ask(link, message.id, message.op, message.of);
      case "drop":
        this.#works.get(message.id)?.drop.abort(new Error("The answer is not wanted any more"));
        this.#works.delete(message.id);
        return;
      case "ack":
        return this.#streams.ack(message.stream, message.through);
      case "ping":
        link.send(PONG);
        return;
      case "pong":
        return;
      case "bye":
        this.#farewell = "said";
        this.release().finally(() => {
          link.send(BYE);
          link.end("its client said goodbye", this.#limits.closeMs);
        });
    }
  }

  /** Answers of what is at work go nowhere any more. */
  #drop(): void {
    for (const { drop } of this.#works.values()) drop.abort(new Error("The connection was lost"));
    this.#works = new Map();
  }

  async #release(): Promise<void> {
    this.#streams.closeAll();
    try {
      await this.#host.close();
    } catch (error) {
      this.#log.warn("a connection did not close", {
        connectionId: this.connectionId,
        reason: String(error),
      });
    }
  }

  #ask(link: Link, id: number, op: string, of: Json): void {
    if (this.#released !== undefined) {
      return this.#refuse(
        link,
        id,
        new HostError("unavailable", "This connection is closed", { dispatch: "not_sent" }),
      );
    }
    if (!isOperation(op) || !this.#offers(op)) {
      const name = op.slice(0, 64);
      return this.#refuse(
        link,
        id,
        new HostError("invalid", `This Host has no operation "${name}"`, { data: { op: name } }),
      );
    }
    if (this.#working >= this.#limits.requests) {
      const sentence = `This connection has ${this.#limits.requests} requests at work already`;
      return this.#refuse(link, id, new HostError("capacity", sentence, { dispatch: "not_sent" }));
    }
    this.#work(link, id, op, of);
  }

  #offers(op: OperationName): boolean {
    const feature = featureOf(op);
    return feature === undefined || this.#features.has(feature);
  }

  #work<N extends OperationName>(link: Link, id: number, op: N, of: Json): void {
    const parsed = OPERATIONS[op].of.safeParse(of);
    if (!parsed.success) {
      const fault = faultOf(OPERATIONS[op].of, of);
      return this.#refuse(link, id, new HostError("invalid", `Cannot do "${op}": ${fault}`));
    }
    const work: Work = { drop: new AbortController() };
    this.#works.set(id, work);
    this.#working++;
    const context = {
      host: this.#host,
      streams: this.#streams,
      limits: this.#limits,
      signal: work.drop.signal,
    };
    attempt(() => HANDLERS[op](parsed.data, context)).then(
      (value) => this.#answer(link, id, work, JSON.stringify({ type: "reply", id, value })),
      (error) =>
        this.#answer(link, id, work, JSON.stringify({ type: "reply", id, error: wireErrorOf(error) })),
    ).finally(() => this.#working--);
  }

  #answer(link: Link, id: number, work: Work, line: string): void {
    if (this.#works.get(id) !== work) return;
    this.#works.delete(id);
    if (fits(line, this.#limits.lineBytes)) return void link.send(line);
    this.#refuse(link, id, new HostError("capacity", "The answer is too large to be sent"));
  }

  #refuse(link: Link, id: number, error: HostError): void {
    link.send(JSON.stringify({ type: "reply", id, error: wireErrorOf(error) }));
  }

  #fault(link: Link, message: string): void {
    link.send(JSON.stringify({ type: "fault", message }));
  }
}

/** What it throws at once is a rejection too. */
async function attempt<T>(act: () => Promise<T>): Promise<T> {
  return await act();
}
