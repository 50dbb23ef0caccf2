import type { ClientServices } from "../contract.ts";
import type { ExtensionEvent } from "../../model/extension.ts";
import type { Limits } from "../../limits.ts";
import { encodedLength } from "./tool_fit.ts";

/** What waits for one editor beyond the contract. */
export class Outbox {
  readonly client: ClientServices;
  readonly #limits: Limits;
  #events: ExtensionEvent[] = [];
  #length = 0;
  #state: "open" | "closed" = "open";
  #wake: (() => void) | undefined;

  /** Empty; `client` is what the editor offers. */
  constructor(client: ClientServices, limits: Limits) {
    this.client = client;
    this.#limits = limits;
  }

  /** Puts something behind what waits; false where that is too much. A cancelled request always has room: it takes little. */
  put(event: ExtensionEvent): boolean {
    if (this.#state === "closed") return false;
    const length = event.type === "request_cancelled" ? 0 : encodedLength(event.message.params);
    const { extensionsLength, extensionsWaiting } = this.#limits;
    const fits = this.#events.length < extensionsWaiting && this.#length + length <= extensionsLength;
    if (event.type !== "request_cancelled" && !fits) return false;
    this.#events.push(event);
    this.#length += length;
    this.#ring();
    return true;
  }

  /** What waits and what comes, until it is closed. */
  async *events(): AsyncGenerator<ExtensionEvent> {
    while (this.#state === "open") {
      const events = this.#events;
      this.#events = [];
      this.#length = 0;
      yield* events;
      if (this.#events.length === 0 && this.#state === "open") {
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    }
  }

  /** Nothing comes any more; what waits is dropped. */
  close(): void {
    this.#state = "closed";
    this.#events = [];
    this.#ring();
  }

  #ring(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
