import type { EngineProfile, RuntimeHost } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";
import type { TurnInput } from "../model/prompt.ts";
import type { Run } from "../model/run.ts";
import { unlessAborted, within } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import { SessionError } from "./errors.ts";
import { Intake } from "./intake.ts";
import type { Clock, Files, Ids, Log } from "./ports.ts";

/** What {@linkcode steer} works with. */
export interface SteerOptions {
  readonly host: RuntimeHost;
  readonly sessionId: string;
  readonly roots: readonly string[];
  readonly profile: EngineProfile;
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** Whether a prompt is meant for the Turn that works, rather than for one of its own: `_meta.gangway.steer` says so. */
export function wantsToSteer({ meta }: Draft): boolean {
  const own = meta?.gangway;
  return typeof own === "object" && own !== null && !Array.isArray(own) && "steer" in own &&
    own.steer === true;
}

/** Gives a prompt's words to a working Run. False where that takes none now; then nothing of them is left with the Host. */
export async function steer(
  draft: Draft,
  run: Run,
  options: SteerOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { host, sessionId, log } = options;
  const opening = Intake.open(draft, options);
  const intake = await unlessAborted(opening, signal).catch((error) => {
    // Files that are opened too late are closed again.
    opening.then((late) => late.close(), () => {});
    throw error;
  });
  let taken = false;
  try {
    const input = await intake.upload({ ...options, signal });
    taken = await unlessAborted(offer(input, run, options), signal);
    return taken;
  } finally {
    intake.close();
    if (!taken) await intake.abort(host, sessionId, log);
  }
}

/** By key: a lost reply is asked for again. */
async function offer(input: TurnInput, run: Run, options: SteerOptions): Promise<boolean> {
  const { host, sessionId, clock, ids } = options;
  const steerId = ids.next();
  for (let attempt = 1;; attempt++) {
    try {
      const offered = host.turns.steer({ sessionId, run, steerId, input });
      await within(clock, LIMITS.startMs, "passing words on", offered);
      return true;
    } catch (error) {
      if (error instanceof HostError && error.dispatch === "answered") {
        if (error.code === "unavailable" || error.code === "not_found") return false;
        throw error;
      }
      if (attempt < LIMITS.queryTries) continue;
      throw new SessionError(
        "outcome_unknown",
        "Whether the agent took the words cannot be found out; load the Session to see",
        { turnId: run.turnId },
      );
    }
  }
}
