import type { TurnProjection } from "../projection/mod.ts";
import { Bell } from "./bell.ts";
import type { SessionError } from "./errors.ts";
import { isOver, reduce, type Turn, type TurnEvent } from "./turn.ts";

/** Why a Turn is no longer wanted: the Client cancelled or closed, a person cancelled its question, showing it failed, or the Client is gone. */
export type Unwanted = "cancel" | "question" | "fault" | "gone";

/**
 * Who shows the end of a Turn: the prompt that waits for it, or the Attachment. `none`: the end is awaited only to lift the fence.
 * `later`: nothing of it was shown, so all of it is when the next prompt begins.
 */
export type Owner = "prompt" | "attachment" | "none" | "later";

/**
 * A Turn that this connection shows: its record, what was shown of it, and the first thing that went wrong with showing it. Lives
 * in the Attachment, so that the fence outlives the prompt.
 */
export class Presentation {
  /** Rows of the Turn lie above this sequence. */
  readonly cut: number;
  /** What the Client has been shown. */
  readonly projection: TurnProjection;
  /** Rings at each change of the record or the fault. */
  readonly bell: Bell = new Bell();
  #turn: Turn;
  #owner: Owner;
  #fault: SessionError | undefined;
  #unwanted: Unwanted | undefined;
  #endSeen = false;
  #changed: (presentation: Presentation) => void;

  /** `changed` is called after each change of the record, to derive what to send. */
  constructor(
    turn: Turn,
    options: {
      cut: number;
      projection: TurnProjection;
      owner: Owner;
      changed: (presentation: Presentation) => void;
    },
  ) {
    this.#turn = turn;
    this.cut = options.cut;
    this.projection = options.projection;
    this.#owner = options.owner;
    this.#changed = options.changed;
  }

  /** The Turn's record. */
  get turn(): Turn {
    return this.#turn;
  }

  /** Who shows its end. */
  get owner(): Owner {
    return this.#owner;
  }

  /** The first failure of showing it; sticky. */
  get fault(): SessionError | undefined {
    return this.#fault;
  }

  /** Why it is fenced; undefined while it is wanted. */
  get unwanted(): Unwanted | undefined {
    return this.#unwanted;
  }

  /** Whether nothing can happen to it any more. */
  get over(): boolean {
    return isOver(this.#turn);
  }

  /** Whether its end came as a frame, behind which nothing of it comes. A query tells the end as well, and overtakes frames. */
  get endSeen(): boolean {
    return this.#endSeen;
  }

  /** Its end came as a frame. */
  sawEnd(): void {
    this.#endSeen = true;
  }

  /** Somebody else has to do with its end from now on. */
  leave(owner: Owner): void {
    this.#owner = owner;
  }

  /** Takes an event into the record. */
  record(event: TurnEvent): void {
    this.#turn = reduce(this.#turn, event);
    this.#changed(this);
    this.bell.ring();
  }

  /**
   * Raises the fence: from now on nothing of the Turn is shown or asked, and its Run is stopped, unless the Client is just gone. The first
   * reason stays.
   */
  fence(reason: Unwanted): void {
    if (this.#unwanted !== undefined) return;
    this.#unwanted = reason;
    if (reason !== "gone") return this.record({ type: "unwanted" });
    this.#changed(this);
    this.bell.ring();
  }

  /** Showing it failed: keeps the first error and raises the fence. */
  fail(error: SessionError): void {
    this.#fault ??= error;
    this.fence("fault");
    this.bell.ring();
  }
}
