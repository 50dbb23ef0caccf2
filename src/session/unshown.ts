import type { ReadRequest } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import type { Row } from "../model/row.ts";
import { type EncodedUpdate, Replay, type Shows } from "../projection/mod.ts";
import type { Attachment } from "./attachment.ts";
import type { ClientPort, Clock, Log } from "./ports.ts";

/** Rows that the Client was not shown: Turns of others that ended. */
export interface Unshown {
  /** Exclusive. */
  readonly after: number;
  /** Inclusive. */
  readonly through: number;
  /** Only this Turn; absent: all but `except`. */
  readonly turnId?: string;
  readonly except?: ReadonlySet<string>;
}

/** Ranges that are kept apart; more are joined into one. */
const RANGES = 64;

/** The showing of one range. It can break off at any row, or in the middle of one, and go on there. */
export class UnshownRange {
  readonly #range: Unshown;
  #replay: Replay | undefined;
  /** Every row up to here was shown whole. */
  #position: number;
  #state: "wanted" | "dropped" = "wanted";

  /** Nothing of it is shown yet. */
  constructor(range: Unshown) {
    this.#range = range;
    this.#position = range.after;
  }

  /** What is left of it. */
  get rest(): Unshown {
    return { ...this.#range, after: this.#position };
  }

  /** Whether something of it was shown. */
  get begun(): boolean {
    return this.#replay !== undefined;
  }

  /** What to read next. */
  get request(): Omit<ReadRequest, "cursor" | "maxLength"> {
    const { turnId, through } = this.#range;
    return { turnId, after: this.#position, through };
  }

  /** Takes the next row. */
  take(row: Row, now: number, abilities: Shows): readonly EncodedUpdate[] {
    this.#replay ??= new Replay({ abilities, live: [] });
    const skipped = this.#state === "dropped" || this.#range.except?.has(row.run.turnId) === true;
    const updates = skipped ? [] : this.#replay.read(row, now).updates;
    if (row.body === undefined || row.body.offset + row.body.text.length >= row.length) {
      this.#position = row.seq;
    }
    return updates;
  }

  /** What is left to say after the last row. */
  end(): readonly EncodedUpdate[] {
    return this.#state === "dropped" ? [] : this.#replay?.end().updates ?? [];
  }

  /** Shows nothing more: somebody else shows it. */
  drop(): void {
    this.#state = "dropped";
  }
}

/** The ranges of rows that wait for the next prompt. */
export class UnshownRows {
  #ranges: UnshownRange[] = [];

  /** The one that comes first. */
  get first(): UnshownRange | undefined {
    return this.#ranges[0];
  }

  /** Remembers a range; a Turn of its own only once. */
  add(range: Unshown): void {
    const { turnId } = range;
    if (turnId !== undefined && this.#ranges.some(({ rest }) => rest.turnId === turnId)) return;
    this.#ranges.push(new UnshownRange(range));
    if (this.#ranges.length <= RANGES) return;
    const begun = this.#ranges.filter((each) => each.begun);
    const rest = this.#ranges.filter((each) => !each.begun).map((each) => each.rest);
    const except = new Set(rest.flatMap((each) => [...each.except ?? []]));
    for (const { turnId } of rest) if (turnId !== undefined) except.delete(turnId);
    const after = Math.min(...rest.map((each) => each.after));
    const through = Math.max(...rest.map((each) => each.through));
    this.#ranges = [...begun, new UnshownRange({ after, through, except })];
  }

  /** Forgets one that was shown. */
  delete(range: UnshownRange): void {
    this.#ranges = this.#ranges.filter((each) => each !== range);
  }

  /** Forgets all but what is left of some Turns: the Client is shown everything else, or nothing of the past. */
  clear(left: ReadonlySet<string>): void {
    const kept = this.#ranges.filter(({ rest: { turnId } }) => turnId !== undefined && left.has(turnId));
    for (const range of this.#ranges) if (!kept.includes(range)) range.drop();
    this.#ranges = kept;
  }
}

/** Shows the Turns of others that ended since this connection looked last: v1 has no place for them between prompts. */
export async function showUnshown(
  options: {
    readonly attachment: Attachment;
    readonly client: ClientPort;
    readonly clock: Clock;
    readonly log: Log;
    readonly sessionId: string;
  },
  signal: AbortSignal,
): Promise<void> {
  const { attachment, client, clock, log, sessionId } = options;
  const show = (updates: readonly EncodedUpdate[]) => {
    for (const update of updates) client.update(sessionId, update);
  };
  for (let range; (range = attachment.unshown.first) !== undefined;) {
    const { abilities } = client;
    const shown = range;
    try {
      await attachment.read(
        () => shown.request,
        (row) => show(shown.take(row, clock.now(), abilities)),
        signal,
      );
    } catch (error) {
      // What cannot be read is not worth failing a prompt that has nothing to do with it.
      if (!(error instanceof HostError)) throw error;
      log.warn("what happened meanwhile could not be shown", { sessionId, reason: error.message });
    }
    show(shown.end());
    attachment.unshown.delete(shown);
  }
}
