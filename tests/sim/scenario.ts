import type { EngineHabits } from "./engine_run.ts";
import { GOOD_LINK, type LinkHabits } from "./fault_plan.ts";
import type { Random } from "./random.ts";
import type { ClientHabits } from "./sim_client.ts";
import type { DiskHabits } from "./sim_store.ts";
import type { Deed, UserHabits } from "./sim_user.ts";

/** How a simulation ends. */
export type Finale =
  /** Faults cease, everybody is patient, and everything has to come to its end by itself. */
  | "patience"
  /** Faults cease and whatever runs is cancelled. */
  | "cancel"
  /** Every Session is closed, with faults. */
  | "close"
  /** The connections end where they are. */
  | "shutdown";

/** Everything that a seed decides in advance. */
export interface Scenario {
  readonly connections: number;
  readonly users: readonly UserHabits[];
  readonly clients: readonly ClientHabits[];
  readonly links: readonly LinkHabits[];
  readonly engine: EngineHabits;
  readonly disk: DiskHabits;
  /** How often the Host dies or restarts while users are at it. */
  readonly restarts: number;
  readonly finale: Finale;
}

/** Draws a scenario. Many seeds leave whole kinds of trouble out, so that the others can be seen alone. */
export function scenarioOf(random: Random): Scenario {
  const connections = random.chance(0.35) ? 2 : 1;
  const each = <T>(make: () => T): T[] => Array.from({ length: connections }, make);
  return {
    connections,
    users: each(() => userOf(random)),
    clients: each(() => clientOf(random)),
    links: each(() => linkOf(random)),
    engine: {
      steps: random.weighted([[3, 3], [5, 8], [1, 16]]),
      words: random.weighted([[8, 2000], [1, 40_000]]),
      rewrites: random.chance(0.15) ? 4 : 0,
      deaf: random.chance(0.3) ? 0.4 : 0,
      lateWords: random.chance(0.3) ? 0.5 : 0,
      endless: random.chance(0.2) ? 0.3 : 0,
    },
    disk: {
      slow: random.chance(0.4) ? 0.5 : 0,
      slowMs: random.pick([2, 30, 300]),
      full: random.chance(0.06) ? 0.03 : 0,
    },
    restarts: random.chance(0.18) ? random.between(1, 3) : 0,
    finale: random.weighted([[5, "patience"], [2, "cancel"], [2, "close"], [2, "shutdown"]]),
  };
}

function userOf(random: Random): UserHabits {
  const some = (weight: number, probability: number) => random.chance(probability) ? weight : 0;
  const weights: { [deed in Deed]: number } = {
    create: 1,
    prompt: 12,
    cancel: some(4, 0.7),
    withdraw: some(3, 0.5),
    configure: some(2, 0.4),
    close: some(2, 0.5),
    load: some(3, 0.6),
    resume: some(2, 0.4),
    list: some(1, 0.2),
    remove: some(1, 0.1),
    trespass: some(1, 0.1),
    stall: some(2, 0.3),
    leave: some(1, 0.08),
  };
  return { actions: random.weighted([[4, 4], [4, 8], [3, 14], [1, 24]]), weights };
}

function clientOf(random: Random): ClientHabits {
  const able = () => random.chance(0.85);
  return {
    abilities: {
      readTextFile: able(),
      writeTextFile: able(),
      terminal: able(),
      forms: able(),
      booleanOptions: able(),
      notices: random.chance(0.5),
      compaction: random.chance(0.5),
    },
    highWater: random.pick([1, 2000, 30_000, 256 * 1024]),
    slow: random.chance(0.4) ? 0.5 : 0,
    slowMs: random.pick([2, 30, 400]),
    rude: random.chance(0.3) ? 0.2 : 0,
    silent: random.chance(0.3) ? 0.3 : 0,
  };
}

function linkOf(random: Random): LinkHabits {
  if (random.chance(0.25)) return GOOD_LINK;
  const some = (probability: number, ...values: number[]) =>
    random.chance(probability) ? random.pick(values) : 0;
  return {
    slow: some(0.6, 0.2, 0.8),
    slowMs: random.pick([1, 20, 200]),
    operation: some(0.5, 0.03, 0.12, 0.3),
    stream: some(0.5, 0.01, 0.05, 0.2),
    split: some(0.5, 0.5),
    again: some(0.4, 0.1),
    read: some(0.4, 0.1, 0.4),
    oddPages: some(0.5, 0.3, 1),
  };
}
