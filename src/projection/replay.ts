import { noticeCard, type NoticeText } from "./notice.ts";
import { type EncodedUpdate, NOTHING, type Step, stepOf } from "./step.ts";
import { type ProjectionOptions, TurnProjection } from "./turn.ts";
import { type Redact, redactSecrets } from "../model/redact.ts";
import { BodyAssembly, decoded } from "./bodies.ts";
import { compactionUpdates } from "./compaction.ts";
import { pushBlock } from "./block.ts";
import type { CardStyle } from "./card_view.ts";
import { wholeCard } from "./card_wire.ts";
import { noticeId } from "./notices.ts";
import { planUpdate } from "./plan.ts";
import type { Row } from "../model/row.ts";
import type { RunEnd } from "../model/run.ts";
import { CHUNK_TAIL, chunkHead } from "./message.ts";
import { metaMember, pushText } from "./encode.ts";
import type { Meta } from "../model/json.ts";
import { CUT_SHORT } from "./cut_short.ts";
import { ToolCard } from "./card.ts";
import type { ToolRecord } from "../model/tool.ts";
import { userUpdates } from "./user_message.ts";

/** How a replay shows things. */
export interface ReplayOptions extends ProjectionOptions {
  /** Turns that have not ended: their projections are handed over, so that what follows continues what was replayed. */
  readonly live: readonly string[];
}

/** What has to be remembered of a Turn until its end row. */
interface Past {
  plan?: EncodedUpdate;
  notices: number;
}

/**
 * A whole transcript as `session/load` shows it: rows of all Turns in order, under the ids that were live.
 *
 * Of Turns that ended nothing is kept but the row at hand and their plan, which is shown once, as it was at last. A Turn that was
 * interrupted or failed is marked by a card of its own.
 */
export class Replay {
  #options: ReplayOptions;
  #redact: Redact;
  #style: CardStyle;
  #live: ReadonlySet<string>;
  #projections = new Map<string, TurnProjection>();
  #past = new Map<string, Past>();
  #bodies = new BodyAssembly();
  /** The text row at hand: how much of it came, and a half character that waits for the next fragment. */
  #open = { seq: 0, length: 0, half: "" };
  /** Metadata of the text that follows, with its id. */
  #described: { readonly id: string; readonly meta: Meta | undefined } | undefined;
  /** Rows up to this sequence were shown, but for those of live Turns, which know for themselves. */
  #done = 0;

  /** Begins at the first row. */
  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#redact = options.redact ?? redactSecrets;
    // Terminals that rows name are gone.
    this.#style = { redact: this.#redact, terminal: false };
    this.#live = new Set(options.live);
  }

  /** Takes the next row or fragment. */
  read(row: Row, now: number): Step {
    if (row.kind !== "user" && this.#live.has(row.run.turnId)) {
      return this.#projection(row.run.turnId).read(row, now);
    }
    // A reading that was cut off begins again where it pleases.
    if (row.seq <= this.#done) return NOTHING;
    const out: EncodedUpdate[] = [];
    if (row.kind === "text" || row.kind === "thinking") this.#text(row, row.kind, out);
    else this.#record(row, now, out);
    return stepOf(out);
  }

  /** The projection of a live Turn, with everything that was replayed of it; undefined for other Turns. */
  handOver(turnId: string): TurnProjection | undefined {
    if (!this.#live.has(turnId)) return undefined;
    const projection = this.#projection(turnId);
    projection.limit();
    return projection;
  }

  /** After the last row: plans of Turns that have no end row. */
  end(): Step {
    const out: EncodedUpdate[] = [];
    for (const { plan } of this.#past.values()) if (plan !== undefined) out.push(plan);
    this.#past.clear();
    return stepOf(out);
  }

  #projection(turnId: string): TurnProjection {
    let projection = this.#projections.get(turnId);
    if (projection === undefined) {
      this.#projections.set(turnId, projection = new TurnProjection(turnId, this.#options, "after_replay"));
    }
    return projection;
  }

  /** Text needs no digests here: nothing was shown before that it could contradict. */
  #text(row: Row, channel: "text" | "thinking", out: EncodedUpdate[]): void {
    if (row.body !== undefined) {
      if (row.seq !== this.#open.seq) this.#open = { seq: row.seq, length: 0, half: "" };
      const open = this.#open;
      const known = open.length - row.body.offset;
      if (known < 0) return;
      const text = row.body.text.slice(known);
      if (text === "" && row.length > 0) return;
      open.length += text.length;
      const last = text.charCodeAt(text.length - 1);
      const parted = open.length < row.length && last >= 0xd800 && last <= 0xdbff;
      const whole = open.half + (parted ? text.slice(0, -1) : text);
      open.half = parted ? text.slice(-1) : "";
      const meta = this.#described?.id === row.id ? metaMember(this.#described.meta) : "";
      pushText(out, chunkHead(row.id, channel), whole, CHUNK_TAIL, `}${meta}}`);
      if (open.length < row.length) return;
    }
    this.#done = row.seq;
  }

  #record(row: Row, now: number, out: EncodedUpdate[]): void {
    const state = this.#bodies.take(row);
    if (state.kind === "partial") return;
    this.#done = row.seq;
    if (state.kind === "absent") return;
    const body = state.kind === "whole" ? decoded(row.kind, state.text) : undefined;
    switch (row.kind) {
      case "user":
        if (body?.kind === "user") userUpdates(row.id, body.input, out);
        return;
      case "tool":
        out.push(this.#tool(row, body?.kind === "tool" ? body.tool : undefined, now));
        return;
      case "plan":
        if (body?.kind === "plan") {
          this.#turn(row).plan = planUpdate(body.entries, this.#redact, body.meta);
        }
        return;
      case "notice":
        if (body?.kind === "notice") this.#notice(row, body, out);
        return;
      case "content":
        if (body?.kind !== "content") return;
        if (body.block === undefined) this.#described = { id: row.id, meta: body.meta };
        else pushBlock(out, row.id, body.channel, body.block, body.meta);
        return;
      case "compaction":
        if (body?.kind === "compaction" && this.#options.abilities.compaction) {
          out.push(...compactionUpdates(body, this.#redact));
        }
        return;
      case "end":
        this.#ended(row, body?.kind === "end" ? body.end : undefined, out);
        return;
    }
  }

  /** One update with all that the tool came to. */
  #tool(row: Row, record: ToolRecord | undefined, now: number): EncodedUpdate {
    const card = new ToolCard(row.id);
    if (record === undefined) card.interrupt("The record of this tool cannot be read");
    else card.takeRecord(row.sensitive ? sensitive(record) : record, row, now);
    card.interrupt(CUT_SHORT[record?.cutShort ?? "interrupted"]);
    return wholeCard(card, this.#style);
  }

  #notice(row: Row, notice: NoticeText & { readonly meta?: Meta }, out: EncodedUpdate[]): void {
    // Notices are live only for a Client that has them; as cards they are part of what was seen.
    if (this.#options.abilities.notices) return;
    out.push(
      noticeCard(noticeId(row.run.turnId, this.#turn(row).notices++), notice, this.#redact, notice.meta),
    );
  }

  #ended(row: Row, end: RunEnd | undefined, out: EncodedUpdate[]): void {
    const plan = this.#past.get(row.run.turnId)?.plan;
    if (plan !== undefined) out.push(plan);
    this.#past.delete(row.run.turnId);
    const mark = end === undefined ? undefined : markOf(end);
    if (mark !== undefined) out.push(noticeCard(`${row.run.turnId}.end`, mark, this.#redact));
  }

  #turn(row: Row): Past {
    let past = this.#past.get(row.run.turnId);
    if (past === undefined) this.#past.set(row.run.turnId, past = { notices: 0 });
    return past;
  }
}

/** What a replay says about a Turn that did not end by itself. The user stopped a stopped one and needs no telling. */
function markOf(end: RunEnd): NoticeText | undefined {
  if (end.how === "interrupted") {
    return {
      severity: "error",
      title: "Interrupted: this turn was cut off before it ended",
      text: "What is shown above is what was kept of it. It does not go on by itself.",
    };
  }
  return end.how === "failed"
    ? { severity: "error", title: "Failed: this turn ended with an error", text: end.failure.message }
    : undefined;
}

function sensitive(record: ToolRecord): ToolRecord {
  return { ...record, input: { ...record.input, sensitive: true } };
}
