import type { Clock } from "../../model/clock.ts";
import type { EngineProfile, RuntimeHost } from "../contract.ts";
import type { Line } from "../../wire/lines.ts";
import type { Log } from "../../model/log.ts";
import type { ClientInfo, HostInfo } from "./info.ts";
import { WIRE_LIMITS, type WireLimits } from "./limits.ts";
import { Link, ProtocolError } from "./link.ts";
import { Peer } from "./peer.ts";
import {
  FEATURES,
  type Hello,
  rangeText,
  readHello,
  type Refusal,
  type RefusalReason,
  versionOf,
  VERSIONS,
  type Welcome,
} from "./protocol.ts";
import type { WireStream } from "./stream.ts";

/** What a {@linkcode HostServer} works with. */
export interface HostServerOptions {
  /** Makes the Host's side of a connection. Called once for each connection id, and again after it was released. */
  readonly connect: (connectionId: string, client: ClientInfo) => RuntimeHost;
  /** The profiles of all Engines, as they are when a client greets. */
  readonly engines: () => readonly EngineProfile[];
  /** What the welcome tells, as it is when a client greets. */
  readonly info: () => HostInfo;
  /** Names this process to clients that come back. Unique for ever. */
  readonly instance: string;
  /** Time. */
  readonly clock: Clock;
  /** Where diagnostics go. */
  readonly log: Log;
  /** Other limits than those in force. */
  readonly limits?: Partial<WireLimits>;
}

/** A connection as a status shows it. */
export interface ServedConnection {
  /** Its id, chosen by the client. */
  readonly connectionId: string;
  /** Who it is. */
  readonly client: ClientInfo;
  /** `lost`: its stream is over, and it may come back. */
  readonly state: "linked" | "lost";
}

/** What {@linkcode serveHost} works with. */
export interface ServeHostOptions extends HostServerOptions {
  /** The one stream. */
  readonly stream: WireStream;
  /** Ends the serving. */
  readonly signal?: AbortSignal;
}

/** Why a hello is refused. */
class Refused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.name = "Refused";
    this.reason = reason;
  }
}

const BYE = JSON.stringify({ type: "bye" });

/**
 * Serves a Host to any number of clients. A connection whose stream of bytes is lost is kept for `graceMs`, with all that it holds, so that
 * its client can take it up again on another stream; then it is released, as its own close would do. Runs go on in any case.
 */
export class HostServer {
  readonly #options: HostServerOptions;
  readonly #limits: WireLimits;
  readonly #links = new Set<Link>();
  readonly #peers = new Map<string, Peer>();
  /** Connections that are being released: one of the same id has to wait. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Ends the waiting for lost connections, which are in the order in which they were lost. */
  readonly #lost = new Map<Peer, AbortController>();
  #closing: Promise<void> | undefined;

  /** Serves nobody yet. */
  constructor(options: HostServerOptions) {
    this.#options = options;
    this.#limits = { ...WIRE_LIMITS, ...options.limits };
  }

  /** The connections that there are. */
  get connections(): readonly ServedConnection[] {
    return [...this.#peers.values()].map((peer) => ({
      connectionId: peer.connectionId,
      client: peer.client,
      state: peer.link === undefined ? "lost" : "linked",
    }));
  }

  /** Serves one stream until it is over. Never rejects. */
  async serve(stream: WireStream, signal?: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const link = new Link(stream, clock, this.#limits);
    this.#links.add(link);
    const stop = () => link.cut("it was ended here");
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    clock.sleep(this.#limits.helloMs, link.signal).then(() => {
      if (state === "new" || state === "greeting") link.cut("no greeting came in time");
    }, () => {});
    let state: Peer | "new" | "greeting" | "refused" = "new";
    const reason = await link.read((line) => {
      if (state === "refused") return;
      if (typeof state === "object") return state.take(link, line);
      if (state === "greeting") throw new ProtocolError("its client spoke before it was welcomed");
      state = "greeting";
      this.#greet(link, line).then((peer) => {
        state = peer;
      }, (error) => {
        state = "refused";
        this.#refuse(link, error);
      });
    });
    signal?.removeEventListener("abort", stop);
    this.#links.delete(link);
    log.debug("a stream is over", { reason });
    const left = [...this.#peers.values()].find((peer) => peer.detach(link));
    if (left !== undefined) await this.#left(left);
  }

  /** Ends all connections and their streams. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // What the Host said last is on its way first.
    await this.#options.clock.turn();
    const peers = [...this.#peers.values()];
    for (const peer of peers) peer.link?.send(BYE);
    await Promise.all([...peers.map((peer) => this.#release(peer)), ...this.#leaving.values()]);
    await Promise.all([...this.#links].map((link) => link.end("the Host is leaving", this.#limits.closeMs)));
  }

  /** Makes or finds the connection that a hello is for, and links it. */
  async #greet(link: Link, line: Line): Promise<Peer> {
    if (this.#closing !== undefined) throw new Refused("draining", "This Host is shutting down");
    if (line.kind === "oversize") throw new Refused("malformed", "The greeting is too long");
    const hello = readHello(line.text);
    const version = versionOf(VERSIONS, hello.versions);
    if (version === undefined) {
      throw new Refused(
        "version",
        `This Host speaks ${rangeText(VERSIONS)} of the protocol, its client ${rangeText(hello.versions)}: ` +
          "use the same Gangway for both",
      );
    }
    const { id } = hello.connection;
    for (let gone; (gone = this.#leaving.get(id)) !== undefined;) await gone;
    if (link.signal.aborted) throw new Refused("stale", "The stream is over");
    const peer = this.#peerOf(hello);
    this.#lost.get(peer)?.abort();
    this.#lost.delete(peer);
    link.greet();
    this.#welcome(link, peer, hello, version);
    return peer;
  }

  #peerOf({ connection: { id, key, attempt }, client }: Hello): Peer {
    const known = this.#peers.get(id);
    if (known === undefined) {
      const { connect, clock, log } = this.#options;
      const host = connect(id, client);
      const peer = new Peer({ connectionId: id, key, client, host, clock, limits: this.#limits, log });
      peer.attempt = attempt;
      this.#peers.set(id, peer);
      return peer;
    }
    if (known.key !== key) throw new Refused("unauthorized", "This connection belongs to another client");
    // A greeting that was overtaken, or sent twice, takes nothing from the one that came later.
    if (attempt <= known.attempt) throw new Refused("stale", "This connection has a newer stream");
    known.attempt = attempt;
    return known;
  }

  #welcome(link: Link, peer: Peer, hello: Hello, version: number): void {
    const { engines, info, instance } = this.#options;
    const offered = FEATURES.filter((name) => name !== "extensions" || peer.host.extensions !== undefined);
    const features = offered.filter((name) => hello.features.includes(name));
    const held = peer.welcomed && hello.resume?.instance === instance ? hello.resume.streams : undefined;
    const { streams, resume } = peer.attach(link, features, held ?? []);
    const { lineBytes, requests, windowLength, partBytes, graceMs } = this.#limits;
    const welcome: Welcome = {
      type: "welcome",
      version,
      features,
      instance,
      resumed: held !== undefined,
      streams,
      host: info(),
      engines: engines(),
      defaultEngine: peer.host.describe().engineId,
      limits: { lineBytes, requests, windowLength, partBytes, graceMs },
    };
    link.send(JSON.stringify(welcome));
    resume();
  }

  #refuse(link: Link, error: unknown): void {
    const { log } = this.#options;
    const [reason, message]: [RefusalReason, string] = error instanceof Refused
      ? [error.reason, error.message]
      : error instanceof ProtocolError
      ? ["malformed", `The greeting is malformed: ${error.message}`]
      : ["capacity", "This Host cannot take the connection now"];
    log.warn("a client was refused", { reason, message: error instanceof Error ? error.message : message });
    const refusal: Refusal = { type: "refused", reason, message, versions: VERSIONS };
    link.send(JSON.stringify(refusal));
    link.end(message, this.#limits.closeMs);
  }

  /** The stream of a connection is over: it is kept for a while where its client may come back. */
  async #left(peer: Peer): Promise<void> {
    if (!peer.resumable || this.#closing !== undefined) return await this.#release(peer);
    const { clock } = this.#options;
    const back = new AbortController();
    this.#lost.set(peer, back);
    clock.sleep(this.#limits.graceMs, back.signal).then(() => this.#release(peer), () => {});
    const [first] = this.#lost.keys();
    if (this.#lost.size > this.#limits.graceConnections && first !== undefined) await this.#release(first);
  }

  async #release(peer: Peer): Promise<void> {
    const { connectionId } = peer;
    this.#lost.get(peer)?.abort();
    this.#lost.delete(peer);
    if (this.#peers.get(connectionId) === peer) this.#peers.delete(connectionId);
    const released = peer.release();
    this.#leaving.set(connectionId, released);
    await released;
    if (this.#leaving.get(connectionId) === released) this.#leaving.delete(connectionId);
  }
}

/** Serves a Host to one client on one stream. Resolves when that is over and everything of the connection was released. */
export async function serveHost({ stream, signal, ...options }: ServeHostOptions): Promise<void> {
  const server = new HostServer(options);
  await server.serve(stream, signal);
  await server.close();
}
