import type { Clock, Ids } from "../../model/clock.ts";
import type { Line } from "../../wire/lines.ts";
import type { Log } from "../../model/log.ts";
import type {
  EngineProfile,
  HostArtifacts,
  HostCalls,
  HostExtensions,
  HostGrants,
  HostInteractions,
  HostSessions,
  HostTurns,
  RuntimeHost,
  SessionChange,
} from "../contract.ts";
import { HostError, replyOf } from "../errors.ts";
import { sessionChange } from "./frames.ts";
import type { ClientInfo, HostInfo } from "./info.ts";
import { WIRE_LIMITS, type WireLimits } from "./limits.ts";
import type { Link } from "./link.ts";
import { ProtocolError } from "./link.ts";
import type { OperationGives, OperationName, OperationOf } from "./operations.ts";
import { FEATURES, type Hello, readHostMessage, VERSIONS, type Welcome } from "./protocol.ts";
import { RemoteStreams } from "./remote_streams.ts";
import { Requests } from "./requests.ts";
import type { WireStream } from "./stream.ts";
import { Tether } from "./tether.ts";
import { extensionEvent } from "./values.ts";

/** What a {@linkcode RemoteHost} works with. */
export interface RemoteHostOptions {
  /** Makes the next stream to the Host, or rejects. The signal aborts when nobody wants it any more. */
  readonly dial: (signal: AbortSignal) => Promise<WireStream>;
  /** Time. */
  readonly clock: Clock;
  /** Where new ids come from. */
  readonly ids: Ids;
  /** Where diagnostics go. */
  readonly log: Log;
  /** Other limits than those in force. */
  readonly limits?: Partial<WireLimits>;
  /** Who this is; Gangway's own name where absent. */
  readonly client?: ClientInfo;
  /** The id of this connection; a new one where absent. */
  readonly connectionId?: string;
  /** At least 0 and below 1: varies the time between attempts. */
  readonly random?: () => number;
}

const PONG = JSON.stringify({ type: "pong" });
const BYE = JSON.stringify({ type: "bye" });

/** What a Session was last bound to here. */
type Binding = OperationOf<"sessions.bind">;

/**
 * A Host in another process. When the stream to it is lost, another one is dialed as long as something needs it: Subscriptions go on
 * from the last frame that came, operations by key are sent again, once operations fail as `unknown` where they had left and wait where
 * they had not. Every operation is settled within `limits.requestMs`, or `limits.agentMs`
 * where an agent may be asked for a Session that it keeps.
 */
export class RemoteHost implements RuntimeHost {
  readonly connectionId: string;
  readonly sessions: HostSessions;
  readonly turns: HostTurns;
  readonly interactions: HostInteractions;
  readonly calls: HostCalls;
  readonly artifacts: HostArtifacts;
  readonly grants: HostGrants;
  readonly #extensions: HostExtensions;
  readonly #limits: WireLimits;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #key: string;
  readonly #client: ClientInfo;
  readonly #requests: Requests;
  readonly #streams: RemoteStreams;
  readonly #tether: Tether;
  /** What Sessions were bound to; a Host that has forgotten this connection is told again. */
  readonly #bindings = new Map<string, Binding>();
  readonly #unbound = new Set<string>();
  #link: Link | undefined;
  #welcome: Welcome | undefined;
  #closing: Promise<void> | undefined;

  /** Connects. Rejects with {@linkcode HostError} where the Host cannot be reached, or where no version is spoken by both. */
  static async connect(options: RemoteHostOptions): Promise<RemoteHost> {
    const host = new RemoteHost(options);
    await host.#tether.begin();
    return host;
  }

  private constructor(options: RemoteHostOptions) {
    const { clock, ids, log, dial, random = Math.random } = options;
    this.connectionId = options.connectionId ?? ids.next();
    this.#key = ids.next();
    this.#client = options.client ?? { name: "gangway", version: "0" };
    this.#limits = { ...WIRE_LIMITS, ...options.limits };
    this.#clock = clock;
    this.#log = log;
    this.#requests = new Requests(clock, this.#limits);
    this.#streams = new RemoteStreams(this.#requests, log);
    this.#tether = new Tether({ dial, clock, log, limits: this.#limits, random }, {
      hello: (attempt) => this.#hello(attempt),
      needed: () => this.#requests.size > 0 || this.#streams.live,
      linked: (link, welcome) => this.#linked(link, welcome),
      line: (line) => this.#take(line),
      unlinked: (reason) => {
        this.#link = undefined;
        this.#streams.detach();
        this.#requests.detach(reason);
      },
      failed: (error) => this.#requests.hinder(error.message),
      lost: (error) => {
        this.#streams.loseAll();
        this.#requests.refuse(error);
      },
    });
    this.sessions = this.#sessions();
    this.turns = {
      start: (request) => replyOf(() => this.#ask("turns.start", request)),
      query: (request) => this.#ask("turns.query", request),
      stop: (request) => this.#do("turns.stop", request),
      steer: (request) => this.#do("turns.steer", request),
      adopt: (request) => this.#do("turns.adopt", request),
    };
    this.interactions = {
      query: (request) => this.#ask("interactions.query", request),
      answer: (request) => this.#do("interactions.answer", request),
    };
    this.calls = {
      settle: (request) => this.#do("calls.settle", request),
      fail: (request) => this.#do("calls.fail", request),
    };
    this.artifacts = this.#artifacts();
    this.#extensions = {
      listen: (services, signal) =>
        this.#streams.follow(
          extensionEvent,
          (stream) => this.#ask("extensions.listen", { stream, services }, { stream }),
          signal,
        ),
      call: (message, signal) => this.#ask("extensions.call", message, { signal }),
      notify: (message) => this.#do("extensions.notify", message),
      answer: (request) => this.#do("extensions.answer", request),
    };
    this.grants = {
      list: (sessionId) => this.#ask("grants.list", { sessionId }),
      revoke: (request) => this.#do("grants.revoke", request),
    };
  }

  /** What goes beyond the contract; absent where the Host passes nothing on. */
  get extensions(): HostExtensions | undefined {
    return this.#greeted.features.includes("extensions") ? this.#extensions : undefined;
  }

  /** What the Host told of itself in its last welcome. */
  get info(): HostInfo {
    return this.#greeted.host;
  }

  describe(engineId?: string): EngineProfile {
    const { engines, defaultEngine } = this.#greeted;
    const found = engines.find((profile) => profile.engineId === (engineId ?? defaultEngine));
    if (found !== undefined) return found;
    const known = engines.map((profile) => `"${profile.engineId}"`).join(", ");
    throw new HostError("invalid", `There is no agent "${engineId ?? defaultEngine}"; there are ${known}`);
  }

  watch(signal: AbortSignal): AsyncIterable<SessionChange> {
    return this.#streams.follow(
      sessionChange,
      (stream) => this.#ask("watch", { stream }, { stream }),
      signal,
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  get #greeted(): Welcome {
    if (this.#welcome !== undefined) return this.#welcome;
    throw new HostError("unavailable", "The Host cannot be reached", { dispatch: "not_sent" });
  }

  async #close(): Promise<void> {
    const link = this.#link;
    this.#streams.closeAll();
    this.#requests.close();
    if (link !== undefined) {
      link.send(BYE);
      // The Host ends the stream when everything is released.
      await this.#clock.sleep(this.#limits.closeMs, link.signal).catch(() => {});
    }
    await this.#tether.close("it was closed here");
  }

  #hello(attempt: number): Hello {
    return {
      type: "hello",
      versions: VERSIONS,
      features: FEATURES,
      connection: { id: this.connectionId, key: this.#key, attempt },
      resume: this.#welcome && { instance: this.#welcome.instance, streams: this.#streams.held },
      client: this.#client,
    };
  }

  #linked(link: Link, welcome: Welcome): void {
    const before = this.#welcome?.instance;
    const same = welcome.resumed && welcome.instance === before;
    if (before !== undefined && !same) this.#forgotten();
    this.#welcome = welcome;
    this.#link = link;
    // Whatever another process has under these numbers, it is nothing of ours.
    this.#streams.attach(link, same ? welcome.streams : [], welcome.limits.windowLength);
    this.#requests.attach(link, welcome.limits);
  }

  #take(line: Line): void {
    if (line.kind === "oversize") throw new ProtocolError("a line of the Host is too long");
    const message = readHostMessage(line.text);
    switch (message?.type) {
      case "items":
        return this.#streams.take(message.stream, message.first, message.items, line.text.length);
      case "reply":
        return this.#requests.reply(message);
      case "lost":
        return this.#streams.lose(message.stream);
      case "ping":
        this.#link?.send(PONG);
        return;
      case "fault":
        return this.#log.warn("the Host could not read a message", { message: message.message });
      case "bye":
        throw new ProtocolError("the Host said goodbye");
      default:
    }
  }

  #ask<N extends OperationName>(
    op: N,
    of: OperationOf<N>,
    options?: { readonly stream?: number; readonly signal?: AbortSignal },
  ): Promise<OperationGives<N>> {
    if ("sessionId" in of && of.sessionId !== undefined) this.#rebind(of.sessionId);
    const answer = this.#requests.ask(op, of, options);
    this.#tether.want();
    return answer;
  }

  async #do<N extends OperationName>(op: N, of: OperationOf<N>): Promise<void> {
    await this.#ask(op, of);
  }

  /** The Host knows nothing of this connection any more. */
  #forgotten(): void {
    for (const sessionId of this.#bindings.keys()) {
      this.#unbound.add(sessionId);
      if (this.#requests.concern(sessionId)) this.#rebind(sessionId);
    }
  }

  /** A Host that has forgotten what a Session is bound to is told so before anything else about it. */
  #rebind(sessionId: string): void {
    const binding = this.#bindings.get(sessionId);
    if (!this.#unbound.delete(sessionId) || binding === undefined) return;
    this.#requests.ask("sessions.bind", binding, { first: true }).catch((error) =>
      this.#log.warn("a Session could not be bound again", { sessionId, reason: String(error) })
    );
  }

  #bind(binding: Binding): void {
    this.#bindings.set(binding.sessionId, binding);
    this.#unbound.delete(binding.sessionId);
  }

  #unbind(sessionId: string): void {
    this.#bindings.delete(sessionId);
    this.#unbound.delete(sessionId);
  }

  #sessions(): HostSessions {
    return {
      create: (request) =>
        replyOf(async () => {
          const info = await this.#ask("sessions.create", request);
          const { sessionId, roots, mcpServers, meta } = request;
          this.#bind({ sessionId, roots, mcpServers, meta });
          return info;
        }),
      get: (sessionId) => this.#ask("sessions.get", { sessionId }),
      list: (request) => this.#ask("sessions.list", request),
      remove: (sessionId) => {
        this.#unbind(sessionId);
        return this.#do("sessions.remove", { sessionId });
      },
      bind: async (request) => {
        this.#unbound.delete(request.sessionId);
        const info = await this.#ask("sessions.bind", request);
        this.#bind(request);
        return info;
      },
      configure: (request) => this.#ask("sessions.configure", request),
      open: async (sessionId, services) => {
        this.#rebind(sessionId);
        const opening = this.#streams.open(sessionId, services);
        this.#tether.want();
        return await opening;
      },
      release: (sessionId) => {
        this.#unbind(sessionId);
        return this.#do("sessions.release", { sessionId });
      },
    };
  }

  #artifacts(): HostArtifacts {
    return {
      begin: (request) => this.#do("artifacts.begin", request),
      append: ({ bytes, ...request }) =>
        this.#do("artifacts.append", { ...request, bytes: bytes.toBase64() }),
      commit: (request) => this.#ask("artifacts.commit", request),
      abort: (request) => this.#do("artifacts.abort", request),
      read: (request) => this.#readArtifact(request),
      list: (sessionId) => this.#ask("artifacts.list", { sessionId }),
    };
  }

  /** Reads in parts: the Host gives at most `partBytes` at a time. */
  async #readArtifact(request: Parameters<HostArtifacts["read"]>[0]): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let got = 0;
    for (;;) {
      const { partBytes } = this.#greeted.limits;
      const length = Math.min(request.length - got, partBytes);
      const of = { ...request, offset: request.offset + got, length };
      const part = Uint8Array.fromBase64((await this.#ask("artifacts.read", of)).bytes);
      parts.push(part);
      got += part.length;
      if (part.length < length || got >= request.length) break;
    }
    if (parts.length === 1) return parts[0]!;
    const whole = new Uint8Array(got);
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
