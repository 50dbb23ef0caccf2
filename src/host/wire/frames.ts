import { z } from "zod";
import type { Frame, Snapshot } from "../../model/frame.ts";
import type { Row } from "../../model/row.ts";
import type { SessionChange } from "../contract.ts";
import { faultOf, isObject, type Shape, shape, variants } from "./shape.ts";
import * as v from "./values.ts";

const { run, text, whole, flag, list, object } = v;
const channel = z.enum(["text", "thinking"]);
const message = { run, messageId: text, channel };
const tool = { run, toolCallId: text };
const severity = z.enum(["info", "warning", "error"]);
const toolEnd = z.enum(["completed", "failed", "cancelled"]);
const block = shape({ kind: text });
const diff = shape({ path: text, oldText: text.nullable(), newText: text });
const toolInput = shape({
  complete: flag,
  sensitive: flag,
  title: text,
  kind: text,
  locations: list(shape({ path: text })),
  raw: v.json.optional(),
  shown: shape({ content: list(block), diffs: list(diff) }).optional(),
});
const toolResult = shape({ status: toolEnd, content: list(block), diffs: list(diff) });

/** Fields of each type of frame. */
const FRAMES: { readonly [type in Frame["type"]]: z.ZodRawShape } = {
  run: { live: v.liveRun },
  run_ended: { run, end: v.runEnd, through: whole },
  message: { ...message, offset: whole, text },
  message_complete: { ...message, length: whole, sha256: text },
  message_reset: message,
  message_superseded: { run, messageId: text, by: text },
  content: { run, contentId: text, channel, block: block.optional(), length: whole, sha256: text },
  tool_start: { ...tool, parent: text.optional() },
  tool_input: { ...tool, input: toolInput },
  tool_output: {
    ...tool,
    seq: whole,
    count: whole.optional(),
    stream: z.enum(["stdout", "stderr"]),
    redacted: flag,
    text,
  },
  tool_progress: { ...tool, message: text },
  tool_result: {
    ...tool,
    status: toolEnd,
    result: toolResult.optional(),
    contentOmitted: flag,
    length: whole.optional(),
    sha256: text.optional(),
  },
  interaction_opened: { interaction: v.interaction },
  interaction_closed: { interactionId: text, run, reason: text, by: text.optional() },
  call: { call: shape({ callId: text, run, method: text, params: object }) },
  call_cancelled: { callId: text, run },
  plan: { run, entries: list(v.planEntry) },
  usage: { usage: v.usage },
  commands: { commands: list(v.command) },
  config: { config: v.config },
  title: { title: text },
  notice: { run: run.optional(), severity, title: text, text: text.optional() },
  compaction: { run: run.optional(), compactionId: text, status: text },
  elicited: { elicitationId: text },
  transcript: { watermark: whole, last: whole },
  closed: { reason: text },
};

/** Any frame, by the schemas alone. */
export const frame: Shape<Frame> = variants<Frame>("type", FRAMES);

/**
 * What is wrong with a value that came as a frame; undefined where it is one. The types that come by the thousand are looked at by hand.
 */
export function frameFault(value: unknown): string | undefined {
  return isDelta(value) ? undefined : faultOf(frame, value);
}

/** Whether it is a frame of a type that this side does not know: a newer Host may have some. */
export function isUnknownFrame(value: unknown): boolean {
  return isObject(value) && typeof value.type === "string" && !Object.hasOwn(FRAMES, value.type);
}

function isDelta(value: unknown): boolean {
  if (!isObject(value) || typeof value.text !== "string" || !isRun(value.run)) return false;
  if (value.type === "message") {
    return typeof value.messageId === "string" && isWhole(value.offset) &&
      (value.channel === "text" || value.channel === "thinking");
  }
  return value.type === "tool_output" && typeof value.toolCallId === "string" && isWhole(value.seq) &&
    (value.count === undefined || isWhole(value.count)) &&
    (value.stream === "stdout" || value.stream === "stderr") && typeof value.redacted === "boolean";
}

function isRun(value: unknown): boolean {
  return isObject(value) && typeof value.turnId === "string" && typeof value.runId === "string";
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The present state of a Session. */
export const snapshot: Shape<Snapshot> = shape<Snapshot>({
  storeId: text,
  hostEpoch: text,
  runs: list(v.liveRun),
  config: v.config,
  commands: list(v.command),
  title: text.optional(),
  usage: v.usage.optional(),
  interactions: list(v.interaction),
  watermark: whole,
  last: whole,
  messages: list(shape({ ...message, length: whole })),
});

/** A row or a fragment of one. */
export const row: Shape<Row> = shape<Row>({
  seq: whole,
  run,
  kind: text,
  id: text,
  complete: flag,
  sensitive: flag,
  length: whole,
  sha256: text,
  at: z.number(),
  body: shape({ offset: whole, text }).optional(),
});

/** A change that a watch tells. */
export const sessionChange: Shape<SessionChange> = variants<SessionChange>("type", {
  changed: { info: v.sessionInfo },
  removed: { sessionId: text },
});
