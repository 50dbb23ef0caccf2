import { Replay } from "../projection/mod.ts";
import type { Attachment } from "./attachment.ts";
import type { ClientPort, Clock } from "./ports.ts";

/** Rows that the Client was not shown: Turns of others, and what happened while no Subscription was open. */
export interface Unshown {
  readonly after: number;
  readonly through: number;
  /** Only this Turn; absent: all but `except`. */
  readonly turnId?: string;
  readonly except?: ReadonlySet<string>;
}

/** Ranges that are kept apart; more are joined into one. */
const RANGES = 64;

/** The ranges of rows that wait for the next prompt. */
export class UnshownRows {
  #ranges: Unshown[] = [];

  /** Remembers a range. */
  add(range: Unshown): void {
    this.#ranges.push(range);
    if (this.#ranges.length <= RANGES) return;
    const except = new Set(this.#ranges.flatMap((each) => [...each.except ?? []]));
    for (const { turnId } of this.#ranges) if (turnId !== undefined) except.delete(turnId);
    this.#ranges = [{
      after: Math.min(...this.#ranges.map((each) => each.after)),
      through: range.through,
      except,
    }];
  }

  /** Gives all of them away. */
  take(): readonly Unshown[] {
    const ranges = this.#ranges;
    this.#ranges = [];
    return ranges;
  }
}

/** Shows the Turns of others that ended since this connection looked last: v1 has no place for them between prompts. */
export async function showUnshown(
  options: { attachment: Attachment; client: ClientPort; clock: Clock; sessionId: string },
  signal: AbortSignal,
): Promise<void> {
  const { attachment, client, clock, sessionId } = options;
  for (const range of attachment.takeUnshown()) {
    const replay = new Replay({ abilities: client.abilities, live: [] });
    const show = (updates: readonly string[]) => {
      for (const update of updates) client.update(sessionId, update);
    };
    await attachment.read(
      () => ({ turnId: range.turnId, after: range.after, through: range.through }),
      (row) => {
        if (range.except?.has(row.run.turnId) !== true) show(replay.read(row, clock.now()).updates);
      },
      signal,
    );
    show(replay.end().updates);
  }
}
