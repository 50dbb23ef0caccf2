import {
  type EncodedUpdate,
  type Fault,
  type FaultCode,
  NOTHING,
  type Shows,
  type Step,
  stepOf,
} from "./step.ts";
import { type MessageOutcome, ShownMessage } from "./message.ts";
import { type Redact, redactSecrets } from "../model/redact.ts";
import { BodyAssembly, decoded } from "./bodies.ts";
import { pushBlock } from "./block.ts";
import type { Channel } from "../model/message.ts";
import { compactionUpdates } from "./compaction.ts";
import { digestOf } from "../model/digest.ts";
import type { Frame } from "../model/frame.ts";
import type { HeldBody } from "../host/contract.ts";
import type { JsonObject } from "../model/json.ts";
import { LIMITS } from "../limits.ts";
import type { Row, RowBody } from "../model/row.ts";
import { CUT_SHORT } from "./cut_short.ts";
import type { RunEnd } from "../model/run.ts";
import { ShownNotices } from "./notices.ts";
import { ShownPlan } from "./plan.ts";
import { ToolCards } from "./tool_cards.ts";

/** How a projection shows things. */
export interface ProjectionOptions {
  /** What the Client can show. */
  readonly abilities: Shows;
  /** Takes secrets out of cards, plans and notices; {@linkcode redactSecrets} unless given. Messages pass as they are. */
  readonly redact?: Redact;
}

/** From when on tools count against a prompt's budget: what a replay shows does not belong to a prompt. */
export type Budget = "prompt" | "after_replay";

/**
 * What one Run has been shown, and what each event adds to it. Deterministic: time comes in as `now`, in milliseconds that never
 * go back.
 *
 * Invariants: what was sent of a message is a prefix of every later text of it, or the step carries a fault. A tool has one
 * `tool_call`; its status never leaves its end; its content moves from live to preview to authoritative and never back. After a fault
 * each step is that fault and nothing else, after {@linkcode finish} nothing; neither leaves a card open.
 *
 * A complete message and a result that frames announced have to come as complete rows with the same digest before a completed Run
 * may finish.
 */
export class TurnProjection {
  /** The Turn that is shown. */
  readonly turnId: string;
  #shows: Shows;
  #redact: Redact;
  #messages = new Map<string, ShownMessage>();
  #cards: ToolCards;
  #plan: ShownPlan;
  #notices: ShownNotices;
  /** Parts of messages that are not just text, with the rows that hold them, by their ids. */
  #contents = new Map<string, { readonly length: number; readonly sha256: string }>();
  #compactions = new Map<string, string>();
  #bodies = new BodyAssembly();
  /** The Host lost the end of what it had said: rows may be shorter than what was shown. */
  #shorter = false;
  /** After the end or a fault: what every further step is. */
  #over: Step | undefined;

  /** Begins with nothing shown. */
  constructor(turnId: string, options: ProjectionOptions, budget: Budget = "prompt") {
    this.turnId = turnId;
    this.#shows = options.abilities;
    this.#redact = options.redact ?? redactSecrets;
    this.#cards = new ToolCards(
      { redact: this.#redact, terminal: options.abilities.terminal },
      budget === "prompt",
    );
    this.#plan = new ShownPlan(this.#redact);
    this.#notices = new ShownNotices(turnId, options.abilities.notices, this.#redact);
  }

  /** The replay is over: tools count from now on. */
  limit(): void {
    this.#cards.limit();
  }

  /** When {@linkcode tick} has something to send, in the time of `now`; 0 for at once, undefined for never. */
  get due(): number | undefined {
    return this.#over === undefined ? this.#cards.due : undefined;
  }

  /**
   * Takes a frame of this Run. Give `run_ended` too, before the rows that follow it are read: after an interruption rows may
   * keep less than was shown.
   */
  apply(frame: Frame, now: number): Step {
    if (this.#over !== undefined) return this.#over;
    const out: EncodedUpdate[] = [];
    switch (frame.type) {
      case "message": {
        this.#cards.flushBare(now, out);
        const message = this.#message(frame.messageId, frame.channel);
        if (message === undefined) return this.#revised(frame.messageId, now, out);
        return this.#told(message, message.delta(frame.offset, frame.text, frame.meta, out), now, out);
      }
      case "message_complete": {
        this.#cards.flushBare(now, out);
        const message = this.#message(frame.messageId, frame.channel);
        if (message === undefined) return this.#revised(frame.messageId, now, out);
        return this.#told(message, message.complete(frame.length, frame.sha256, out), now, out);
      }
      case "content": {
        this.#cards.flushBare(now, out);
        const { contentId, channel, block, length, sha256, meta } = frame;
        if (this.#contents.has(contentId)) return stepOf(out);
        if (block === undefined) return { updates: out, gap: true };
        this.#contents.set(contentId, { length, sha256 });
        pushBlock(out, contentId, channel, block, meta);
        return stepOf(out);
      }
      case "message_reset": {
        const message = this.#messages.get(frame.messageId);
        return message === undefined ? NOTHING : this.#told(message, message.reset(), now, out);
      }
      case "message_superseded":
        this.#messages.get(frame.messageId)?.supersede(out);
        return stepOf(out);
      case "tool_start":
      case "tool_input":
      case "tool_output":
      case "tool_progress":
      case "tool_result":
        this.#cards.apply(frame, now, out);
        return this.#cards.overfull ? this.#overfull(now, out) : stepOf(out);
      case "plan":
        this.#cards.flushBare(now, out);
        this.#plan.apply(frame.entries, frame.meta, out);
        return stepOf(out);
      case "notice":
        this.#cards.flushBare(now, out);
        this.#notices.apply(frame, frame.meta, out);
        return stepOf(out);
      case "compaction":
        if (!this.#shows.compaction) return NOTHING;
        this.#compactions.set(frame.compactionId, frame.status);
        out.push(...compactionUpdates(frame, this.#redact));
        return stepOf(out);
      case "run_ended":
        this.#shorter = frame.end.how === "interrupted";
        return NOTHING;
      default:
        return NOTHING;
    }
  }

  /** Takes a row of this Turn, or the next fragment of one, in the transcript's order. Rows may come again. */
  read(row: Row, now: number): Step {
    if (this.#over !== undefined) return this.#over;
    const out: EncodedUpdate[] = [];
    if (row.kind === "text" || row.kind === "thinking") {
      const message = this.#message(row.id, row.kind);
      if (message === undefined) return this.#revised(row.id, now, out);
      return this.#told(message, message.row(row, this.#shorter, out), now, out);
    }
    if (row.kind === "user" || row.kind === "end") return NOTHING;
    const body = this.#bodies.take(row);
    if (body.kind === "oversize" && row.kind === "tool") this.#cards.oversize(row, now, out);
    if (body.kind === "whole") this.#take(row, body.text, now, out);
    return this.#cards.overfull ? this.#overfull(now, out) : stepOf(out);
  }

  /** Sends the card snapshots that are due. */
  tick(now: number): Step {
    if (this.#over !== undefined) return NOTHING;
    const out: EncodedUpdate[] = [];
    this.#cards.tick(now, out);
    return stepOf(out);
  }

  /** What was shown, for {@linkcode ReadRequest.held}: the transcript then brings only what is missing. */
  held(): readonly HeldBody[] {
    const held: HeldBody[] = [];
    for (const { id, channel, length, sha256 } of this.#messages.values()) {
      if (length > 0) held.push({ kind: channel, id, length, sha256 });
    }
    for (const [id, row] of this.#contents) held.push({ kind: "content", id, ...row });
    this.#cards.held(held);
    return held;
  }

  /**
   * Ends the showing, after the transcript was read through the Run's end: last snapshots, tools without an end marked as what they
   * are, the plan as it was recorded. A completed Run that lacks an announced body is a `missing_result`.
   */
  finish(end: RunEnd, now: number): Step {
    if (this.#over !== undefined) return this.#over;
    const out: EncodedUpdate[] = [];
    for (const message of this.#messages.values()) message.flush(out);
    this.#cards.interrupt(CUT_SHORT[end.how], true, now, out);
    if (end.how !== "interrupted") this.#plan.finish(out);
    const missing = end.how === "completed" ? this.#missing() : undefined;
    if (missing !== undefined) return this.#fail("missing_result", missing, now, out);
    this.#over = NOTHING;
    return stepOf(out);
  }

  /** The card of a tool as a permission dialog carries it, at most about half a line; undefined for an unknown tool. */
  card(toolCallId: string): JsonObject | undefined {
    return this.#cards.dialog(toolCallId);
  }

  /**
   * A dialog about this tool opens: shows its card first and then leaves it alone until {@linkcode release}. Counts. A permission
   * that is asked about no tool gets a card of its own: give the Interaction's id, and its message as `question`.
   */
  hold(toolCallId: string, now: number, question?: string): Step {
    if (this.#over !== undefined) return this.#over;
    const out: EncodedUpdate[] = [];
    this.#cards.hold(toolCallId, question, now, out);
    return stepOf(out);
  }

  /** A dialog about this tool is over: its card is shown as it is now. */
  release(toolCallId: string, now: number): Step {
    if (this.#over !== undefined) return this.#over;
    const out: EncodedUpdate[] = [];
    this.#cards.release(toolCallId, now, out);
    return stepOf(out);
  }

  /** The message of an id; undefined where it belongs to the other channel. */
  #message(id: string, channel: Channel): ShownMessage | undefined {
    let message = this.#messages.get(id);
    if (message === undefined) this.#messages.set(id, message = new ShownMessage(id, channel));
    return message.channel === channel ? message : undefined;
  }

  #told(message: ShownMessage, outcome: MessageOutcome, now: number, out: EncodedUpdate[]): Step {
    if (outcome === "fine") return stepOf(out);
    return outcome === "gap" ? { updates: out, gap: true } : this.#revised(message.id, now, out);
  }

  #take(row: Row, text: string, now: number, out: EncodedUpdate[]): void {
    // A damaged body is one that the reader lacks.
    const body = row.complete && digestOf(text) !== row.sha256 ? undefined : decoded(row.kind, text);
    if (body === undefined) return;
    if (body.kind === "tool") this.#cards.record(body.tool, row, now, out);
    if (body.kind === "plan") this.#plan.row(row, body.entries, body.meta, out);
    if (body.kind === "notice") this.#notices.row(row.id, body, out);
    if (body.kind === "content") this.#content(row, body, out);
    if (body.kind === "compaction" && this.#shows.compaction) {
      // Seen live, unless the end of it was missed.
      if (this.#compactions.get(body.compactionId) === body.status) return;
      this.#compactions.set(body.compactionId, body.status);
      out.push(...compactionUpdates(body, this.#redact));
    }
  }

  #content(row: Row, { channel, block, meta }: RowBody & { kind: "content" }, out: EncodedUpdate[]): void {
    if (block === undefined) return this.#message(row.id, channel)?.describe(meta);
    if (this.#contents.has(row.id)) return;
    this.#contents.set(row.id, { length: row.length, sha256: row.sha256 });
    pushBlock(out, row.id, channel, block, meta);
  }

  #missing(): string | undefined {
    const tool = this.#cards.missing();
    if (tool !== undefined) return `The transcript lacks the result of tool "${tool}", which was announced`;
    for (const message of this.#messages.values()) {
      if (message.missing) {
        return `The transcript lacks message "${message.id}", which was announced as complete`;
      }
    }
    return undefined;
  }

  #revised(id: string, now: number, out: EncodedUpdate[]): Step {
    return this.#fail(
      "unsupported_stream_revision",
      `The agent changed message "${id}" after it was shown, and an editor cannot take shown text back`,
      now,
      out,
    );
  }

  #overfull(now: number, out: EncodedUpdate[]): Step {
    return this.#fail(
      "tool_presentation_capacity",
      `One prompt shows at most ${LIMITS.promptTools} tools and ${LIMITS.promptToolLength} characters of their output; ` +
        "continue with another prompt",
      now,
      out,
    );
  }

  #fail(code: FaultCode, message: string, now: number, out: EncodedUpdate[]): Step {
    const fault: Fault = { code, message };
    this.#cards.interrupt(
      "Interrupted: the prompt failed before the end of this tool was shown",
      false,
      now,
      out,
    );
    this.#over = { updates: [], fault, gap: false };
    return { updates: out, fault, gap: false };
  }
}
