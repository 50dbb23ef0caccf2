import type { AnyNotification, AnyRequest, JsonRpcId } from "@agentclientprotocol/sdk";
import type { Json } from "../model/json.ts";
import type { Line } from "../wire/lines.ts";

/** How the Client answered a request of ours. */
export type Outcome =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly code: number; readonly message: string; readonly data?: Json };

/** What a line turned out to be. `refused` is to be answered with an error that quotes nothing of the line. */
export type Envelope =
  | { readonly kind: "blank" }
  | { readonly kind: "request"; readonly message: AnyRequest }
  | { readonly kind: "notification"; readonly message: AnyNotification }
  | { readonly kind: "response"; readonly id: JsonRpcId; readonly outcome: Outcome }
  | {
    readonly kind: "refused";
    readonly id: JsonRpcId;
    readonly code: -32700 | -32600;
    readonly message: string;
    readonly data?: { readonly code: string; readonly limit: number };
  };

/** Reads the envelope of one line. Parameters stay unread. `limit` is the one that an over-long line went past. */
export function readEnvelope(line: Line, limit: number): Envelope {
  if (line.kind === "oversize") return oversize(line.head, limit);
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    if (line.text.trim() === "") return { kind: "blank" };
    return { kind: "refused", id: null, code: -32700, message: "Parse error: the line is not valid JSON" };
  }
  if (Array.isArray(value)) return refused(null, "an array came, and ACP has no batches");
  if (typeof value !== "object" || value === null) return refused(null, "a message is a JSON object");
  return opened(value);
}

function opened(value: object): Envelope {
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  const usable = isId(id) ? id : null;
  if (method === undefined) {
    // Never answered, however broken: an answer to an answer starts a quarrel.
    if ("id" in value || "result" in value || "error" in value) {
      return { kind: "response", id: usable, outcome: outcomeOf(value) };
    }
    return refused(null, '"method" is missing');
  }
  if (jsonrpc !== "2.0") return refused(usable, '"jsonrpc" must be "2.0"');
  if (typeof method !== "string") return refused(usable, '"method" must be a string');
  if (!("id" in value)) return { kind: "notification", message: { jsonrpc, method, params } };
  if (!isId(id)) return refused(null, '"id" must be a string, a number or null');
  return { kind: "request", message: { jsonrpc, id, method, params } };
}

function outcomeOf(value: object): Outcome {
  const { result, error } = value as Record<string, unknown>;
  // Some peers send the part that does not apply as null.
  if ((error === undefined || error === null) && result !== undefined) return { kind: "result", result };
  if ((result === undefined || result === null) && typeof error === "object" && error !== null) {
    const { code, message, data } = error as Record<string, unknown>;
    if (typeof code === "number" && typeof message === "string") {
      return { kind: "error", code, message, ...(data !== undefined && { data: data as Json }) };
    }
  }
  return { kind: "error", code: -32600, message: "The editor's answer has neither a result nor an error" };
}

// Members in front of the id that cannot hide another object, so that what is found is the message's own id.
const HEAD =
  /^\s*\{\s*(?<before>(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*)"id"\s*:\s*(?<id>-?\d{1,15}|"[^"\\]*")\s*,\s*"(?<next>\w+)"/;

function oversize(head: string, limit: number): Envelope {
  const sentence = `the message is longer than ${limit} bytes, the most that one line may hold`;
  const found = HEAD.exec(head)?.groups;
  const written = found?.id ?? "";
  const id: JsonRpcId = found === undefined
    ? null
    : written.startsWith('"')
    ? written.slice(1, -1)
    : Number(written);
  const isRequest = found !== undefined && (found.before!.includes('"method"') || found.next === "method");
  if (found !== undefined && !isRequest && (found.next === "result" || found.next === "error")) {
    return { kind: "response", id, outcome: { kind: "error", code: -32600, message: sentence } };
  }
  return { ...refused(isRequest ? id : null, sentence), data: { code: "line_too_long", limit } };
}

function refused(id: JsonRpcId, sentence: string): Extract<Envelope, { kind: "refused" }> {
  return { kind: "refused", id, code: -32600, message: `Invalid request: ${sentence}` };
}

function isId(value: unknown): value is JsonRpcId {
  return value === null || typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}
