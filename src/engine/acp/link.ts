import { type AnyMessage, client, type ClientConnection, RequestError } from "@agentclientprotocol/sdk";
import type { AgentProcess } from "./process.ts";
import { atMost } from "../waiting.ts";
import type { Faults } from "./faults.ts";
import { isRecord, recordOf } from "./shape.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import { type Line, LineSplitter } from "../../wire/lines.ts";

/** What hears an agent. */
export interface LinkEvents {
  /** The params of a `session/update`. Called in order; must not throw. */
  update(params: Json | undefined): void;
  /** The answer to a `session/prompt` of this Session of the agent came; what it says next is no part of that prompt. */
  answered(sessionId: string): void;
  /** Undefined while what was heard is keeping up; else resolves when more may be read. */
  room(): Promise<void> | undefined;
  /** A request of the agent. What it throws becomes the error, a `RequestError` as it is. */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** A notification other than an update; in the order of the others. */
  notified(method: string, params: JsonObject): void;
}

/** Milliseconds for the last lines behind the end of the process. */
const LAST_LINES_MS = 100;

/**
 * Our end of JSON-RPC with an agent. The SDK pairs requests with answers; in front of it each line is looked at here: what is no
 * message is counted instead of answered, and updates go straight to their hearer, so that they keep their order with the answers
 * around them and nothing of them is lost to a parser.
 */
export class AgentLink {
  /** Resolves when nothing goes through any more: one of the pipes broke, or the link was closed. */
  readonly over: Promise<void>;
  /** Resolves when the process has ended too and nothing is left to read. */
  readonly done: Promise<void>;
  readonly #process: AgentProcess;
  readonly #events: LinkEvents;
  readonly #faults: Faults;
  readonly #connection: ClientConnection;
  readonly #asked = new Map<Json, { readonly prompted?: string }>();
  readonly #encoder = new TextEncoder();
  readonly #over = Promise.withResolvers<void>();
  #inbox!: ReadableStreamDefaultController<AnyMessage>;
  #state: "open" | "over" = "open";

  /** Reads and writes through the process from now on. */
  constructor(process: AgentProcess, events: LinkEvents, faults: Faults) {
    this.#process = process;
    this.#events = events;
    this.#faults = faults;
    this.#connection = client()
      .onRequest("*", ({ method, params, signal }) => events.request(method, recordOf(params), signal))
      .onNotification("*", ({ method, params }) => events.notified(method, recordOf(params)))
      .connect({
        readable: new ReadableStream<AnyMessage>({
          start: (controller) => void (this.#inbox = controller),
          cancel: () => {
            this.#state = "over";
            this.#over.resolve();
          },
        }),
        writable: new WritableStream<AnyMessage>({ write: (message) => this.#send(message) }),
      });
    this.over = this.#over.promise;
    this.done = this.#read();
  }

  /**
   * Asks. Rejects with the agent's error, or where it is gone. When the signal aborts the agent is told that the answer is not waited
   * for any more.
   */
  request(method: string, params: JsonObject, signal?: AbortSignal): Promise<unknown> {
    return this.#connection.agent.request<unknown, JsonObject>(method, params, {
      ...(signal !== undefined && { cancellationSignal: signal }),
    });
  }

  /** Tells. Never rejects: an agent that is gone needs no telling. */
  async notify(method: string, params: JsonObject): Promise<void> {
    await this.#connection.agent.notify<JsonObject>(method, params).catch(() => {});
  }

  /** Fails what waits and reads no more. The process is its owner's to end. */
  close(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#inbox.close();
    this.#over.resolve();
  }

  async #send(message: AnyMessage): Promise<void> {
    if ("method" in message && "id" in message) {
      const prompted = message.method === "session/prompt" ? recordOf(message.params).sessionId : undefined;
      this.#asked.set(message.id, typeof prompted === "string" ? { prompted } : {});
    }
    await this.#process.write(this.#encoder.encode(`${JSON.stringify(message)}\n`));
  }

  async #read(): Promise<void> {
    const reader = this.#process.stdout.getReader();
    const done = Promise.withResolvers<void>();
    // The pipe may be held by something that moved away.
    const ended = this.#process.ended.then(async () => {
      await atMost(LAST_LINES_MS, done.promise);
      await reader.cancel();
    });
    try {
      const lines = new LineSplitter(LIMITS.inputLineBytes);
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        for (const line of lines.push(read.value)) this.#take(line);
        const room = this.#events.room();
        if (room !== undefined) await room;
      }
      const last = lines.end();
      if (last !== undefined) this.#take(last);
    } catch {
      // A broken pipe is an end like any other.
    } finally {
      done.resolve();
      this.close();
    }
    await ended;
    await this.#connection.closed;
  }

  #take(line: Line): void {
    if (this.#state === "over") return;
    if (line.kind === "oversize") return this.#faults.count("oversize");
    let message: unknown;
    try {
      message = JSON.parse(line.text);
    } catch {
      if (line.text.trim() !== "") this.#faults.count("noise");
      return;
    }
    if (!isRecord(message)) return this.#faults.count("noise");
    const { id, method } = message;
    if (method === "session/update" && id === undefined) return this.#events.update(message.params);
    if (typeof method === "string") {
      if (id === undefined || id === null || typeof id === "string" || typeof id === "number") {
        // Some agents leave the version of JSON-RPC out.
        return this.#inbox.enqueue({ ...message, jsonrpc: "2.0", method });
      }
      return this.#faults.count("noise");
    }
    if (id === undefined || !("result" in message || "error" in message)) return this.#faults.count("noise");
    this.#answer(id, message);
  }

  #answer(id: Json, message: JsonObject): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return this.#faults.count("stray");
    this.#asked.delete(id);
    if (asked.prompted !== undefined) this.#events.answered(asked.prompted);
    const { result, error } = message;
    const failed = isRecord(error);
    this.#inbox.enqueue({
      jsonrpc: "2.0",
      id: id as number,
      ...(failed
        ? {
          error: {
            code: typeof error.code === "number" ? error.code : -32603,
            message: typeof error.message === "string" ? error.message : "",
            ...(error.data !== undefined && { data: error.data }),
          },
        }
        : { result: result ?? null }),
    });
  }
}

/** The error that a request of the agent is answered with. */
export function refused(code: number, message: string, data?: Json): RequestError {
  return new RequestError(code, message, data);
}
