import type { EngineContext } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { JsonObject } from "../../model/json.ts";
import { recordOf } from "./shape.ts";

/** What hears one of an agent's Sessions. */
export interface Seat {
  /** The Host's side of the Session. */
  readonly context: Pick<EngineContext, "sessionId">;
  /** An update, in order. */
  update(update: JsonObject): void;
  /** The prompt at hand was answered. */
  answered(): void;
  /** An `elicitation/complete`. False where it was not asked for from here. */
  completed(params: JsonObject): boolean;
  /** Undefined while it keeps up. */
  room(): Promise<void> | undefined;
  /** A request about the Session. What it throws becomes the error. */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** The agent is gone. Called once, while it has its seat. */
  fallen(): void;
}

/** Updates that are kept of Sessions whose ids are not known yet. */
const EARLY = 256;

/** Who hears which Session of one agent. */
export class Seats {
  readonly #faults: Faults;
  readonly #settled: () => void;
  /** By the agent's ids. */
  readonly #seats = new Map<string, Seat>();
  readonly #early = new Map<string, JsonObject[]>();
  /** Updates in `#early`. */
  #waiting = 0;
  #opening = 0;

  /** `settled` is called when no Session is being opened any more. */
  constructor(faults: Faults, settled: () => void) {
    this.#faults = faults;
    this.#settled = settled;
  }

  /** Whether a Session is being opened whose id may not be known yet. */
  get opening(): boolean {
    return this.#opening > 0;
  }

  /** Who hears a Session. */
  of(sessionId: string): Seat | undefined {
    return this.#seats.get(sessionId);
  }

  /** Hears a Session from now on, what came early first. Whoever did before hears it no more. */
  take(sessionId: string, seat: Seat): void {
    this.#seats.set(sessionId, seat);
    const early = this.#early.get(sessionId) ?? [];
    this.#early.delete(sessionId);
    this.#waiting -= early.length;
    for (const update of early) seat.update(update);
  }

  /** Hears a Session no more. */
  leave(sessionId: string, seat: Seat): void {
    if (this.of(sessionId) === seat) this.#seats.delete(sessionId);
  }

  /** A Session is being opened: what comes for one that nobody hears is kept until that is over. Returns what to call then. */
  open(): () => void {
    this.#opening++;
    return () => {
      if (--this.#opening > 0) return;
      for (; this.#waiting > 0; this.#waiting--) this.#faults.count("foreign");
      this.#early.clear();
      this.#settled();
    };
  }

  /** Takes the params of a `session/update`. */
  update({ sessionId, update }: JsonObject): void {
    if (typeof sessionId !== "string") return this.#faults.count("malformed");
    const said = recordOf(update);
    const seat = this.of(sessionId);
    if (seat !== undefined) return seat.update(said);
    if (!this.opening || this.#waiting >= EARLY) return this.#faults.count("foreign");
    this.#waiting++;
    this.#early.set(sessionId, [...this.#early.get(sessionId) ?? [], said]);
  }

  /** Undefined while all keep up. */
  room(): Promise<void> | undefined {
    for (const seat of this.#seats.values()) {
      const room = seat.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  /** Takes an `elicitation/complete`. False where nobody asked for it. */
  completed(params: JsonObject): boolean {
    return [...this.#seats.values()].some((seat) => seat.completed(params));
  }

  /** The agent is gone, and nobody hears anything any more. */
  fall(): void {
    for (const seat of this.#seats.values()) seat.fallen();
    this.#seats.clear();
  }
}
