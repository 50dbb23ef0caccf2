import type { AgentBook } from "./agent_book.ts";
import type { Clock } from "../../model/clock.ts";
import { editorConnection } from "./editor_connection.ts";
import { HostServer } from "../../host/wire/server.ts";
import { introductionOf } from "./description.ts";
import { type HostStatus, isIdle, type Wish, type WishAnswer, wishOf } from "./status.ts";
import type { Listener } from "../../host/wire/transport/listener.ts";
import type { LocalHost } from "../../host/local/host.ts";
import type { Log } from "../../model/log.ts";
import { readFirstLine, writeLine } from "./first_line.ts";
import type { WireStream } from "../../host/wire/stream.ts";

/** What a {@linkcode Daemon} is made of. It closes Host, agents and listener when it ends. */
export interface DaemonParts {
  readonly host: LocalHost;
  readonly book: AgentBook;
  readonly listener: Listener;
  readonly version: string;
  /** The state folder. */
  readonly folder: string;
  /** Milliseconds without work after which it leaves; absent where it stays. */
  readonly idleMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Why a Daemon ended. */
export type DaemonEnd = "asked" | "idle";

/** Milliseconds for a connection's first line. */
const FIRST_LINE_MS = 5000;
/** Connections at a time. An editor has one; a terminal has one for a moment. */
const CONNECTIONS = 512;
/**
 * Milliseconds that what a lost connection holds is kept. On one machine a stream is lost when its editor is, so whoever loads the Session
 * next need not wait for long.
 */
const GRACE_MS = 2000;
/** Milliseconds between two looks at what waits for a lost connection. */
const LOOK_MS = 25;

/** A Host that several editors reach by streams of bytes: takes them, says how it is, and leaves when it is to. */
export class Daemon {
  readonly #parts: DaemonParts;
  readonly #server: HostServer;
  readonly #streams = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #since: number;
  #end: DaemonEnd = "asked";
  /** Streams that serve the wire. */
  #wires = 0;
  #idleSince: number;

  /** Serves nobody yet. */
  constructor(parts: DaemonParts) {
    const { host, book, version, clock, log } = parts;
    this.#parts = parts;
    this.#since = this.#idleSince = clock.now();
    this.#server = new HostServer({
      connect: (connectionId, client) => {
        const introduction = introductionOf(client.details);
        const connection = host.connect(connectionId, introduction?.defaultEngine);
        if (introduction === undefined) return connection;
        book.introduce(introduction);
        return editorConnection(connection, { book, introduction, settled: (id) => this.#settled(id) });
      },
      engines: () => book.engines.map(({ profile }) => profile),
      info: () => ({ version, pid: Deno.pid }),
      instance: crypto.randomUUID(),
      limits: { graceMs: GRACE_MS },
      clock,
      log,
    });
  }

  /** How it is. */
  get status(): HostStatus {
    const { host, listener, version, folder, idleMs, clock } = this.#parts;
    return {
      version,
      pid: Deno.pid,
      folder,
      endpoint: listener.endpoint,
      uptime: Math.floor((clock.now() - this.#since) / 1000),
      ...(idleMs !== undefined && { idle: idleMs / 1000 }),
      connections: this.#wires,
      sessions: host.activity.map(({ info: { sessionId, title, cwd }, connections, runs }) => ({
        sessionId,
        ...(title !== undefined && { title }),
        cwd,
        editors: connections,
        running: runs.filter(({ phase }) => phase !== "waiting").length,
        waiting: runs.filter(({ phase }) => phase === "waiting").length,
      })),
    };
  }

  /** Serves until it is stopped or leaves. Everything is let go of by then, and Runs have ended as interrupted. */
  async serve(): Promise<DaemonEnd> {
    const { listener, host, book, log } = this.#parts;
    const taking = this.#take();
    const watching = this.#watch();
    await new Promise<void>((resolve) => {
      if (this.#stopping.signal.aborted) resolve();
      this.#stopping.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    log.info("The Host is leaving", { why: this.#end });
    await Promise.all([listener.close(), taking, watching]);
    await host.close();
    await book.close();
    await this.#server.close();
    this.#over.resolve();
    await Promise.all(this.#streams);
    return this.#end;
  }

  /** Ends it. May be called twice. */
  stop(why: DaemonEnd = "asked"): void {
    if (this.#stopping.signal.aborted) return;
    this.#end = why;
    this.#stopping.abort();
  }

  async #take(): Promise<void> {
    for await (const stream of this.#parts.listener.connections) {
      if (this.#streams.size >= CONNECTIONS) {
        stream.close();
        continue;
      }
      const served = this.#serve(stream).catch((error) => {
        this.#parts.log.debug("A connection came to nothing", { error: String(error) });
      }).finally(() => {
        this.#streams.delete(served);
        stream.close();
      });
      this.#streams.add(served);
    }
  }

  async #serve(arrived: WireStream): Promise<void> {
    const { said, stream } = await readFirstLine(arrived, FIRST_LINE_MS);
    const wish = wishOf(said);
    // Looked at and answered in one go: a Host that is idle for one is not given to another meanwhile.
    const answer = this.#answer(wish);
    if (!answer.ok || wish === undefined) return await writeLine(stream, answer);
    switch (wish.want) {
      case "host":
        return await this.#serveWire(stream, answer);
      case "status":
        return await writeLine(stream, answer);
      case "stop":
        this.stop();
        await writeLine(stream, answer);
        // Its end tells that this is done.
        return await this.#over.promise;
    }
  }

  #answer(wish: Wish | undefined): WishAnswer {
    if (wish === undefined) {
      return {
        ok: false,
        reason: "unknown",
        message: "This Host does not understand what you want: use the same Gangway for both",
      };
    }
    if (this.#stopping.signal.aborted && wish.want !== "stop") {
      return { ok: false, reason: "stopping", message: "This Host is shutting down" };
    }
    const { status } = this;
    if (wish.want === "stop" && wish.when === "idle" && !isIdle(status)) {
      return { ok: false, reason: "busy", message: "This Host has work or editors" };
    }
    return { ok: true, status };
  }

  async #serveWire(stream: WireStream, answer: WishAnswer): Promise<void> {
    this.#wires++;
    try {
      await writeLine(stream, answer);
      await this.#server.serve(stream);
    } finally {
      this.#wires--;
      this.#idleSince = this.#parts.clock.now();
    }
  }

  /** Leaves when there was nothing to do for long enough. */
  async #watch(): Promise<void> {
    const { idleMs, clock } = this.#parts;
    if (idleMs === undefined) return;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (!isIdle(this.status)) this.#idleSince = clock.now();
      const left = this.#idleSince + idleMs - clock.now();
      if (left <= 0) return this.stop("idle");
      await clock.sleep(Math.max(10, Math.min(left, idleMs / 4)), signal).catch(() => {});
    }
  }

  /** Whoever loads a Session right after its editor was killed gets its Runs: they are given up first. */
  async #settled(sessionId: string): Promise<void> {
    const { host, clock } = this.#parts;
    for (let waited = 0; waited < 2 * GRACE_MS; waited += LOOK_MS) {
      const runs = host.activity.find(({ info }) => info.sessionId === sessionId)?.runs ?? [];
      const lost = this.#server.connections.filter(({ state }) => state === "lost");
      if (!runs.some(({ presenter }) => lost.some(({ connectionId }) => connectionId === presenter))) return;
      await clock.sleep(LOOK_MS, this.#stopping.signal).catch(() => {});
    }
  }
}
