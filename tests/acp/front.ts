import { assertEquals } from "@std/assert";
import { FakeClock, FakeHost, FakeLog, FakeSessions, NO_FILES, profile } from "./fakes.ts";
import type { EngineProfile } from "../../src/host/contract.ts";
import { serve, type SessionParts } from "../../src/acp/mod.ts";
import { Wire } from "../support/wire.ts";

/** A message of the wire, read far enough for assertions. */
export interface Seen {
  readonly jsonrpc?: "2.0";
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

/** How a front is set up. */
export interface FrontOptions {
  readonly profile?: Partial<EngineProfile>;
  readonly capabilities?: unknown;
  readonly prepare?: (sessions: FakeSessions) => void;
  /** Replaces the pipe that the test writes to. */
  readonly input?: ReadableStream<Uint8Array>;
  /** Replaces the pipe that the test reads from. */
  readonly output?: WritableStream<Uint8Array>;
  /** Whether what the editor sends is right and everything is answered; false for tests of wrong input. */
  readonly judged?: boolean;
  readonly signal?: AbortSignal;
}

const encoder = new TextEncoder();

/** A connection in memory: the front with fakes behind it and a test in front of it, which judges every line. */
export class Front {
  readonly wire: Wire = new Wire();
  readonly clock: FakeClock = new FakeClock();
  readonly log: FakeLog = new FakeLog();
  readonly host: FakeHost;
  /** Resolves when `serve` has. */
  readonly served: Promise<void>;
  /** There after the handshake. */
  sessions!: FakeSessions;
  parts!: SessionParts;
  /** Lines that came and were not taken yet. */
  readonly lines: Seen[] = [];

  #options: FrontOptions;
  #input: TransformStream<Uint8Array, Uint8Array> = new TransformStream();
  #writer: WritableStreamDefaultWriter<Uint8Array> = this.#input.writable.getWriter();
  #arrived: PromiseWithResolvers<void> = Promise.withResolvers();
  #read: Promise<void> = Promise.resolve();
  #nextId = 1;

  constructor(options: FrontOptions = {}) {
    this.#options = options;
    this.host = new FakeHost(profile(options.profile));
    const output = new TransformStream<Uint8Array, Uint8Array>();
    if (options.output === undefined) this.#read = this.#collect(output.readable);
    this.served = serve({
      input: options.input ?? this.#input.readable,
      output: options.output ?? output.writable,
      host: this.host,
      files: NO_FILES,
      clock: this.clock,
      ids: { next: () => "id" },
      log: this.log,
      signal: options.signal,
      sessions: (parts) => {
        this.parts = parts;
        this.sessions = new FakeSessions(parts);
        options.prepare?.(this.sessions);
        return this.sessions;
      },
    });
  }

  /** Writes bytes as they are. */
  async bytes(bytes: Uint8Array | string): Promise<void> {
    await this.#writer.write(typeof bytes === "string" ? encoder.encode(bytes) : bytes).catch(() => {});
  }

  /** Writes messages, all in one go. */
  async send(...messages: object[]): Promise<void> {
    await this.bytes(this.#encode(messages));
  }

  /** Writes messages in pieces of so many bytes. */
  async sendInPieces(size: number, messages: object[]): Promise<void> {
    const bytes = this.#encode(messages);
    for (let at = 0; at < bytes.length; at += size) await this.bytes(bytes.slice(at, at + size));
  }

  /** A request with the next id. */
  message(method: string, params?: unknown): { jsonrpc: "2.0"; id: number; method: string; params: unknown } {
    return { jsonrpc: "2.0", id: this.#nextId++, method, params };
  }

  /** Sends a request and takes lines until its answer, which it returns. The lines before stay. */
  async request(method: string, params: unknown): Promise<Seen> {
    const message = this.message(method, params);
    await this.send(message);
    return await this.answer(message.id);
  }

  /** Waits for an answer and takes it out of the lines. */
  async answer(id: string | number | null): Promise<Seen> {
    return await this.take((seen) => seen.id === id && seen.method === undefined);
  }

  /** Waits for a line and takes it out. */
  async take(wanted: (seen: Seen) => boolean = () => true): Promise<Seen> {
    for (;;) {
      const index = this.lines.findIndex(wanted);
      if (index !== -1) return this.lines.splice(index, 1)[0]!;
      await this.#arrived.promise;
    }
  }

  /** Shakes hands. */
  async initialize(): Promise<Seen> {
    return await this.request("initialize", {
      protocolVersion: 1,
      ...(this.#options.capabilities !== undefined && { clientCapabilities: this.#options.capabilities }),
    });
  }

  /** Shakes hands and makes a Session; returns its id. Its announcement has been made. */
  async open(): Promise<string> {
    await this.initialize();
    const { result } = await this.request("session/new", { cwd: "/work", mcpServers: [] });
    return String(result?.sessionId);
  }

  /** Ends the input. */
  async endInput(): Promise<void> {
    await this.#writer.close().catch(() => {});
  }

  /** Ends the input, waits for the end of the connection, and returns the lines that were left. */
  async end(): Promise<Seen[]> {
    await this.endInput();
    await this.served;
    await this.#read;
    if (this.#options.judged ?? true) assertEquals(this.wire.faults, [], this.wire.dump());
    return this.lines.splice(0);
  }

  #encode(messages: object[]): Uint8Array {
    const lines = messages.map((message) => JSON.stringify(message));
    for (const line of lines) {
      this.wire.record("client", line, encoder.encode(line).length, this.#options.judged ?? true);
    }
    return encoder.encode(lines.join("\n") + "\n");
  }

  async #collect(readable: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of readable) {
      rest += decoder.decode(chunk, { stream: true });
      for (let at = rest.indexOf("\n"); at !== -1; at = rest.indexOf("\n")) {
        const line = rest.slice(0, at);
        rest = rest.slice(at + 1);
        this.wire.record("agent", line, encoder.encode(line).length);
        this.lines.push(JSON.parse(line));
      }
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers();
    }
    assertEquals(rest, "");
  }
}
