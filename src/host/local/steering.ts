import type { TurnInput } from "../../model/prompt.ts";
import { HostError } from "../errors.ts";
import type { ActiveRun } from "./active_run.ts";
import type { Journal } from "./journal.ts";
import type { Supervisor } from "./supervisor.ts";
import type { Uploads } from "./uploads.ts";

/** What {@linkcode Steering} works with. */
export interface SteeringParts {
  readonly journal: Journal;
  readonly supervisor: Supervisor;
  readonly uploads: Uploads;
}

/** Words that people give to a Run while it works: each key goes to the Engine once, and what it took is recorded. */
export class Steering {
  readonly #parts: SteeringParts;

  constructor(parts: SteeringParts) {
    this.#parts = parts;
  }

  /** Checks the words and offers them. `taken` is the Engine's word for it: it rejects with `unavailable` where it took none. */
  async steer(run: ActiveRun, steerId: string, input: TurnInput): Promise<{ readonly taken: Promise<void> }> {
    const known = run.steers.get(steerId);
    if (known !== undefined) return { taken: known };
    const artifactIds = await this.#parts.uploads.used(input);
    const taken = this.#offer(run, steerId, input, artifactIds);
    run.steers.set(steerId, taken);
    // Words that were not taken may be offered again.
    taken.catch(() => run.steers.delete(steerId));
    return { taken };
  }

  async #offer(
    run: ActiveRun,
    steerId: string,
    input: TurnInput,
    artifactIds: readonly string[],
  ): Promise<void> {
    const { supervisor, journal, uploads } = this.#parts;
    const engine = await supervisor.session();
    const taken = run.foreground && await engine.steer?.(run.key.turnId, input) === true;
    if (!taken) throw new HostError("unavailable", "The agent takes no words while it works");
    if (run.taking) run.transcript.words(steerId, input);
    const { turnId } = run.key;
    await journal.commit(() => artifactIds.map((artifactId) => ({ op: "pin", turnId, artifactId })));
    uploads.pinned(artifactIds);
  }
}
