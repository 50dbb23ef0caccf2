import type { SessionInfo } from "../../src/host/contract.ts";
import { HostError } from "../../src/host/errors.ts";
import type { SessionStore, Store, Write } from "../../src/host/store/contract.ts";
import type { MemoryStore } from "../../src/host/store/memory.ts";
import type { Random } from "./random.ts";
import type { Domain } from "./sim_clock.ts";
import type { Tape } from "./tape.ts";
import type { Truth } from "./truth.ts";

/** How the disk behaves. */
export interface DiskHabits {
  /** Probability that a commit takes time, and milliseconds at most. */
  readonly slow: number;
  readonly slowMs: number;
  /** Probability that a commit is refused. */
  readonly full: number;
}

/** What a {@linkcode SimStore} is made of. */
export interface StoreParts {
  /** Outlives every process that works on it. */
  readonly disk: MemoryStore;
  readonly domain: Domain;
  readonly random: Random;
  readonly tape: Tape;
  readonly truth: Truth;
  readonly habits: () => DiskHabits;
}

/** One process's way to a store that outlives it: commits take time and are refused, and the process may be killed between any two. */
export class SimStore implements Store {
  readonly #parts: StoreParts;
  readonly #held = new Set<SessionStore>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  get storeId(): string {
    return this.#parts.disk.storeId;
  }

  list(query: { cwd?: string; cursor?: string; limit: number }): ReturnType<Store["list"]> {
    return this.#parts.disk.list(query);
  }

  get(sessionId: string): Promise<SessionInfo | undefined> {
    return this.#parts.disk.get(sessionId);
  }

  keptAs(engineId: string): Promise<ReadonlySet<string>> {
    return this.#parts.disk.keptAs(engineId);
  }

  async create(info: SessionInfo, first?: readonly Write[]): Promise<SessionStore> {
    await this.#delay();
    return this.#wrap(await this.#parts.disk.create(info, first));
  }

  async hold(sessionId: string): Promise<SessionStore> {
    await this.#delay();
    return this.#wrap(await this.#parts.disk.hold(sessionId));
  }

  async remove(sessionId: string): Promise<void> {
    await this.#parts.disk.remove(sessionId);
    this.#parts.truth.removed.add(sessionId);
  }

  /** Lets go of what is held; the disk itself stays. */
  async close(): Promise<void> {
    for (const held of this.#held) await held.close();
  }

  /** The process is gone: its locks are free, nothing of it reaches the disk any more. */
  async kill(): Promise<void> {
    await this.close();
  }

  #wrap(session: SessionStore): SessionStore {
    this.#held.add(session);
    return {
      sessionId: session.sessionId,
      artifacts: session.artifacts,
      load: () => session.load(),
      heads: (query) => session.heads(query),
      body: (seq, offset, length) => session.body(seq, offset, length),
      rows: (query) => session.rows(query),
      turn: (turnId) => session.turn(turnId),
      interaction: (interactionId) => session.interaction(interactionId),
      change: (changeId) => session.change(changeId),
      commit: (batch) => this.#commit(session, batch),
      close: async () => {
        this.#held.delete(session);
        await session.close();
      },
    };
  }

  async #commit(session: SessionStore, batch: readonly Write[]): Promise<void> {
    const { random, tape, truth, habits } = this.#parts;
    await this.#delay();
    if (random.chance(habits().full)) {
      truth.refusals++;
      tape.add({ kind: "host", what: "unsaved" });
      throw new HostError("persistence_failed", "Cannot write: the disk is full");
    }
    await session.commit(batch);
    truth.take(session.sessionId, batch);
    for (const write of batch) {
      if (write.op === "turn") tape.add({ kind: "turn", sessionId: session.sessionId, record: write.turn });
    }
    // The process may be killed between the commit and its knowing of it.
    await this.#delay();
  }

  async #delay(): Promise<void> {
    const { random, domain, habits } = this.#parts;
    const { slow, slowMs } = habits();
    if (random.chance(slow)) await domain.sleep(random.between(0, slowMs));
  }
}
