import type { Json, JsonObject } from "../model/json.ts";
import { ClientGone, ClientRefused } from "../session/ports.ts";
import type { HostExtensions } from "../host/contract.ts";
import type { ExtensionAnswer, ExtensionEvent, ExtensionMessage } from "../model/extension.ts";
import type { Client } from "./client.ts";
import type { ConnectionSessions } from "./sessions.ts";
import { HostError } from "../host/errors.ts";
import { invalidParams } from "./errors.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../model/log.ts";
import { RequestError } from "@agentclientprotocol/sdk";
import { boundedMeta } from "./meta.ts";
import { servicesOf } from "../session/services.ts";
import { SessionError } from "../session/errors.ts";
import { unlessAborted } from "../session/deadline.ts";

/** What {@linkcode EditorExtensions} work with. */
export interface EditorExtensionParts {
  readonly host: HostExtensions;
  readonly sessions: ConnectionSessions;
  readonly client: Client;
  /** Whether the default Engine speaks beyond Sessions and Turns. */
  readonly speaks: boolean;
  readonly log: Log;
}

/** What is said about an agent as a whole, beside what begins with `_`. */
const ABOUT_THE_AGENT: ReadonlySet<string> = new Set([
  "authenticate",
  "logout",
  "auth/status",
  "providers/list",
  "providers/set",
  "providers/disable",
]);

const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;

/** Passes on what the editor and the Engine say to each other beyond Sessions and Turns, both ways. */
export class EditorExtensions {
  readonly #parts: EditorExtensionParts;
  readonly #over = new AbortController();
  /** Resolves when what the editor told is on its way: what it asks then does not come before it. */
  #told: Promise<void> = Promise.resolve();
  /** What waits to be told, in number and length. */
  #telling = { count: 0, length: 0 };
  /** Requests of the Engine that the editor has not answered. */
  readonly #asked = new Map<string, AbortController>();

  /** Listens from now on. */
  constructor(parts: EditorExtensionParts) {
    this.#parts = parts;
    const { client, host, log } = parts;
    const events = host.listen(servicesOf(client.abilities), this.#over.signal);
    this.#hear(events).catch((error) => {
      if (!this.#over.signal.aborted && !(error instanceof ClientGone)) {
        log.warn("What the agent says beyond its Sessions is not heard any more", { error: String(error) });
      }
    });
  }

  /** Whether a method of the editor goes this way. */
  takes(method: string): boolean {
    return method.startsWith("_") || (this.#parts.speaks && ABOUT_THE_AGENT.has(method));
  }

  /** Asks the Engine. The Engine's own error becomes the error. */
  async request(method: string, raw: unknown, signal: AbortSignal): Promise<Json> {
    const message = this.#message(method, raw);
    if (method === "authenticate" && typeof message.params.methodId !== "string") {
      throw invalidParams("methodId", "a string", message.params.methodId === undefined);
    }
    const answer = await this.#call(message, signal).catch((error) => {
      throw signal.aborted ? RequestError.requestCancelled() : error;
    });
    if (answer.kind === "error") throw new RequestError(answer.code, answer.message, answer.data);
    return method === "authenticate" || method === "logout" ? onlyMeta(answer.result) : answer.result;
  }

  /** Tells the Engine. What cannot be passed on is dropped, as the protocol wants it. */
  notify(method: string, raw: unknown): void {
    const { host, log } = this.#parts;
    const failed = () => log.warn("An extension notification of the editor was dropped", { method });
    try {
      const message = this.#message(method, raw);
      const length = lengthOf(message.params);
      const { count, length: waiting } = this.#telling;
      if (count >= LIMITS.extensionsWaiting || waiting + length > LIMITS.extensionsLength) return failed();
      this.#telling = { count: count + 1, length: waiting + length };
      this.#told = this.#told.then(() => host.notify(message)).catch(failed).finally(() => {
        const { count, length: waiting } = this.#telling;
        this.#telling = { count: count - 1, length: waiting - length };
      });
    } catch {
      failed();
    }
  }

  /** Says and hears nothing any more. */
  close(): void {
    this.#over.abort();
    for (const asked of this.#asked.values()) asked.abort(new ClientGone());
  }

  async #call(message: ExtensionMessage, signal: AbortSignal): Promise<ExtensionAnswer> {
    // A login waits for nothing: something else may wait for it.
    if (message.method.startsWith("_")) await unlessAborted(this.#told, signal);
    return await this.#parts.host.call(message, signal);
  }

  #message(method: string, raw: unknown): ExtensionMessage {
    const params = raw === undefined || raw === null ? {} : raw;
    if (typeof params !== "object" || Array.isArray(params)) throw invalidParams("", "an object");
    const message = { method, params: params as JsonObject };
    if (lengthOf(params) > LIMITS.extensionLength) {
      throw new RequestError(
        -32602,
        `Invalid params: those of an extension method are at most ${LIMITS.extensionLength} characters long`,
        { code: "extension_too_large", limit: LIMITS.extensionLength },
      );
    }
    const { sessionId } = message.params;
    if (typeof sessionId !== "string") return message;
    if (this.#parts.sessions.owns(sessionId)) return { ...message, sessionId };
    throw new SessionError(
      "unknown_session",
      "This connection has no such Session; create, load or resume it first",
      { sessionId },
    );
  }

  async #hear(events: AsyncIterable<ExtensionEvent>): Promise<void> {
    const { client } = this.#parts;
    for await (const event of events) {
      switch (event.type) {
        case "request":
          void this.#serve(event.callId, event.message);
          break;
        case "request_cancelled":
          this.#asked.get(event.callId)?.abort(new Error("The agent does not wait any more"));
          break;
        case "notification":
          if (this.#concerns(event.message)) client.notify(event.message.method, event.message.params);
      }
      // An editor that does not read is told no more until it does.
      await client.room();
    }
  }

  async #serve(callId: string, message: ExtensionMessage): Promise<void> {
    const { host, log } = this.#parts;
    const cancel = new AbortController();
    this.#asked.set(callId, cancel);
    try {
      const answer = await this.#ask(message, cancel.signal);
      await host.answer({ callId, answer });
    } catch (error) {
      const over = error instanceof HostError && error.code === "not_found";
      if (!over && !this.#over.signal.aborted) {
        log.warn("An extension request of the agent could not be answered", { method: message.method });
      }
    } finally {
      this.#asked.delete(callId);
    }
  }

  async #ask(message: ExtensionMessage, signal: AbortSignal): Promise<ExtensionAnswer> {
    const { method, params } = message;
    if (!this.#concerns(message)) {
      return { kind: "error", code: METHOD_NOT_FOUND, message: "The editor has no such Session any more" };
    }
    try {
      const result = await this.#parts.client.request(method, params, signal);
      return { kind: "result", result: result as Json };
    } catch (error) {
      if (!(error instanceof ClientRefused)) {
        return { kind: "error", code: INTERNAL, message: "The editor did not answer" };
      }
      const { code, data } = error;
      return { kind: "error", code, message: error.message, ...(data !== undefined && { data }) };
    }
  }

  /** Nothing is said about a Session that this connection gave up. */
  #concerns({ sessionId }: ExtensionMessage): boolean {
    return sessionId === undefined || this.#parts.sessions.owns(sessionId);
  }
}

/** UTF-16 units of the JSON of parameters; Infinity for those that are nested too deeply to be written. */
function lengthOf(params: object): number {
  try {
    return JSON.stringify(params).length;
  } catch {
    return Infinity;
  }
}

/** The result of a method that has none but metadata. */
function onlyMeta(result: Json): JsonObject {
  const meta = boundedMeta((result as { readonly _meta?: Json } | null)?._meta);
  return meta === undefined || Array.isArray(meta) ? {} : { _meta: meta };
}
