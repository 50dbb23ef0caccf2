import { assert, assertEquals } from "@std/assert";
import { type EncodedUpdate, type Step, UPDATE_BYTES } from "../../src/projection/mod.ts";
import { ProtocolSchema } from "../support/schema.ts";

const schema = new ProtocolSchema();
const encoder = new TextEncoder();

/** An update as an editor parses it; only what the tests look at is named. */
export interface Seen {
  readonly sessionUpdate: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
  readonly title?: string | null;
  readonly name?: string;
  readonly kind?: string;
  readonly status?: string;
  readonly severity?: string;
  readonly content?: SeenContent | readonly SeenItem[];
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly entries?: readonly { readonly content: string; readonly status: string }[];
  readonly configOptions?: readonly {
    readonly id: string;
    readonly type: string;
    readonly currentValue: unknown;
  }[];
  readonly availableCommands?: readonly {
    readonly name: string;
    readonly description: string;
    readonly input?: { readonly hint: string };
  }[];
  readonly currentModeId?: string;
  readonly used?: number;
  readonly size?: number;
  readonly _meta?: Record<string, unknown>;
}

/** A content block. */
export interface SeenContent {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly uri?: string;
}

/** An item of a card's content. */
export interface SeenItem {
  readonly type: string;
  readonly content?: SeenContent;
  readonly path?: string;
  readonly oldText?: string | null;
  readonly newText?: string;
  readonly terminalId?: string;
}

/** A tool card as an editor keeps it: each update replaces the members that it names. */
export interface SeenCard extends Seen {
  readonly content?: readonly SeenItem[];
}

/**
 * An editor that holds each update against the protocol's schema and the line cap and against what no update may do: a second
 * `tool_call`, a status that leaves its end, an empty chunk, a half character.
 */
export class Editor {
  readonly updates: Seen[] = [];
  readonly lines: EncodedUpdate[] = [];
  readonly texts: Map<string, string> = new Map();
  readonly cards: Map<string, SeenCard> = new Map();
  #images: boolean;

  /** `images`: lines with images may be longer than the cap. */
  constructor(options: { images?: boolean } = {}) {
    this.#images = options.images ?? false;
  }

  /** Receives what a step sends; returns the step. */
  take(step: Step): Step {
    for (const update of step.updates) this.receive(update);
    return step;
  }

  receive(update: EncodedUpdate): void {
    const seen = JSON.parse(update) as Seen;
    const complaints = schema.check("client", "session/update", "Notification", {
      sessionId: "s",
      update: seen,
    });
    assertEquals(complaints, [], update.slice(0, 400));
    if (!this.#images) assert(encoder.encode(update).length <= UPDATE_BYTES, `${update.length} units`);
    this.updates.push(seen);
    this.lines.push(update);
    if (seen.sessionUpdate.endsWith("_chunk")) this.#chunk(seen);
    if (seen.sessionUpdate.startsWith("tool_call")) this.#card(seen);
  }

  /** Text of a message so far. */
  text(messageId: string): string | undefined {
    return this.texts.get(messageId);
  }

  card(toolCallId: string): SeenCard {
    const card = this.cards.get(toolCallId);
    assert(card !== undefined, `no card ${toolCallId}`);
    return card;
  }

  /** All text on a card. */
  words(toolCallId: string): string {
    return (this.card(toolCallId).content ?? []).map((item) => item.content?.text ?? "").join("\n");
  }

  /** Bytes of all updates about one tool. */
  bytes(toolCallId: string): number {
    return this.lines.filter((_, at) => this.updates[at]?.toolCallId === toolCallId)
      .reduce((sum, line) => sum + encoder.encode(line).length, 0);
  }

  #chunk(seen: Seen): void {
    const content = seen.content as SeenContent;
    if (content.type !== "text") return;
    const text = content.text ?? "";
    assert(text.length > 0, "an empty chunk");
    assert(text.isWellFormed(), "half a character");
    const id = seen.messageId ?? "";
    this.texts.set(id, (this.texts.get(id) ?? "") + text);
  }

  #card(seen: Seen): void {
    const id = seen.toolCallId ?? "";
    const before = this.cards.get(id);
    assertEquals(seen.sessionUpdate === "tool_call", before === undefined, `tool_call of ${id}`);
    if (before?.status === "completed" || before?.status === "failed") {
      assertEquals(seen.status ?? before.status, before.status, `the end of ${id}`);
    }
    const { sessionUpdate: _, ...members } = seen;
    this.cards.set(id, { ...before, ...members, sessionUpdate: "card" } as SeenCard);
  }
}
