import { bytesOf } from "./encode.ts";
import { type CardStyle, contentOf, headOf, type Members } from "./card_view.ts";
import type { EncodedUpdate } from "./step.ts";
import type { Change, ToolCard } from "./card.ts";
import type { JsonObject } from "../model/json.ts";
import { digestOf } from "../model/digest.ts";
import { LIMITS } from "../limits.ts";

const INTERVAL_MS = 1000 / LIMITS.cardSnapshotsPerSecond;
/** Bytes a card may cost beyond the ratio, so that short outputs are lively too. */
const SLACK_BYTES = 4096;
/** A view of the newest output only: the least it shows, and how often. */
const WINDOW_BYTES = 1536;
const WINDOW_MS = 1000;
/** After so long without a snapshot what is new is shown at least, with this much before it. */
const STALE_MS = 3000;
const STALE_BYTES = 512;
/** Bytes of a card around its output. */
const FRAME_BYTES = 512;
/** Bytes of a card's content inside a permission request. */
const DIALOG_BYTES = 20 * 1024;

/**
 * What the Client was sent of one card, and when it may be sent more.
 *
 * Each update holds the members that changed, each of them whole. Content costs the wire what it is long each time, so the sum is held
 * about {@linkcode LIMITS.cardWireRatio} times what the tool produced: first by waiting, then by showing only the newest output.
 */
export class CardWire {
  #card: ToolCard;
  #style: CardStyle;
  /** What was sent last by member: short JSON itself, else its digest. */
  #sent = new Map<string, string>();
  #called = false;
  #lastAt = -Infinity;
  #spent = 0;
  #produced = 0;
  #shown = 0;
  #head = true;
  #content = true;

  /** Watches a card of which nothing was sent. */
  constructor(card: ToolCard, style: CardStyle) {
    this.#card = card;
    this.#style = style;
  }

  /** Whether the `tool_call` went out. */
  get called(): boolean {
    return this.#called;
  }

  /** Notes a change, with the text that made it. */
  note(change: Change, text = ""): void {
    if (change === "nothing") return;
    this.#head = true;
    if (change === "head") return;
    this.#content = true;
    this.#produced += bytesOf(text);
  }

  /** Whether there is something that the Client has not been sent. */
  get wants(): boolean {
    return this.dueAt() < Infinity;
  }

  /** When the next snapshot may go out; Infinity where none is wanted. */
  dueAt(): number {
    if (!this.#called) return -Infinity;
    const pending = this.#sent.get("status") === `"pending"`;
    return Math.min(
      this.#head ? this.#lastAt + INTERVAL_MS : Infinity,
      this.#content ? this.#contentAt() : Infinity,
      pending ? Math.max(this.#card.worksFrom, this.#lastAt + INTERVAL_MS) : Infinity,
    );
  }

  /**
   * Encodes what changed; undefined where the Client has it all. `all` sends everything wanted whatever it costs: a card's first and
   * last showing.
   */
  encode(now: number, all: boolean): EncodedUpdate | undefined {
    const card = this.#card;
    const first = !this.#called;
    const head = headOf(card, card.status(now), this.#style, first);
    const members = first ? head : head.filter(([name, json]) => this.#sent.get(name) !== mark(json));
    const whole = all || first;
    let content: string | undefined;
    if (this.#content && (whole || this.#contentAt() <= now)) {
      const room = roomBeside(card, head);
      content = contentOf(card, this.#style, whole ? room : Math.min(room, this.#room()));
      this.#content = false;
      this.#shown = this.#produced;
      if (first ? content === "[]" : this.#sent.get("content") === mark(content)) content = undefined;
    }
    this.#head = false;
    if (content !== undefined) insertContent(members, content);
    if (!first && members.length === 0) return undefined;
    this.#called = true;
    this.#lastAt = now;
    for (const [name, json] of members) this.#sent.set(name, mark(json));
    const update = encoded(first ? "tool_call" : "tool_call_update", card.id, members);
    if (content !== undefined) this.#spent += bytesOf(update);
    return update;
  }

  /** The card as a dialog shows it: everything known, without images. The dialog may change what the Client shows. */
  dialog(): JsonObject {
    const card = this.#card;
    const style = { ...this.#style, terminal: false };
    const members = headOf(card, card.status(this.#lastAt), style, card.end === undefined);
    if (card.end === undefined) members.push(["content", contentOf(card, style, DIALOG_BYTES, 0)]);
    const json = members.map(([name, value]) => `"${name}":${value}`).join(",");
    return JSON.parse(`{"toolCallId":${JSON.stringify(card.id)},${json}}`) as JsonObject;
  }

  /** Forgets what the Client shows, because a dialog wrote over it. */
  unsettle(): void {
    for (const name of ["title", "status", "content"]) this.#sent.delete(name);
    this.#head = this.#content = true;
  }

  #contentAt(): number {
    const allowance = this.#allowance();
    if (this.#estimate() <= allowance) return this.#lastAt + INTERVAL_MS;
    return this.#lastAt + (allowance >= WINDOW_BYTES ? WINDOW_MS : STALE_MS);
  }

  /** Bytes of content that a snapshot between the first and the last may have. */
  #room(): number {
    return Math.max(this.#allowance(), STALE_BYTES + 2 * (this.#produced - this.#shown));
  }

  /** Bytes that a snapshot may cost now, with the last one paid for in advance. */
  #allowance(): number {
    return LIMITS.cardWireRatio * this.#produced + SLACK_BYTES - this.#spent - this.#estimate();
  }

  /** About what the whole card costs; escapes and the words around it included. */
  #estimate(): number {
    const output = this.#card.output?.length ?? 0;
    return Math.min(LIMITS.cardBytes, FRAME_BYTES + Math.ceil(output * 1.1));
  }
}

/** A whole card at once, of a tool about which nothing more will come. */
export function wholeCard(card: ToolCard, style: CardStyle): EncodedUpdate {
  const members = headOf(card, card.status(-Infinity), style, true);
  const content = contentOf(card, style, roomBeside(card, members));
  if (content !== "[]") insertContent(members, content);
  return encoded("tool_call", card.id, members);
}

/** Bytes that a card's content may take beside its other members. */
function roomBeside(card: ToolCard, head: Members): number {
  const taken = head.reduce((sum, [name, json]) => sum + name.length + bytesOf(json) + 4, 0);
  return LIMITS.cardBytes - FRAME_BYTES - card.id.length * 3 - taken;
}

/** `_meta` comes last. */
function insertContent(members: Members, content: string): void {
  const at = members.findIndex(([name]) => name === "_meta");
  members.splice(at < 0 ? members.length : at, 0, ["content", content]);
}

function encoded(kind: "tool_call" | "tool_call_update", id: string, members: Members): EncodedUpdate {
  let update = `{"sessionUpdate":"${kind}","toolCallId":${JSON.stringify(id)}`;
  for (const [name, json] of members) update += `,"${name}":${json}`;
  return `${update}}`;
}

/** Stands for a member's JSON without keeping a long one. */
function mark(json: string): string {
  return json.length <= 64 ? json : digestOf(json);
}
