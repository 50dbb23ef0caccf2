import type { WireStream } from "../../../src/host/wire/mod.ts";
import type { Random } from "../../sim/random.ts";
import type { Domain } from "../../sim/sim_clock.ts";

/** How a connection of bytes behaves. All are probabilities, for each chunk unless said otherwise. */
export interface ChaosHabits {
  /** That dialing fails. */
  readonly refuse: number;
  /** That a chunk takes time; milliseconds at most. */
  readonly slow: number;
  readonly slowMs: number;
  /** That it arrives in pieces. */
  readonly split: number;
  /** That the connection is cut: before the chunk, in the middle of it, or after it. */
  readonly cut: number;
  /** That a cut is seen by one end only, for each cut. */
  readonly half: number;
  /** That a direction stops for so long that the peer is taken for dead. */
  readonly stall: number;
  /** That all that a client sent is sent again by another connection, for each connection. */
  readonly replay: number;
  /** That a reply is overtaken by what the Host says after it, for each reply. */
  readonly overtaken: number;
}

/** A connection on which nothing goes wrong. */
export const QUIET: ChaosHabits = {
  refuse: 0,
  slow: 0,
  slowMs: 0,
  split: 0,
  cut: 0,
  half: 0,
  stall: 0,
  replay: 0,
  overtaken: 0,
};

/** Draws how the connections of one client behave. */
export function habitsOf(random: Random): ChaosHabits {
  const some = (probability: number, ...values: number[]) =>
    random.chance(probability) ? random.pick(values) : 0;
  return {
    refuse: some(0.5, 0.1, 0.5),
    slow: some(0.6, 0.2, 0.8),
    slowMs: random.pick([1, 20, 200]),
    split: some(0.5, 0.3, 1),
    cut: some(0.8, 0.01, 0.05, 0.15),
    half: some(0.5, 0.3),
    stall: some(0.3, 0.01, 0.04),
    replay: some(0.4, 0.3),
    overtaken: some(0.6, 0.1, 0.5),
  };
}

/** What a {@linkcode ChaosChannel} works with. */
export interface ChaosParts {
  readonly clock: Domain;
  readonly random: Random;
  /** As they are now. */
  readonly habits: () => ChaosHabits;
  /** Whether the process at the far end is gone without a word. */
  readonly gone: () => boolean;
  /** Tells what goes wrong. */
  readonly note: (what: string) => void;
}

/** How a reply begins. */
const REPLY = '{"type":"reply"';

/** One direction. */
class Pipe {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly #over = Promise.withResolvers<void>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #ended = false;
  #pulled: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(carry: (chunk: Uint8Array, pipe: Pipe) => Promise<void>) {
    this.readable = new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      pull: () => this.#pulled.resolve(),
      cancel: () => this.end(),
    }, { highWaterMark: 1 });
    this.writable = new WritableStream({ write: (chunk) => carry(chunk, this), abort: () => this.end() });
  }

  /** Resolves when it is over. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get ended(): boolean {
    return this.#ended;
  }

  async deliver(bytes: Uint8Array): Promise<void> {
    if (this.#ended || bytes.length === 0) return;
    this.#pulled = Promise.withResolvers();
    this.#controller?.enqueue(bytes);
    if ((this.#controller?.desiredSize ?? 0) <= 0) await Promise.race([this.#pulled.promise, this.over]);
  }

  /** The reader sees the end. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#over.resolve();
    try {
      this.#controller?.close();
    } catch {
      // Its reader has cancelled it.
    }
  }
}

/** A connection between two ends that is slow, splits, stalls, and is cut at any place: seeded, and in virtual time. */
export class ChaosChannel {
  readonly here: WireStream;
  readonly there: WireStream;
  /** What the client sent so far. */
  readonly sent: Uint8Array[] = [];
  readonly #parts: ChaosParts;
  readonly #up: Pipe;
  readonly #down: Pipe;
  #broken = false;
  /** What the Host says is carried one after the other: a reply that was held back comes between two lines. */
  #carrying: Promise<void> = Promise.resolve();

  constructor(parts: ChaosParts) {
    this.#parts = parts;
    this.#up = new Pipe((chunk, pipe) => {
      this.sent.push(chunk);
      return this.#carry(chunk, pipe);
    });
    this.#down = new Pipe((chunk, pipe) => {
      const prompt = this.#withoutOvertaken(chunk, pipe);
      return this.#inTurn(() => this.#carry(prompt, pipe));
    });
    this.here = {
      readable: this.#down.readable,
      writable: this.#up.writable,
      close: () => this.#close(this.#down, this.#up),
    };
    this.there = {
      readable: this.#up.readable,
      writable: this.#down.writable,
      close: () => this.#close(this.#up, this.#down),
    };
  }

  /** Ends both directions for both ends. */
  cut(): void {
    this.#broken = true;
    this.#up.end();
    this.#down.end();
  }

  #inTurn(carry: () => Promise<void>): Promise<void> {
    const carried = this.#carrying.then(carry);
    this.#carrying = carried.catch(() => {});
    return carried;
  }

  /** Takes some replies out of what the Host says at once, whole lines always; they follow later. */
  #withoutOvertaken(chunk: Uint8Array, pipe: Pipe): Uint8Array {
    const { random, habits, clock, note } = this.#parts;
    const { overtaken } = habits();
    if (overtaken === 0) return chunk;
    const prompt = new TextDecoder().decode(chunk).split(/(?<=\n)/).filter((line) => {
      if (!line.startsWith(REPLY) || !random.chance(overtaken)) return true;
      note("holds a reply back");
      clock.sleep(random.between(1, random.pick([2, 50, 2000])))
        .then(() => this.#inTurn(() => this.#carry(new TextEncoder().encode(line), pipe)))
        // It is lost with its connection.
        .catch(() => {});
      return false;
    });
    return new TextEncoder().encode(prompt.join(""));
  }

  async #carry(chunk: Uint8Array, pipe: Pipe): Promise<void> {
    const { random, habits, clock, note, gone } = this.#parts;
    const { slow, slowMs, split, cut, stall } = habits();
    if (gone()) this.cut();
    if (this.#broken || pipe.ended) throw new Error("the connection is broken");
    if (random.chance(slow)) await Promise.race([clock.sleep(random.between(0, slowMs)), pipe.over]);
    if (random.chance(stall)) {
      note("stalls");
      await Promise.race([clock.sleep(random.between(1000, 60_000)), pipe.over]);
    }
    if (gone()) this.cut();
    if (random.chance(cut)) {
      const some = random.pick([0, random.between(0, chunk.length), chunk.length]);
      note(`is cut after ${some} of ${chunk.length} bytes`);
      await pipe.deliver(chunk.slice(0, some));
      this.#break();
      throw new Error("the connection is broken");
    }
    let at = 0;
    while (at < chunk.length) {
      const end = random.chance(split) ? at + random.between(1, chunk.length - at) : chunk.length;
      await pipe.deliver(chunk.slice(at, end));
      at = end;
      if (at < chunk.length) await Promise.race([clock.sleep(0), pipe.over]);
    }
  }

  /** Cuts it for both ends, or for one of them: the other has to find out by itself. */
  #break(): void {
    const { random, habits, note } = this.#parts;
    if (!random.chance(habits().half)) return this.cut();
    note("is cut for one end");
    this.#broken = true;
    random.pick([this.#up, this.#down]).end();
  }

  /** One end gave it up: it reads and writes no more; the other end sees that a little later. */
  #close(own: Pipe, other: Pipe): void {
    own.end();
    const { clock, random, habits } = this.#parts;
    const { slow, slowMs } = habits();
    const delay = random.chance(slow) ? random.between(0, slowMs) : 0;
    if (delay === 0) return other.end();
    clock.sleep(delay).then(() => other.end());
  }
}
