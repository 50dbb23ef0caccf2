import { ProtocolError } from "./link.ts";

/** What an {@linkcode Inlet} works with. */
export interface InletOptions {
  /** Its number. */
  readonly stream: number;
  /** The items behind what stands in a line. */
  readonly unpack?: (items: readonly unknown[]) => readonly unknown[];
  /** What is wrong with an item; undefined where it is one. */
  readonly fault: (item: unknown) => string | undefined;
  /** Whether an item is of a kind that this side does not know, and is left out. */
  readonly unknown?: (item: unknown) => boolean;
  /** The consumer took everything through this item: more may come. */
  readonly ack: (through: number) => void;
}

/**
 * The client's end of a numbered stream. `opening` until the Host has answered, `live` while more may come, `over` when none will and
 * what came before is still handed out, `closed` when its consumer wants no more.
 */
export class Inlet<T> {
  readonly stream: number;
  readonly #options: InletOptions;
  #items: T[] = [];
  #state: "opening" | "live" | "over" | "closed" = "opening";
  /** Number of the last item that came, and of the last one that was handed out. */
  #have = 0;
  #handed = 0;
  /** UTF-16 units that came and were not handed out, and that were and are not told yet. */
  #length = 0;
  #untold = 0;
  #wake: (() => void) | undefined;

  /** Waits for the Host. */
  constructor(options: InletOptions) {
    this.stream = options.stream;
    this.#options = options;
  }

  /** Everything through this item came. */
  get have(): number {
    return this.#have;
  }

  /** Everything through this item was handed out. */
  get handed(): number {
    return this.#handed;
  }

  /** How it stands. */
  get state(): "opening" | "live" | "over" | "closed" {
    return this.#state;
  }

  /** Whether more may come. */
  get expectant(): boolean {
    return this.#state === "opening" || this.#state === "live";
  }

  /** The Host has it. */
  opened(): void {
    if (this.#state === "opening") this.#state = "live";
  }

  /** Whatever came of it is forgotten: the Host will open it anew. */
  reset(): void {
    this.#items = [];
    this.#have = this.#length = 0;
  }

  /** Takes items that came in a line of so many units. Those that came before are left out. Throws {@linkcode ProtocolError}. */
  take(first: number, items: readonly unknown[], length: number): void {
    if (!this.expectant) return;
    if (first > this.#have + 1) throw new ProtocolError(`items of stream ${this.stream} are missing`);
    const fresh = this.#have + 1 - first;
    if (fresh >= items.length) return;
    const whole = this.#options.unpack?.(items) ?? items;
    for (const item of fresh === 0 ? whole : whole.slice(fresh)) {
      if (this.#options.unknown?.(item) === true) continue;
      const fault = this.#options.fault(item);
      if (fault !== undefined) {
        throw new ProtocolError(`an item of stream ${this.stream} is malformed: ${fault}`);
      }
      this.#items.push(item as T);
    }
    this.#have = first + items.length - 1;
    this.#length += length;
    this.#awake();
  }

  /** Waits for items and hands out all that are there; none when it is over. One call at a time. */
  async next(windowLength: number): Promise<readonly T[]> {
    while (this.#items.length === 0 && this.expectant) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const items = this.#items;
    this.#items = [];
    this.#handed = this.#have;
    this.#untold += this.#length;
    this.#length = 0;
    if (this.#untold * 4 >= windowLength) this.tell();
    return items;
  }

  /** Whether somebody waits for items. */
  get awaited(): boolean {
    return this.#wake !== undefined;
  }

  /** Tells the Host what was handed out. */
  tell(): void {
    this.#untold = 0;
    if (this.#handed > 0) this.#options.ack(this.#handed);
  }

  /** No more comes; `last` is handed out behind what is there. */
  end(last?: T): void {
    if (!this.expectant) return;
    this.#state = "over";
    if (last !== undefined) this.#items.push(last);
    this.#awake();
  }

  /** No more is wanted, not even what is there. */
  close(): void {
    this.#state = "closed";
    this.#items = [];
    this.#awake();
  }

  #awake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
