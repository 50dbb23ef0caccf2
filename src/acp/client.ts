import type { JsonRpcId } from "@agentclientprotocol/sdk";
import { type ClientAbilities, ClientGone, type ClientPort, ClientRefused } from "../session/ports.ts";
import type { EncodedUpdate } from "../session/ports.ts";
import type { JsonObject } from "../model/json.ts";
import type { Log } from "../model/log.ts";
import type { LineWriter } from "./writer.ts";
import type { Outcome } from "./envelope.ts";

interface Pending {
  settle(outcome: Outcome): void;
  fail(reason: unknown): void;
}

/** What a Client can do that has not said anything. */
export const NO_ABILITIES: ClientAbilities = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
  booleanOptions: false,
  notices: false,
  compaction: false,
};

/** UTF-16 units of a sentence of the Client that we keep. */
const MESSAGE_LENGTH = 500;

/**
 * Our side's view of the editor.
 *
 * Updates and requests are made into lines here and go straight to the writer, past the SDK: it would validate nothing, cost a
 * write queue of promises for each update, and put requests on their way some microtasks after updates that were sent later.
 * Since all that leaves goes through the one writer, the order on the wire is the order of the calls.
 */
export class Client implements ClientPort {
  /** What the last handshake said. */
  abilities: ClientAbilities = NO_ABILITIES;

  #writer: LineWriter;
  #log: Log;
  #pending: Map<JsonRpcId, Pending> = new Map();
  #nextId = 1;
  #headOf: string | undefined;
  #head = "";

  /** Writes through `writer`, which others may use as well. */
  constructor(writer: LineWriter, log: Log) {
    this.#writer = writer;
    this.#log = log;
    writer.gone.then(() => this.#abandon());
  }

  /** {@inheritDoc ClientPort.update} */
  update(sessionId: string, update: EncodedUpdate): void {
    if (sessionId !== this.#headOf) this.#turnTo(sessionId);
    this.#writer.send(this.#head + update + "}}\n");
  }

  /** {@inheritDoc ClientPort.room} */
  room(): Promise<void> | undefined {
    return this.#writer.room();
  }

  /** {@inheritDoc ClientPort.flushed} */
  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /** {@inheritDoc ClientPort.request} */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const id = this.#nextId++;
      this.#writer.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
      const withdraw = () => {
        this.#pending.delete(id);
        reject(signal.reason);
        this.notify("$/cancel_request", { requestId: id });
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#pending.set(id, {
        settle(outcome) {
          signal.removeEventListener("abort", withdraw);
          if (outcome.kind === "result") resolve(outcome.result);
          else {reject(
              new ClientRefused(outcome.code, outcome.message.slice(0, MESSAGE_LENGTH), outcome.data),
            );}
        },
        fail(reason) {
          signal.removeEventListener("abort", withdraw);
          reject(reason);
        },
      });
    });
  }

  /** Hands an answer of the Client to whoever waits for it. One that nobody waits for, or no longer, is dropped. */
  settle(id: JsonRpcId, outcome: Outcome): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return this.#log.debug("The editor answered a request that nobody waits for");
    this.#pending.delete(id);
    pending.settle(outcome);
  }

  /** Puts a notification on its way. A Client that is gone needs no telling. */
  notify(method: string, params: JsonObject): void {
    try {
      this.#writer.send(JSON.stringify({ jsonrpc: "2.0", method, params }) + "\n");
    } catch {
      // The Client is gone, so it needs no telling.
    }
  }

  #turnTo(sessionId: string): void {
    this.#headOf = sessionId;
    this.#head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${
      JSON.stringify(sessionId)
    },"update":`;
  }

  #abandon(): void {
    for (const pending of this.#pending.values()) pending.fail(new ClientGone());
    this.#pending.clear();
  }
}
