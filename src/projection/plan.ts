import { encodeBody, type RowHead } from "../model/row.ts";
import { fits, jsonText, metaMember, oneLine, UPDATE_BYTES } from "./encode.ts";
import { digestOf } from "../model/digest.ts";
import type { EncodedUpdate } from "./step.ts";
import { LIMITS } from "../limits.ts";
import type { Meta } from "../model/json.ts";
import type { PlanEntry } from "../model/plan.ts";
import type { Redact } from "../model/redact.ts";

/** Entries of a plan that are shown. */
const ENTRIES = 256;
/** Shown plans that are remembered, so that a row that lags behind is known as one. */
const REMEMBERED = 64;

/** A plan, always whole. One that does not fit into a line has its entries cut; too many have their end counted. */
export function planUpdate(entries: readonly PlanEntry[], redact: Redact, meta?: Meta): EncodedUpdate {
  const extra = metaMember(meta);
  let update = encode(entries, LIMITS.commandLength, redact, extra);
  for (let length = 256; length >= 4 && !fits(update, UPDATE_BYTES); length /= 4) {
    update = encode(entries, length, redact, extra);
  }
  return update;
}

function encode(entries: readonly PlanEntry[], length: number, redact: Redact, extra: string): EncodedUpdate {
  const shown = entries.length > ENTRIES ? entries.slice(0, ENTRIES - 1) : entries;
  const items = shown.map(({ content, priority, status, meta }) =>
    `{"content":${
      jsonText(oneLine(redact(content.slice(0, 8 * LIMITS.commandLength)), length))
    },"priority":"${priority}","status":"${status}"${length < LIMITS.commandLength ? "" : metaMember(meta)}}`
  );
  if (shown.length < entries.length) {
    const hidden = entries.slice(shown.length);
    const status = hidden.every((entry) => entry.status === "completed") ? "completed" : "pending";
    items.push(`{"content":"${hidden.length} more steps","priority":"low","status":"${status}"}`);
  }
  return `{"sessionUpdate":"plan","entries":[${items.join(",")}]${extra}}`;
}

/** The plan of one Run as it was shown. */
export class ShownPlan {
  #redact: Redact;
  #last: EncodedUpdate | undefined;
  #seen: string[] = [];
  #recorded: { readonly seq: number; readonly update: EncodedUpdate } | undefined;

  /** Begins without a plan. */
  constructor(redact: Redact) {
    this.#redact = redact;
  }

  /** Takes a live plan. */
  apply(entries: readonly PlanEntry[], meta: Meta | undefined, out: EncodedUpdate[]): void {
    this.#remember(digestOf(encodeBody({ kind: "plan", entries, meta })));
    this.#show(planUpdate(entries, this.#redact, meta), out);
  }

  /** Takes a recorded plan; one that was shown before shows nothing until the end. */
  row(row: RowHead, entries: readonly PlanEntry[], meta: Meta | undefined, out: EncodedUpdate[]): void {
    const update = planUpdate(entries, this.#redact, meta);
    if (row.seq >= (this.#recorded?.seq ?? 0)) this.#recorded = { seq: row.seq, update };
    if (this.#seen.includes(row.sha256)) return;
    this.#remember(row.sha256);
    this.#show(update, out);
  }

  /** Shows the recorded state, where that is another one. */
  finish(out: EncodedUpdate[]): void {
    if (this.#recorded !== undefined) this.#show(this.#recorded.update, out);
  }

  #show(update: EncodedUpdate, out: EncodedUpdate[]): void {
    if (update === this.#last) return;
    this.#last = update;
    out.push(update);
  }

  #remember(sha256: string): void {
    if (this.#seen.includes(sha256)) return;
    this.#seen.push(sha256);
    if (this.#seen.length > REMEMBERED) this.#seen.shift();
  }
}
