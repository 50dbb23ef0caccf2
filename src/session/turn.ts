import type { Admission, TurnState } from "../host/contract.ts";
import { HostError, type Reply } from "../host/errors.ts";
import type { Run, RunEnd } from "../model/run.ts";
import { LIMITS } from "../limits.ts";

/** What is known of a Turn's execution. Only moves forward: an end is final. */
export type Known =
  /** Nothing was sent, or the Host said that nothing was started. */
  | { readonly kind: "nothing" }
  /** The start is on its way; `lost` when no reply will come. */
  | { readonly kind: "pending"; readonly reply: "awaited" | "lost" }
  /** Observed. `doubted` after a reopening whose snapshot lacks it. */
  | { readonly kind: "live"; readonly run: Run; readonly doubted: boolean }
  | { readonly kind: "ended"; readonly run: Run; readonly end: RunEnd; readonly through: number }
  /** Authoritative: not started, and never will be. */
  | { readonly kind: "never"; readonly error: HostError }
  /** The tries are used up: it may run or not. */
  | { readonly kind: "unknown" };

/** The record of one Turn: what is wanted of it, what is known of it, and which questions about it are out. */
export interface Turn {
  readonly turnId: string;
  /** `stop` is the fence: nothing of the Turn is shown or asked any more. It never goes back to `run`. */
  readonly wanted: "run" | "stop";
  readonly known: Known;
  readonly query: { readonly state: "idle" | "asked"; readonly tries: number };
  readonly stop: { readonly state: "idle" | "sent" | "taken" | "failed"; readonly tries: number };
}

/** Everything that can change a record. */
export type TurnEvent =
  | { readonly type: "sent" }
  | { readonly type: "started"; readonly reply: Reply<Admission> }
  | { readonly type: "overdue" }
  | { readonly type: "observed"; readonly run: Run }
  | { readonly type: "ended"; readonly run: Run; readonly end: RunEnd; readonly through: number }
  /** A new Subscription's snapshot does not show it. */
  | { readonly type: "missing" }
  | { readonly type: "asked" }
  | { readonly type: "answered"; readonly state: TurnState }
  | { readonly type: "unanswered" }
  | { readonly type: "unwanted" }
  | { readonly type: "stop_sent" }
  | { readonly type: "stop_taken" }
  | { readonly type: "stop_unknown" }
  | { readonly type: "stop_refused" };

/** What the record wants done next. */
export type TurnEffect =
  | { readonly kind: "query"; readonly settle: boolean }
  | { readonly kind: "stop"; readonly run: Run };

/** A Turn of which nothing was sent yet. */
export function newTurn(turnId: string): Turn {
  return {
    turnId,
    wanted: "run",
    known: { kind: "nothing" },
    query: { state: "idle", tries: 0 },
    stop: { state: "idle", tries: 0 },
  };
}

/** A Turn that was found running. */
export function foundTurn(run: Run): Turn {
  return { ...newTurn(run.turnId), known: { kind: "live", run, doubted: false } };
}

/** Whether nothing can happen to the Turn any more. */
export function isOver(turn: Turn): boolean {
  return turn.known.kind === "ended" || turn.known.kind === "never";
}

/** Whether the Turn runs no more, or the Host has taken note that it is to stop. */
export function isStopped(turn: Turn): boolean {
  return isOver(turn) || turn.known.kind === "nothing" || turn.stop.state === "taken";
}

/** The record after an event. */
export function reduce(turn: Turn, event: TurnEvent): Turn {
  switch (event.type) {
    case "sent":
      return turn.known.kind === "nothing" ? { ...turn, known: { kind: "pending", reply: "awaited" } } : turn;
    case "started":
      return started(turn, event.reply);
    case "overdue":
      return turn.known.kind === "pending" ? { ...turn, known: { kind: "pending", reply: "lost" } } : turn;
    case "observed":
      return isOver(turn) ? turn : { ...turn, known: { kind: "live", run: event.run, doubted: false } };
    case "ended":
      if (isOver(turn)) return turn;
      return { ...turn, known: { kind: "ended", run: event.run, end: event.end, through: event.through } };
    case "missing":
      if (turn.known.kind === "live") return { ...turn, known: { ...turn.known, doubted: true } };
      return reduce(turn, { type: "overdue" });
    case "asked":
      return { ...turn, query: { state: "asked", tries: turn.query.tries + 1 } };
    case "answered":
      return answered({ ...turn, query: { ...turn.query, state: "idle" } }, event.state);
    case "unanswered": {
      const idle: Turn = { ...turn, query: { ...turn.query, state: "idle" } };
      const open = doubtful(idle);
      return open && idle.query.tries >= LIMITS.queryTries ? { ...idle, known: { kind: "unknown" } } : idle;
    }
    case "unwanted":
      return { ...turn, wanted: "stop" };
    case "stop_sent":
      return { ...turn, stop: { state: "sent", tries: turn.stop.tries + 1 } };
    case "stop_taken":
      return { ...turn, stop: { ...turn.stop, state: "taken" } };
    case "stop_unknown":
      return {
        ...turn,
        stop: { ...turn.stop, state: turn.stop.tries < LIMITS.stopTries ? "idle" : "failed" },
      };
    case "stop_refused":
      return { ...turn, stop: { ...turn.stop, state: "failed" } };
  }
}

/** What to do now; undefined while an answer is out or nothing is wanted. */
export function nextEffect(turn: Turn): TurnEffect | undefined {
  if (doubtful(turn)) {
    if (turn.query.state === "asked" || turn.query.tries >= LIMITS.queryTries) return undefined;
    return { kind: "query", settle: turn.known.kind === "pending" };
  }
  if (turn.wanted === "stop" && turn.known.kind === "live" && turn.stop.state === "idle") {
    return { kind: "stop", run: turn.known.run };
  }
  return undefined;
}

function doubtful(turn: Turn): boolean {
  return (turn.known.kind === "pending" && turn.known.reply === "lost") ||
    (turn.known.kind === "live" && turn.known.doubted);
}

function started(turn: Turn, reply: Reply<Admission>): Turn {
  // Frames may have told more than this reply can: only a pending start learns from it.
  if (turn.known.kind !== "pending") return turn;
  switch (reply.kind) {
    case "done":
      if (reply.value.kind === "busy") return { ...turn, known: { kind: "nothing" } };
      // A reply that comes late says what was: the Turn may have ended unseen meanwhile.
      return {
        ...turn,
        known: { kind: "live", run: reply.value.run, doubted: turn.known.reply === "lost" },
      };
    case "not_sent":
      return { ...turn, known: { kind: "nothing" } };
    case "answered":
      return { ...turn, known: { kind: "never", error: reply.error } };
    case "unknown":
      return { ...turn, known: { kind: "pending", reply: "lost" } };
  }
}

function answered(turn: Turn, state: TurnState): Turn {
  if (isOver(turn)) return turn;
  switch (state.kind) {
    case "live":
      // The doubt is over; the next one has all its tries.
      return {
        ...turn,
        known: { kind: "live", run: state.run, doubted: false },
        query: { state: "idle", tries: 0 },
      };
    case "ended":
      return { ...turn, known: { kind: "ended", run: state.run, end: state.end, through: state.through } };
    case "not_found":
      if (turn.known.kind === "pending" && state.settled) {
        return {
          ...turn,
          known: {
            kind: "never",
            error: new HostError("unavailable", "The prompt did not reach the Host; send it again", {
              dispatch: "not_sent",
            }),
          },
        };
      }
      // A Run that was observed and is gone without an end row: nobody can say what became of it.
      return turn.known.kind === "live" ? { ...turn, known: { kind: "unknown" } } : turn;
  }
}
