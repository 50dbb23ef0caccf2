import type { RuntimeHost } from "../../src/host/contract.ts";
import { LocalHost } from "../../src/host/local/host.ts";
import { MemoryStore } from "../../src/host/store/memory.ts";
import type { Log } from "../../src/model/log.ts";
import type { EngineHabits, EngineNotes } from "./engine_run.ts";
import type { Random } from "./random.ts";
import { RandomEngine } from "./random_engine.ts";
import type { Domain, SimClock } from "./sim_clock.ts";
import { type DiskHabits, SimStore } from "./sim_store.ts";
import type { Tape } from "./tape.ts";
import type { Truth } from "./truth.ts";

/** What a {@linkcode HostProcess} is made of. */
export interface ProcessParts {
  readonly clock: SimClock;
  readonly random: Random;
  readonly tape: Tape;
  readonly truth: Truth;
  readonly notes: EngineNotes;
  readonly engine: EngineHabits;
  readonly disk: () => DiskHabits;
  readonly log: Log;
}

/** A Host as connections reach it until it is over. */
export interface ReachedHost {
  /** The Host as a connection of that name sees it. */
  reach(connectionId: string): RuntimeHost;
  /** Resolves when it is no more. */
  readonly over: PromiseWithResolvers<void>;
}

/** One life of the Host: a process that works until it is drained or killed. */
export interface Life extends ReachedHost {
  readonly local: LocalHost;
  /** How it comes to its end. */
  end: "none" | "killed" | "drained";
}

/** The Host as a process of its own, which comes back on the same store after it was drained or killed. */
export class HostProcess {
  /** Everything that any of its lives kept. */
  readonly disk: MemoryStore = new MemoryStore();
  readonly #parts: ProcessParts;
  #life: (Life & { readonly domains: readonly Domain[]; readonly store: SimStore }) | undefined;
  #lives = 0;
  #ids = 0;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.start();
  }

  /** The present life; undefined while the process is down. */
  get life(): Life | undefined {
    return this.#life;
  }

  start(): void {
    const { clock, random, tape, truth, notes, engine, disk: habits, log } = this.#parts;
    const life = `life${++this.#lives}`;
    const domain = clock.domain(`host ${life}`);
    const work = clock.domain(`engine ${life}`);
    const store = new SimStore({
      disk: this.disk,
      domain,
      random: random.fork(`${life}/disk`),
      tape,
      truth,
      habits,
    });
    const agent = new RandomEngine({
      clock: work,
      random: random.fork(`${life}/engine`),
      notes,
      habits: engine,
    });
    const local = new LocalHost({
      store: () => Promise.resolve(store),
      engines: [agent],
      defaultEngine: "random",
      clock: domain,
      ids: { next: () => `h${++this.#ids}` },
      log,
      date: () => 1e12 + Math.floor(clock.now()),
    });
    const connections = new Map<string, RuntimeHost>();
    this.#life = {
      local,
      store,
      reach: (connectionId) => {
        const connection = connections.get(connectionId) ?? local.connect(connectionId);
        connections.set(connectionId, connection);
        return connection;
      },
      end: "none",
      over: Promise.withResolvers(),
      domains: [domain, work],
    };
    tape.add({ kind: "host", what: "up" });
  }

  /** Kills the process: what it did not commit is lost, and nobody is told. */
  async kill(): Promise<void> {
    const life = this.#life;
    if (life === undefined) return;
    this.#life = undefined;
    life.end = "killed";
    this.#parts.tape.add({ kind: "host", what: "crash" });
    for (const domain of life.domains) domain.kill();
    await life.store.kill();
    life.over.resolve();
  }

  /** Ends the process in good order. */
  async drain(): Promise<void> {
    const life = this.#life;
    if (life === undefined) return;
    this.#life = undefined;
    life.end = "drained";
    this.#parts.tape.add({ kind: "host", what: "drain" });
    await life.local.close();
    life.over.resolve();
  }
}
