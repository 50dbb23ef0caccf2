import type { Block } from "../../model/block.ts";
import type { Compaction } from "../../model/compaction.ts";
import type { Ids } from "../../model/clock.ts";
import type { Meta } from "../../model/json.ts";
import type { Log } from "../../model/log.ts";
import type { PlanEntry } from "../../model/plan.ts";
import type { Run, RunEnd } from "../../model/run.ts";
import type { TurnInput } from "../../model/prompt.ts";
import { encodeBody, type RowBody } from "../../model/row.ts";
import type { Limits } from "../../limits.ts";
import type { Fanout } from "./fanout.ts";
import type { Journal } from "./journal.ts";
import { boundMeta } from "./bounds.ts";
import { encodedLength } from "./tool_fit.ts";
import { RunMessages } from "./messages.ts";
import { type BodyReader, FixedRow } from "./row.ts";
import { RunTools } from "./tools.ts";

/** What the transcripts of a Session's Runs share. */
export interface TranscriptParts {
  readonly journal: Journal;
  readonly fanout: Fanout;
  readonly stored: BodyReader;
  readonly limits: Limits;
  readonly ids: Ids;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
}

/**
 * What one Run says: it becomes rows, which are saved by and by, and frames, which go out at once. What an Engine says about ids
 * that it ended or never opened is ignored or, for tools, opened late.
 */
export class RunTranscript {
  readonly run: Run;
  readonly messages: RunMessages;
  readonly tools: RunTools;
  readonly #parts: TranscriptParts;
  #plan: FixedRow | undefined;
  #end: FixedRow | undefined;

  constructor(run: Run, parts: TranscriptParts) {
    this.run = run;
    this.#parts = parts;
    this.messages = new RunMessages(run, parts);
    this.tools = new RunTools(run, parts);
  }

  plan(entries: readonly PlanEntry[], wanted?: Meta): void {
    const meta = boundMeta(wanted, this.#parts.limits);
    const body = encodeBody({ kind: "plan", entries, meta });
    if (this.#plan?.replace(body) !== true) this.#plan = this.#fixed({ kind: "plan", entries, meta });
    this.#parts.fanout.publish({ type: "plan", run: this.run, entries, meta }, body.length);
  }

  notice({ severity, title, text, meta: wanted }: Omit<RowBody & { kind: "notice" }, "kind">): void {
    const meta = boundMeta(wanted, this.#parts.limits);
    this.#fixed({ kind: "notice", severity, title, text, meta });
    this.#parts.fanout.publish(
      { type: "notice", run: this.run, severity, title, text, meta },
      title.length + (text?.length ?? 0),
    );
  }

  /** Room is made in the context; only the end of it is kept. */
  compaction(wanted: Compaction, append?: Block): void {
    const compaction = { ...wanted, meta: boundMeta(wanted.meta, this.#parts.limits) };
    if (compaction.status !== "in_progress" && append === undefined) {
      this.#fixed({ kind: "compaction", ...compaction });
    }
    this.#parts.fanout.publish(
      { type: "compaction", run: this.run, ...compaction, append },
      encodedLength(append ?? compaction),
    );
  }

  /** Records words that a person gave to the Run while it worked. */
  words(id: string, input: TurnInput): void {
    this.#fixed({ kind: "user", input }, id);
  }

  /**
   * Ends what is open, tools as they are, and writes the end. Returns the sequence of the end row. Durable with the journal's
   * next commit; until then another end may take its place.
   */
  end(end: RunEnd): number {
    this.messages.end();
    this.tools.end(end.how);
    const body = encodeBody({ kind: "end", end });
    if (this.#end?.replace(body) !== true) this.#end = this.#fixed({ kind: "end", end });
    return this.#end.seq;
  }

  #fixed(body: RowBody, id?: string): FixedRow {
    const { journal, ids, date } = this.#parts;
    return journal.begin((seq) =>
      new FixedRow(
        { seq, run: this.run, kind: body.kind, id: id ?? ids.next(), at: date() },
        encodeBody(body),
      )
    );
  }
}
