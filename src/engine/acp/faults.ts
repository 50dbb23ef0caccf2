import type { Log } from "../../model/log.ts";

/** What an agent may do wrong, and what became of it. */
export const FAULTS = {
  noise: "lines on stdout that are no messages were skipped",
  oversize: "lines longer than 32 MiB were skipped",
  stray: "answers to requests that nobody made were skipped",
  foreign: "messages about Sessions that it was not given were dropped",
  unknown: "updates of a kind that version 1 of the protocol does not have were dropped",
  malformed: "updates and requests that lack what they need were dropped or refused",
  idle: "requests between prompts were refused, and updates behind a cancel or before any prompt dropped",
  late: "updates after the answer to a prompt were shown beside it",
  channel: "messages changed from text to thinking under one id and went on under a new one",
  ended_tool: "updates of tools that had ended were dropped",
  open_tool: "tools were left open at the end of a prompt and shown as interrupted",
  own_cancel: "prompts were called cancelled although nobody cancelled them, and ended as end_turn",
  deaf: "cancels were not answered in time, and it was replaced",
  crash: "processes ended by themselves; a prompt that follows starts another",
  refused: "requests of its own that Gangway does not know were refused",
  unheard: "notifications that Gangway does not know were dropped",
} as const;

/** One of {@linkcode FAULTS}. */
export type Fault = keyof typeof FAULTS;

/** Counts what an agent does wrong; the first of each kind goes to the log. */
export class Faults {
  readonly #counts = new Map<Fault, number>();
  readonly #log: Log;

  /** Tells `log` about the first of each kind. */
  constructor(log: Log) {
    this.#log = log;
  }

  /** Notes one more. */
  count(fault: Fault): void {
    const before = this.#counts.get(fault) ?? 0;
    this.#counts.set(fault, before + 1);
    if (before === 0) this.#log.warn(`The agent misbehaves: ${FAULTS[fault]}`, { fault });
  }

  /** How often each happened; what never did is not there. */
  report(): Readonly<Partial<Record<Fault, number>>> {
    return Object.fromEntries(this.#counts);
  }
}
