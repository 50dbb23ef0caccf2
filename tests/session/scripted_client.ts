import type { JsonObject } from "../../src/model/json.ts";
import { type ClientAbilities, ClientGone, type ClientPort } from "../../src/session/ports.ts";

/** A request that the Adapter sent and that waits for the test's answer. */
export interface OpenRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  answer(result: unknown): void;
  refuse(error: Error): void;
}

/** What appeared at the Client, in order. */
export type ClientEvent =
  | { readonly kind: "update"; readonly sessionId: string; readonly update: Record<string, unknown> }
  | { readonly kind: "request"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "cancelled"; readonly method: string }
  | { readonly kind: "told"; readonly method: string; readonly params: JsonObject };

/** Everything that a modern editor offers. */
export const EVERYTHING: ClientAbilities = {
  readTextFile: true,
  writeTextFile: true,
  terminal: true,
  forms: true,
  booleanOptions: true,
  notices: true,
  compaction: true,
};

/** A Client whose reading, answers and breakdowns are the test's. */
export class ScriptedClient implements ClientPort {
  readonly events: ClientEvent[] = [];
  readonly requests: OpenRequest[] = [];
  abilities: ClientAbilities = EVERYTHING;
  /** Set to make the transport fail. */
  gone = false;
  #full: PromiseWithResolvers<void> | undefined;
  #unflushed: PromiseWithResolvers<void> | undefined;

  update(sessionId: string, update: string): void {
    if (this.gone) throw new ClientGone();
    this.events.push({ kind: "update", sessionId, update: JSON.parse(update) });
  }

  room(): Promise<void> | undefined {
    return this.#full?.promise;
  }

  flushed(): Promise<void> {
    if (this.gone) return Promise.reject(new ClientGone());
    return this.#unflushed?.promise ?? Promise.resolve();
  }

  notify(method: string, params: JsonObject): void {
    this.events.push({ kind: "told", method, params });
  }

  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    if (this.gone) return Promise.reject(new ClientGone());
    this.events.push({ kind: "request", method, params });
    return new Promise((answer, refuse) => {
      this.requests.push({ method, params, signal, answer, refuse });
      const cancel = () => {
        this.events.push({ kind: "cancelled", method });
        refuse(signal.reason);
      };
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
    });
  }

  /** The Client stops reading: there is no room, nothing gets flushed. */
  stall(): void {
    this.#full ??= Promise.withResolvers();
    this.linger();
  }

  /** There is room, but what was written has not left yet. */
  linger(): void {
    this.#unflushed ??= Promise.withResolvers();
  }

  /** The Client reads again. */
  resume(): void {
    this.#full?.resolve();
    this.#unflushed?.resolve();
    this.#full = this.#unflushed = undefined;
  }

  /** The text of all chunks of one kind, in order. */
  text(kind = "agent_message_chunk"): string {
    return this.updates(kind).map((update) => (update.content as { text: string }).text).join("");
  }

  /** The status that a tool's card has now. */
  cardStatus(toolCallId: string): unknown {
    return this.events.reduce<unknown>((status, event) => {
      if (event.kind !== "update" || event.update.toolCallId !== toolCallId) return status;
      return event.update.status ?? status;
    }, undefined);
  }

  /** Updates of one kind. */
  updates(kind: string): Record<string, unknown>[] {
    return this.events.flatMap((event) =>
      event.kind === "update" && event.update.sessionUpdate === kind ? [event.update] : []
    );
  }
}
