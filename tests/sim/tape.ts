import type { TurnRecord } from "../../src/host/store/contract.ts";
import type { Frame, Snapshot } from "../../src/model/frame.ts";
import type { Config } from "../../src/model/config.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { SimClock } from "./sim_clock.ts";

/** A `session/update` as an editor reads it. */
export interface Update {
  readonly sessionUpdate: string;
  readonly [key: string]: unknown;
}

/** What an editor asks a connection for. */
export type Wish =
  | "create"
  | "prompt"
  | "load"
  | "resume"
  | "close"
  | "remove"
  | "configure"
  | "list"
  | "shutdown";

/** How a request of an editor ended. `value` is a stop reason for prompts, a Session where the answer names one, else empty. */
export type Ending =
  | { readonly ok: true; readonly value: string; readonly meta?: unknown }
  | { readonly ok: false; readonly name: string; readonly code: string; readonly message: string };

/** How a request to an editor ended for the connection that sent it. */
export type RequestEnd = "answered" | "refused" | "withdrawn" | "gone";

/** What happened. `by` names the connection. */
export type Event =
  | {
    readonly kind: "asked";
    readonly by: string;
    readonly id: number;
    readonly wish: Wish;
    readonly sessionId: string;
    readonly prompt: string;
  }
  | {
    readonly kind: "answered";
    readonly by: string;
    readonly id: number;
    readonly ending: Ending;
    /** Units that had left the transport by then. */
    readonly left: number;
  }
  | {
    /** Settings in an answer. */
    readonly kind: "told";
    readonly by: string;
    readonly sessionId: string;
    readonly config: Config;
  }
  | { readonly kind: "cancel"; readonly by: string; readonly sessionId: string }
  | { readonly kind: "withdraw"; readonly by: string; readonly id: number }
  | {
    readonly kind: "update";
    readonly by: string;
    readonly sessionId: string;
    readonly update: Update;
    readonly bytes: number;
    /** How many units were sent with it. */
    readonly until: number;
  }
  | {
    readonly kind: "request";
    readonly by: string;
    readonly id: number;
    readonly method: string;
    readonly params: JsonObject;
  }
  | {
    readonly kind: "request_over";
    readonly by: string;
    readonly id: number;
    readonly end: RequestEnd;
    readonly meant: string;
  }
  | {
    readonly kind: "client";
    readonly by: string;
    readonly what: "stalls" | "reads" | "fills" | "drained" | "gone";
  }
  | {
    readonly kind: "op";
    readonly by: string;
    readonly id: number;
    readonly name: string;
    readonly sessionId: string;
    readonly detail: JsonObject;
  }
  | {
    readonly kind: "op_over";
    readonly by: string;
    readonly id: number;
    readonly outcome: string;
    readonly value: JsonObject;
  }
  | {
    readonly kind: "snapshot";
    readonly by: string;
    readonly sessionId: string;
    readonly snapshot: Snapshot;
  }
  | { readonly kind: "frame"; readonly by: string; readonly sessionId: string; readonly frame: Frame }
  | { readonly kind: "fault"; readonly by: string; readonly what: string }
  | { readonly kind: "host"; readonly what: "up" | "crash" | "drain" | "unsaved" }
  | { readonly kind: "turn"; readonly sessionId: string; readonly record: TurnRecord }
  | { readonly kind: "engine"; readonly run: string; readonly what: string }
  | { readonly kind: "phase"; readonly what: string }
  | { readonly kind: "wrong"; readonly rule: string; readonly what: string };

/** An event with its place in time and in the order of all. What is of one step happened with nothing from outside in between. */
export type Entry = Event & { readonly at: number; readonly seq: number; readonly step: number };

/** Everything that happened in a simulation, in the one order in which it did. */
export class Tape {
  readonly entries: Entry[] = [];
  readonly #clock: SimClock;
  #ids = 0;

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  /** An id for what has a beginning and an end. */
  id(): number {
    return ++this.#ids;
  }

  add(event: Event): void {
    this.entries.push({ ...event, at: this.#clock.now(), seq: this.entries.length, step: this.#clock.steps });
  }

  /** The entries of one kind. */
  of<K extends Event["kind"]>(kind: K): Extract<Entry, { kind: K }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
  }

  /** One line an event: the whole interleaving. */
  *lines(): Generator<string> {
    for (const { at, seq, step: _, kind, ...rest } of this.entries) {
      const words = Object.entries(rest).filter(([, value]) => value !== "").map(([name, value]) =>
        typeof value === "string" || typeof value === "number"
          ? `${name}=${value}`
          : short(JSON.stringify(value))
      );
      yield `${at.toFixed(3).padStart(12)} ${String(seq).padStart(5)} ${kind.padEnd(12)} ${words.join(" ")}`;
    }
  }
}

function short(text: string | undefined): string {
  if (text === undefined) return "";
  return text.length <= 600 ? text : `${text.slice(0, 400)} … ${text.slice(-180)}`;
}
