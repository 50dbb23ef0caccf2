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

/** Both of two ranges of all Turns. */
function joined(a: Unshown, b: Unshown): Unshown {
  return {
    after: Math.min(a.after, b.after),
    through: Math.max(a.through, b.through),
    except: new Set([...a.except ?? [], ...b.except ?? []]),
  };
}

/** Turns that are remembered for the next prompt. Of more the oldest are left to a load. */
const TURNS = 1024;

/** The showing of one range. It can break off at any row, or in the middle of one, and go on there. */
export class UnshownRange {
  #range: Unshown;
  #replay: Replay | undefined;
  /** Every row up to here was shown whole. */
  #position: number;
  #state: "wanted" | "begun" | "dropped" = "wanted";

  /** Nothing of it is shown yet. */
  constructor(range: Unshown) {
    this.#range = range;
    this.#position = range.after;
  }

  /** What is left of it. */
  get rest(): Unshown {
    return { ...this.#range, after: this.#position };
  }

  /** Whether somebody is at it, or was. */
  get begun(): boolean {
    return this.#state !== "wanted";
  }

  /** Somebody shows it from now on. */
  begin(): void {
    if (this.#state === "wanted") this.#state = "begun";
  }

  /** A Turn that is seen live has nothing in a range of what was not seen: a Host that lost rows gives their sequences out again. */
  leave(turnId: string): void {
    if (this.#range.turnId !== undefined || this.#range.except?.has(turnId) === true) return;
    this.#range = { ...this.#range, except: new Set([...this.#range.except ?? [], turnId]) };
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
    if (turnId === undefined) return this.#join(range);
    this.#ranges.push(new UnshownRange(range));
    if (this.#ranges.length > TURNS) this.#ranges.shift()?.drop();
  }

  /** Says that a Turn is seen live: it comes by itself. */
  know(turnId: string): void {
    for (const range of this.#ranges) range.leave(turnId);
  }

  #join(range: Unshown): void {
    const index = this.#ranges.findIndex((each) => !each.begun && each.rest.turnId === undefined);
    const whole = index < 0 ? range : joined(this.#ranges[index]!.rest, range);
    if (index >= 0) this.#ranges.splice(index, 1);
    this.#ranges.push(new UnshownRange(whole));
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
    shown.begin();
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
