import type { ClientServices } from "../contract.ts";
import type { Engine, ExtensionInlet, ExtensionOutlet } from "../../engine/contract.ts";
import {
  type ExtensionAnswer,
  type ExtensionEvent,
  type ExtensionMessage,
  unknownExtension,
} from "../../model/extension.ts";
import { HostError } from "../errors.ts";
import type { Limits } from "../../limits.ts";
import type { Log } from "../../model/log.ts";
import { Outbox } from "./outbox.ts";
import { encodedLength } from "./tool_fit.ts";

/** What {@linkcode Extensions} work with. */
export interface ExtensionParts {
  readonly engines: readonly Engine[];
  readonly limits: Limits;
  readonly log: Log;
  /** The connection that an Engine's message about a Session is for. Never rejects. */
  readonly viewer: (sessionId: string) => Promise<string | undefined>;
}

/** An Engine's request that an editor has not answered yet. */
interface PendingRequest {
  readonly connectionId: string;
  settle(answer: ExtensionAnswer): void;
}

/** What a Client offers that did not introduce itself. */
const UNKNOWN_CLIENT: ClientServices = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
};

const INTERNAL = -32603;

/** Passes on what editors and Engines say to each other beyond the contract, and sees that each request is settled. */
export class Extensions {
  /** Where Engines put their own requests and notifications. */
  readonly outlet: ExtensionOutlet;
  readonly #parts: ExtensionParts;
  /** Who listens; the one that asked or listened last comes last. */
  readonly #outboxes = new Map<string, Outbox>();
  readonly #pending = new Map<string, PendingRequest>();
  #found: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** Tells the Engines where their own requests and notifications go. */
  constructor(parts: ExtensionParts) {
    this.#parts = parts;
    this.outlet = this.#outlet();
    for (const engine of parts.engines) engine.extensions?.connect(this.outlet);
  }

  /** Introduces a connection's Client and gives what Engines say to it. */
  listen(connectionId: string, client: ClientServices, signal: AbortSignal): AsyncIterable<ExtensionEvent> {
    this.leave(connectionId);
    const outbox = new Outbox(client, this.#parts.limits);
    this.#outboxes.set(connectionId, outbox);
    const stop = () => {
      if (this.#outboxes.get(connectionId) === outbox) this.leave(connectionId);
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    return outbox.events();
  }

  /** A connection listens no more: what Engines asked it is answered for it. */
  leave(connectionId: string): void {
    this.#outboxes.get(connectionId)?.close();
    this.#outboxes.delete(connectionId);
    for (const [callId, pending] of this.#pending) {
      if (pending.connectionId === connectionId) {
        this.#settle(callId, failure("The editor went away before it answered"));
      }
    }
  }

  /** Asks what an Engine or one of its Sessions takes. The Engine's own error is an answer. */
  async call(
    connectionId: string,
    message: ExtensionMessage,
    inlet: ExtensionInlet | undefined,
    signal: AbortSignal,
  ): Promise<ExtensionAnswer> {
    this.#check(message);
    if (inlet === undefined) return unknownExtension(message.method);
    return this.#bounded(message, await inlet.call(message, this.#client(connectionId), signal));
  }

  /** Tells what an Engine or one of its Sessions takes. */
  async notify(
    connectionId: string,
    message: ExtensionMessage,
    inlet: ExtensionInlet | undefined,
  ): Promise<void> {
    this.#check(message);
    await inlet?.notify(message, this.#client(connectionId));
  }

  /** Takes an editor's answer. */
  answer(connectionId: string, callId: string, answer: ExtensionAnswer): void {
    const pending = this.#pending.get(callId);
    if (pending === undefined) throw new HostError("not_found", "Nobody waits for this answer any more");
    if (pending.connectionId !== connectionId) {
      throw new HostError("unauthorized", "Another editor was asked for this answer");
    }
    this.#settle(callId, answer);
  }

  #outlet(): ExtensionOutlet {
    return {
      call: async (message, signal) => {
        if (!this.#fits(message)) return tooLarge("parameters", this.#parts.limits);
        const target = await this.#inTurn(message);
        return target === undefined
          ? unknownExtension(message.method)
          : await this.#ask(target, message, signal);
      },
      notify: (message) => {
        if (!this.#fits(message)) return this.#dropped(message, "it is too large");
        void this.#inTurn(message).then((target) => {
          const outbox = target === undefined ? undefined : this.#outboxes.get(target);
          if (outbox === undefined) return this.#dropped(message, "nobody is there to hear it");
          if (!outbox.put({ type: "notification", message })) {
            this.#dropped(message, "the editor does not keep up");
          }
        });
      },
    };
  }

  #ask(connectionId: string, message: ExtensionMessage, signal: AbortSignal): Promise<ExtensionAnswer> {
    const outbox = this.#outboxes.get(connectionId);
    if (outbox === undefined || signal.aborted) return Promise.resolve(failure("The editor is gone"));
    const callId = `extension-${this.#count++}`;
    const open = [...this.#pending.values()].filter((each) => each.connectionId === connectionId).length;
    if (
      open >= this.#parts.limits.extensionsWaiting || !outbox.put({ type: "request", callId, message })
    ) {
      return Promise.resolve(failure("Too much waits for the editor already: wait for some answers"));
    }
    return new Promise((resolve) => {
      const withdraw = () => {
        outbox.put({ type: "request_cancelled", callId });
        this.#settle(callId, failure("The request was taken back"));
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#pending.set(callId, {
        connectionId,
        settle: (answer) => {
          signal.removeEventListener("abort", withdraw);
          resolve(this.#bounded(message, answer));
        },
      });
    });
  }

  #settle(callId: string, answer: ExtensionAnswer): void {
    const pending = this.#pending.get(callId);
    this.#pending.delete(callId);
    pending?.settle(answer);
  }

  /** Whom a message is for. Looking that up takes a moment, and what an Engine says stays in its order. */
  #inTurn(message: ExtensionMessage): Promise<string | undefined> {
    const found = this.#found.then(() => this.#target(message));
    this.#found = found;
    return found;
  }

  async #target({ sessionId }: ExtensionMessage): Promise<string | undefined> {
    if (sessionId === undefined) return [...this.#outboxes.keys()].at(-1);
    const viewer = await this.#parts.viewer(sessionId);
    return viewer !== undefined && this.#outboxes.has(viewer) ? viewer : undefined;
  }

  /** Who asks is the one that an Engine asks back. */
  #client(connectionId: string): ClientServices {
    const outbox = this.#outboxes.get(connectionId);
    if (outbox === undefined) return UNKNOWN_CLIENT;
    this.#outboxes.delete(connectionId);
    this.#outboxes.set(connectionId, outbox);
    return outbox.client;
  }

  #check(message: ExtensionMessage): void {
    if (this.#fits(message)) return;
    const { message: sentence } = tooLarge("parameters", this.#parts.limits);
    throw new HostError("capacity", sentence, { data: { limit: this.#parts.limits.extensionLength } });
  }

  #fits({ params }: ExtensionMessage): boolean {
    return encodedLength(params) <= this.#parts.limits.extensionLength;
  }

  #bounded({ method }: ExtensionMessage, answer: ExtensionAnswer): ExtensionAnswer {
    if (encodedLength(answer) <= this.#parts.limits.extensionLength) return answer;
    this.#parts.log.warn("The answer to an extension method was too large to pass on", { method });
    return tooLarge(answer.kind, this.#parts.limits);
  }

  #dropped({ method }: ExtensionMessage, why: string): void {
    this.#parts.log.warn(`An extension notification of the agent was dropped: ${why}`, { method });
  }
}

function failure(message: string): ExtensionAnswer & { readonly kind: "error" } {
  return { kind: "error", code: INTERNAL, message };
}

function tooLarge(
  what: "parameters" | "result" | "error",
  { extensionLength }: Limits,
): ExtensionAnswer & { readonly kind: "error" } {
  const be = what === "parameters" ? "are" : "is";
  return {
    ...failure(
      `The ${what} of an extension method ${be} too large: at most ${extensionLength} characters pass`,
    ),
    data: { code: "extension_too_large", limit: extensionLength },
  };
}
