import type { Random } from "./random.ts";

/**
 * What may become of one operation on its way to the Host and back.
 *
 * - `not_sent`: it never leaves, and its caller is told so
 * - `lost`: it never arrives, and no answer comes
 * - `late`: no answer comes, and it arrives out of order some time after its caller gave up
 * - `unanswered`: it takes effect, and the answer is lost
 * - `silent`: it takes effect or not, and nobody is ever told
 * - `twice`: it arrives twice; only what may be repeated
 * - `refused`: the Host is there and cannot do it now
 */
export type Fate = "pass" | "not_sent" | "lost" | "late" | "unanswered" | "silent" | "twice" | "refused";

/** What may become of a Subscription when frames are fetched. */
export type StreamFate = "pass" | "lost" | "slow_consumer" | "draining" | "gap" | "ended";

/** How a connection to the Host behaves. All are probabilities unless said otherwise. */
export interface LinkHabits {
  /** That an operation takes time on its way, and back; milliseconds at most. */
  readonly slow: number;
  readonly slowMs: number;
  /** That something becomes of an operation that should not. */
  readonly operation: number;
  /** That something becomes of a Subscription, at each fetch. */
  readonly stream: number;
  /** That a fetch splits what is there, or sees the last frame twice. */
  readonly split: number;
  readonly again: number;
  /** That a read fails or takes long, and that pages are odd. */
  readonly read: number;
  readonly oddPages: number;
}

/** A connection on which nothing goes wrong. */
export const GOOD_LINK: LinkHabits = {
  slow: 0,
  slowMs: 0,
  operation: 0,
  stream: 0,
  split: 0,
  again: 0,
  read: 0,
  oddPages: 0,
};

/** Operations for which their caller keeps a deadline, so that they may stay without an answer for good. */
const DEADLINED: ReadonlySet<string> = new Set([
  "open",
  "start",
  "query",
  "stop",
  "release",
  "closeConnection",
]);

/** Draws what becomes of an operation. */
export function fateOf(random: Random, habits: LinkHabits, name: string, once: boolean): Fate {
  if (!random.chance(habits.operation)) return "pass";
  return random.weighted<Fate>([
    [4, "not_sent"],
    [4, "lost"],
    [3, "late"],
    [5, "unanswered"],
    [DEADLINED.has(name) ? 3 : 0, "silent"],
    [once || name === "open" ? 0 : 4, "twice"],
    [2, "refused"],
  ]);
}

/** Draws what becomes of a Subscription at a fetch. */
export function streamFateOf(random: Random, habits: LinkHabits): StreamFate {
  if (!random.chance(habits.stream)) return "pass";
  return random.pick(["lost", "slow_consumer", "draining", "gap", "ended"]);
}
