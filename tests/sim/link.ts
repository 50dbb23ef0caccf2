import type { EngineProfile, RuntimeHost, SessionChange } from "../../src/host/contract.ts";
import { HostError } from "../../src/host/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { type Fate, fateOf, type LinkHabits } from "./fault_plan.ts";
import type { ReachedHost } from "./host_process.ts";
import type { Random } from "./random.ts";
import type { Domain } from "./sim_clock.ts";
import type { Tape } from "./tape.ts";

/** What a connection to the Host is made of. */
export interface LinkParts {
  readonly connectionId: string;
  readonly process: { readonly life: ReachedHost | undefined };
  readonly clock: Domain;
  readonly random: Random;
  readonly tape: Tape;
  /** As they are now: they change when faults cease. */
  readonly habits: () => LinkHabits;
  /** Resolves when faults cease: whoever was left without an answer gets one. */
  readonly healed: Promise<void>;
}

/** An operation on its way to the Host. */
export interface Sending {
  readonly name: string;
  readonly sessionId: string;
  readonly detail: JsonObject;
  readonly once: boolean;
}

/** Operations after which a simulation counts as running wild. */
const WILD = 20_000;

/** Carries operations to the present life of the Host: in order for each Session, answers in any order. */
export class Link {
  readonly #parts: LinkParts;
  /** When the operation that was sent last departs, by Session. */
  readonly #departures = new Map<string, number>();
  #count = 0;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  describe(engineId?: string): EngineProfile {
    const { process, connectionId } = this.#parts;
    const life = process.life;
    if (life === undefined) throw unavailable("not_sent");
    return life.reach(connectionId).describe(engineId);
  }

  async *watch(signal: AbortSignal): AsyncGenerator<SessionChange> {
    const { process, connectionId } = this.#parts;
    const life = process.life;
    if (life === undefined) throw unavailable("not_sent");
    const changes = life.reach(connectionId).watch(signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([changes.next(), life.over.promise]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  }

  /** Sends an operation and tells the tape what became of it. */
  async send<T>(sending: Sending, deliver: (host: RuntimeHost) => Promise<T>): Promise<T> {
    const { tape, connectionId: by, random, habits } = this.#parts;
    if (++this.#count > WILD) {
      if (this.#count === WILD + 1) {
        tape.add({
          kind: "wrong",
          rule: "wild",
          what: `more than ${WILD} operations, the last one ${sending.name}`,
        });
      }
      return await new Promise<never>(() => {});
    }
    const id = tape.id();
    const fate = fateOf(random, habits(), sending.name, sending.once);
    tape.add({
      kind: "op",
      by,
      id,
      name: sending.name,
      sessionId: sending.sessionId,
      detail: sending.detail,
    });
    if (fate !== "pass") tape.add({ kind: "fault", by, what: `${fate} ${sending.name} ${id}` });
    try {
      const value = await this.#carry(sending, fate, deliver);
      tape.add({ kind: "op_over", by, id, outcome: "done", value: told(value) });
      return value;
    } catch (error) {
      const outcome = error instanceof HostError ? `${error.dispatch} ${error.code}` : String(error);
      tape.add({ kind: "op_over", by, id, outcome, value: {} });
      throw error;
    }
  }

  async #carry<T>(sending: Sending, fate: Fate, deliver: (host: RuntimeHost) => Promise<T>): Promise<T> {
    const { clock, random, healed } = this.#parts;
    switch (fate) {
      case "not_sent":
        await this.#delay();
        throw unavailable("not_sent");
      case "refused":
        await this.#delay();
        throw unavailable("answered");
      case "lost":
        await clock.sleep(random.between(1, random.chance(0.2) ? 20_000 : 300));
        throw unavailable("unknown");
      case "late": {
        const patience = random.between(1, 300);
        const late = random.between(1, 2000);
        const life = this.#parts.process.life;
        void clock.sleep(patience + late).then(() => this.#deliver(life, deliver)).then(dispose, () => {});
        await clock.sleep(patience);
        throw unavailable("unknown");
      }
      case "unanswered":
        await this.#depart(sending.sessionId);
        await this.#deliver(this.#parts.process.life, deliver).then(dispose, () => {});
        await clock.sleep(random.between(0, 300));
        throw unavailable("unknown");
      case "silent":
        if (random.chance(0.5)) {
          await this.#depart(sending.sessionId);
          void this.#deliver(this.#parts.process.life, deliver).then(dispose, () => {});
        }
        await healed;
        throw unavailable("unknown");
      case "twice": {
        await this.#depart(sending.sessionId);
        const { life } = this.#parts.process;
        const first = this.#deliver(life, deliver);
        void this.#deliver(life, deliver).then(dispose, () => {});
        return await this.#back(first);
      }
      case "pass":
        await this.#depart(sending.sessionId);
        return await this.#back(this.#deliver(this.#parts.process.life, deliver));
    }
  }

  /** Hands it to a life of the Host, which may be over before it answers. */
  async #deliver<T>(life: ReachedHost | undefined, deliver: (host: RuntimeHost) => Promise<T>): Promise<T> {
    const { process, connectionId } = this.#parts;
    if (life === undefined || process.life !== life) throw unavailable("not_sent");
    const answer = deliver(life.reach(connectionId));
    return await Promise.race([
      answer,
      life.over.promise.then(() => {
        throw unavailable("unknown");
      }),
    ]);
  }

  /** Waits for what departs before it; operations of one Session keep their order. */
  async #depart(sessionId: string): Promise<void> {
    const { clock, random, habits } = this.#parts;
    const { slow, slowMs } = habits();
    const delay = random.chance(slow) ? random.between(0, slowMs) : 0;
    const before = this.#departures.get(sessionId) ?? -1;
    const at = Math.max(clock.now() + delay, before >= clock.now() ? before + 0.001 : 0);
    if (at <= clock.now()) return;
    this.#departures.set(sessionId, at);
    await clock.sleep(at - clock.now());
  }

  async #back<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      await this.#delay();
    }
  }

  async #delay(): Promise<void> {
    const { clock, random, habits } = this.#parts;
    const { slow, slowMs } = habits();
    if (random.chance(slow)) await clock.sleep(random.between(0, slowMs));
  }
}

/** The Host cannot be reached, as the sender of an operation learns it. */
export function unavailable(dispatch: HostError["dispatch"]): HostError {
  return new HostError("unavailable", "The Host cannot be reached", { dispatch });
}

/** What of an answer the tape keeps. */
function told(value: unknown): JsonObject {
  if (typeof value !== "object" || value === null) return {};
  const kept: Record<string, string> = {};
  if ("kind" in value && typeof value.kind === "string") kept.kind = value.kind;
  if ("run" in value && typeof value.run === "object" && value.run !== null) {
    const { run } = value;
    if ("turnId" in run && typeof run.turnId === "string") kept.turnId = run.turnId;
    if ("runId" in run && typeof run.runId === "string") kept.runId = run.runId;
  }
  return kept;
}

/** An answer that nobody gets: a Subscription ends with it. */
function dispose(value: unknown): void {
  if (typeof value === "object" && value !== null && "close" in value && typeof value.close === "function") {
    value.close();
  }
}
