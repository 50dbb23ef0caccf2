import type { AnyMessage, AnyRequest, AnyResponse, JsonRpcId, Stream } from "@agentclientprotocol/sdk";
import type { LineWriter } from "./writer.ts";
import { type Outcome, readEnvelope } from "./envelope.ts";
import type { Line } from "../wire/lines.ts";
import { LIMITS } from "../limits.ts";

/** What a mailbox works with. */
export interface MailboxParts {
  readonly writer: LineWriter;
  /** Takes the Client's answers to our own requests. */
  settle(id: JsonRpcId, outcome: Outcome): void;
  /** Called after the first handshake was answered; nothing else is handed over until it resolves. */
  ready(): Promise<void>;
}

/**
 * - `new`: no handshake yet, requests are refused
 * - `open`: messages pass
 * - `ended`: nothing passes in either direction
 */
type State = "new" | "open" | "ended";

/**
 * The one ordered mailbox in front of the SDK, as the SDK's own `Stream`.
 *
 * The SDK starts handlers some microtasks after it read a message, and how many depends on the kind of message: a `cancel`
 * can overtake the `prompt` before it. Here the next message is handed over when the handler of the one before has begun,
 * and everything waits for the answer of an `initialize`. Whoever dispatches calls {@linkcode begun} first thing.
 */
export class Mailbox {
  /** For the SDK's `connect`. */
  readonly stream: Stream;

  #parts: MailboxParts;
  #state: State = "new";
  #cancelled = false;
  #inbox!: ReadableStreamDefaultController<AnyMessage>;
  #begun: PromiseWithResolvers<void> | undefined;
  #handshake: { readonly id: JsonRpcId; readonly answered: PromiseWithResolvers<void> } | undefined;
  #atHand = 0;
  #idle: PromiseWithResolvers<void> | undefined;
  #follow: WeakMap<object, () => void> = new WeakMap();

  /** Reads nothing by itself: {@linkcode take} is fed. */
  constructor(parts: MailboxParts) {
    this.#parts = parts;
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => void (this.#inbox = controller),
        cancel: () => {
          this.#cancelled = true;
          this.seal();
        },
      }),
      writable: new WritableStream<AnyMessage>({ write: (message) => this.#out(message) }),
    };
  }

  /** Takes the next input line. Resolves when the one after it may come. Throws `ClientGone` where it cannot be answered. */
  async take(line: Line): Promise<void> {
    if (this.#state === "ended") return;
    const envelope = readEnvelope(line, LIMITS.inputLineBytes);
    switch (envelope.kind) {
      case "blank":
        return;
      case "response":
        return this.#parts.settle(envelope.id, envelope.outcome);
      case "refused": {
        const { id, code, message, data } = envelope;
        return this.#write({ jsonrpc: "2.0", id, error: { code, message, data } });
      }
      case "notification":
        if (this.#state === "open") await this.#hand(envelope.message);
        return;
      case "request":
        return await this.#request(envelope.message);
    }
  }

  /** The handler of the message that was handed over has begun. */
  begun(): void {
    this.#begun?.resolve();
    this.#begun = undefined;
  }

  /** Calls `follow` right after the answer that carries `result` was given to the writer. It must not throw. */
  after(result: object, follow: () => void): void {
    this.#follow.set(result, follow);
  }

  /** Resolves when every request that was taken is answered. */
  idle(): Promise<void> {
    if (this.#atHand === 0) return Promise.resolve();
    return (this.#idle ??= Promise.withResolvers<void>()).promise;
  }

  /** Lets nothing pass any more: what is still answered is dropped. */
  seal(): void {
    this.#state = "ended";
    this.begun();
    this.#handshake?.answered.resolve();
    this.#handshake = undefined;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** Seals it and closes the SDK's connection, which aborts the signals of requests that are still at hand. */
  close(): void {
    this.seal();
    // The SDK may have given its end up already.
    if (!this.#cancelled) this.#inbox.close();
  }

  async #request(message: AnyRequest): Promise<void> {
    if (message.method === "initialize") return await this.#initialize(message);
    if (this.#state === "new") {
      return this.#refuse(message.id, -32600, 'The connection must be initialized first: send "initialize"');
    }
    if (this.#atHand >= LIMITS.requestsAtHand) {
      return this.#refuse(
        message.id,
        -32603,
        `More than ${LIMITS.requestsAtHand} requests wait for their answers: wait for some of them`,
      );
    }
    await this.#hand(message);
  }

  async #initialize(message: AnyRequest): Promise<void> {
    const answered = Promise.withResolvers<void>();
    const first = this.#state === "new";
    this.#handshake = { id: message.id, answered };
    await this.#hand(message);
    await answered.promise;
    if (first && this.#state === "open") await this.#parts.ready();
  }

  async #hand(message: AnyMessage): Promise<void> {
    const begun = this.#begun = Promise.withResolvers<void>();
    if ("id" in message) this.#atHand++;
    this.#inbox.enqueue(message);
    await begun.promise;
  }

  #out(message: AnyMessage): void {
    // The SDK is given no reason to send anything but answers.
    if (this.#state === "ended" || "method" in message) return;
    this.#write(message);
    if (this.#handshake?.id === message.id) {
      if ("result" in message) this.#state = "open";
      this.#handshake.answered.resolve();
      this.#handshake = undefined;
    }
    if (--this.#atHand === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
    if ("result" in message && typeof message.result === "object" && message.result !== null) {
      this.#follow.get(message.result)?.();
    }
  }

  #refuse(id: JsonRpcId, code: number, message: string): void {
    this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #write(message: AnyResponse): void {
    this.#parts.writer.send(JSON.stringify(message) + "\n");
  }
}
