import { setImmediate } from "node:timers";
import type { Clock } from "../../src/model/clock.ts";
import type { Random } from "./random.ts";

interface Sleeper {
  readonly at: number;
  /** Decides among sleepers of one moment, so that no order of theirs is taken for granted. */
  readonly tie: number;
  readonly domain: Domain;
  wake: (() => void) | undefined;
}

/** Why the clock stopped running. */
export type Halt = "idle" | "time" | "done" | "steps";

/**
 * Virtual time for a whole simulation. Whoever sleeps is woken alone, and everything that follows from it happens before the next one
 * is. It costs one turn of the event loop a step and no real time.
 */
export class SimClock {
  /** Steps of all runs so far. */
  steps: number = 0;
  readonly #random: Random;
  readonly #heap: Sleeper[] = [];
  readonly #domains: Domain[] = [];
  #now = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  now(): number {
    return this.#now;
  }

  /** A view of this clock whose sleepers are counted, and can be ended, apart from the others. */
  domain(name: string): Domain {
    const domain = new Domain(name, this);
    this.#domains.push(domain);
    return domain;
  }

  /** Who sleeps, by domain. */
  sleepers(): string[] {
    return this.#domains.filter((domain) => domain.sleeping > 0).map((domain) =>
      `${domain.name}: ${domain.sleeping}`
    );
  }

  /** Runs for at most `ms`, until nobody sleeps, or until `done` says so between two steps. */
  async run(ms: number, done: () => boolean = (): boolean => false, steps: number = Infinity): Promise<Halt> {
    const until = this.#now + ms;
    for (const last = this.steps + steps;;) {
      await turn();
      if (done()) return "done";
      const next = this.#next();
      if (next === undefined) return "idle";
      if (next.at > until) {
        this.#now = until;
        return "time";
      }
      if (++this.steps > last) return "steps";
      pop(this.#heap);
      this.#now = Math.max(this.#now, next.at);
      const { wake } = next;
      next.wake = undefined;
      next.domain.sleeping--;
      wake?.();
    }
  }

  /** Puts somebody to sleep. Returns what ends the sleep early. */
  add(domain: Domain, ms: number, wake: () => void): () => void {
    const tie = this.#random.next();
    const sleeper: Sleeper = { at: this.#now + Math.max(ms, 0), tie, domain, wake };
    push(this.#heap, sleeper);
    domain.sleeping++;
    return () => {
      if (sleeper.wake === undefined) return;
      sleeper.wake = undefined;
      domain.sleeping--;
    };
  }

  /** The first who sleeps; those that were ended early are dropped on the way. */
  #next(): Sleeper | undefined {
    for (let first; (first = this.#heap[0]) !== undefined; pop(this.#heap)) {
      if (first.wake !== undefined && first.domain.alive) return first;
    }
    return undefined;
  }
}

/** A part of the simulated world with timers of its own. */
export class Domain implements Clock {
  readonly name: string;
  readonly #clock: SimClock;
  alive = true;
  /** How many sleep. */
  sleeping = 0;

  constructor(name: string, clock: SimClock) {
    this.name = name;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!this.alive) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      const abort = () => {
        end();
        reject(signal?.reason);
      };
      const end = this.#clock.add(this, ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  turn(): Promise<void> {
    return this.sleep(0);
  }

  /** The process that this is the time of is killed: nobody in it ever wakes again. */
  kill(): void {
    this.alive = false;
    this.sleeping = 0;
  }
}

/** Resolves when no promise has anything left to do. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => resolve()));
}

function before(a: Sleeper, b: Sleeper): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}

function push(heap: Sleeper[], sleeper: Sleeper): void {
  let at = heap.push(sleeper) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(sleeper, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = sleeper;
}

function pop(heap: Sleeper[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
    if (!before(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
}
