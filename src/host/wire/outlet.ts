import { fits, type Link } from "./link.ts";

/** Lines that were sent, through which item each goes. */
interface Sent {
  readonly first: number;
  readonly last: number;
  readonly line: string;
}

/** What an {@linkcode Outlet} works with. */
export interface OutletOptions<T> {
  /** Its number. */
  readonly stream: number;
  /** UTF-16 units that may be out. */
  readonly windowLength: number;
  /** Bytes of a line at most. */
  readonly lineBytes: number;
  /** Fetches the next items; none when there are no more. */
  readonly pull: () => Promise<readonly T[]>;
  /** Resolves when everything else had its turn: what came meanwhile goes in one line. */
  readonly turn: () => Promise<void>;
  /** How items stand in a line. */
  readonly pack?: (items: readonly T[]) => readonly unknown[];
  /** Frees what is behind it; called once. */
  readonly release: () => void;
  /** Calls to the editor that nobody will ever see. */
  readonly unseen?: (callIds: readonly string[]) => void;
  /** The id of a call to the editor; undefined for every other item. */
  readonly callIn?: (item: T) => string | undefined;
}

/**
 * The Host's end of a numbered stream. It fetches only while less than its window is out, so a consumer that is slow is left to the
 * Host's own queue. What is out is kept, and sent again to a connection that comes back.
 */
export class Outlet<T> {
  readonly #options: OutletOptions<T>;
  #sent: Sent[] = [];
  #length = 0;
  #next = 1;
  #calls: { readonly number: number; readonly callId: string }[] = [];
  #link: Link | undefined;
  #state: "open" | "over" | "closed" = "open";
  #wake: (() => void) | undefined;

  /** Fetches nothing until {@linkcode start}. */
  constructor(options: OutletOptions<T>) {
    this.#options = options;
  }

  /** Begins to fetch. Without a link what is fetched waits for one. */
  start(link: Link | undefined): void {
    this.#link = link;
    this.#pump().catch(() => this.#lose());
  }

  /** Sends nothing until {@linkcode resume}. */
  detach(): void {
    this.#link = undefined;
  }

  /** Whether a connection that has the items through `have` can go on with it. */
  follows(have: number): boolean {
    return this.#state !== "closed" && have < this.#next && have + 1 >= (this.#sent[0]?.first ?? this.#next);
  }

  /** The connection is back and has the items through `have`: it gets the others again. */
  resume(link: Link, have: number): void {
    this.#link = link;
    for (const { last, line } of this.#sent) if (last > have) link.send(line);
    this.#awake();
  }

  /** The consumer took the items through this one. */
  ack(through: number): void {
    let count = 0;
    for (const { last, line } of this.#sent) {
      if (last > through) break;
      this.#length -= line.length;
      count++;
    }
    if (count > 0) this.#sent.splice(0, count);
    while (this.#calls.length > 0 && this.#calls[0]!.number <= through) this.#calls.shift();
    this.#awake();
  }

  /** Ends it. The consumer took the items through this one. */
  close(through: number = 0): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.ack(through);
    this.#sent = [];
    this.#options.release();
    this.#unseen(this.#calls.map(({ callId }) => callId));
    this.#awake();
  }

  async #pump(): Promise<void> {
    const { pull, windowLength, turn } = this.#options;
    while (this.#state === "open") {
      if (this.#length >= windowLength) {
        await new Promise<void>((resolve) => this.#wake = resolve);
        continue;
      }
      const room = this.#link?.room();
      if (room !== undefined) {
        await room;
        continue;
      }
      const items = await pull();
      if (this.#state !== "open") return this.#unseen(items.flatMap((item) => this.#callIn(item) ?? []));
      if (items.length === 0) {
        this.#state = "over";
        return;
      }
      this.#send(items);
      await turn();
    }
  }

  #send(items: readonly T[]): void {
    if (this.#state !== "open") return this.#unseen(items.flatMap((item) => this.#callIn(item) ?? []));
    const { stream, lineBytes, pack } = this.#options;
    const first = this.#next;
    const line = JSON.stringify({ type: "items", stream, first, items: pack?.(items) ?? items });
    if (!fits(line, lineBytes)) {
      if (items.length === 1) return this.#lose();
      for (const item of items) this.#send([item]);
      return;
    }
    this.#next += items.length;
    for (const [at, item] of items.entries()) {
      const callId = this.#callIn(item);
      if (callId !== undefined) this.#calls.push({ number: first + at, callId });
    }
    this.#sent.push({ first, last: this.#next - 1, line });
    this.#length += line.length;
    this.#link?.send(line);
  }

  /** No more can be sent: the consumer has to open another. */
  #lose(): void {
    if (this.#state === "closed") return;
    this.#link?.send(JSON.stringify({ type: "lost", stream: this.#options.stream }));
    this.close();
  }

  #callIn(item: T): string | undefined {
    return this.#options.callIn?.(item);
  }

  #unseen(callIds: readonly string[]): void {
    if (callIds.length > 0) this.#options.unseen?.(callIds);
  }

  #awake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
