import type { Answer } from "../support/editor.ts";
import type { Entry } from "../support/wire.ts";
import { isRecord, recordOf } from "../../src/engine/acp/shape.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { screenOf, type ShownCard } from "../support/screen.ts";
import { updateOf } from "../support/editor.ts";

/** What a person sees of a prompt, and what the editor was asked meanwhile. */
export interface SceneRecord {
  readonly answer: JsonObject;
  readonly messages: readonly JsonObject[];
  readonly cards: readonly JsonObject[];
  readonly plan?: readonly JsonObject[];
  readonly notices: readonly string[];
  /** Requests to the editor. */
  readonly asked: readonly { readonly method: string; readonly params: Json }[];
  /** Methods of notifications that are no updates. */
  readonly notified: readonly string[];
}

/** An answer as it is recorded. */
export function answerOf(answer: Answer): JsonObject {
  return "result" in answer ? recordOf(answer.result) : { error: answer.error.message };
}

/** What the lines from `from` on showed of a Session. */
export function sceneOf(
  lines: readonly Entry[],
  sessionId: string,
  from: number,
  answer: Answer,
): SceneRecord {
  const entries = lines.map(withCard);
  const screen = screenOf(entries, sessionId, from);
  const later = lines.filter(({ index, from: by }) => index >= from && by === "agent");
  const tools = new Map(screen.cards.map(({ toolCallId }, at) => [toolCallId, `tool-${at + 1}`]));
  const record = {
    answer: answerOf(answer),
    messages: screen.messages.map(({ channel, text }) => ({ channel, text })),
    cards: screen.cards.map((card) => cardOf(card, entries, sessionId, from)),
    ...(screen.plan !== undefined && { plan: screen.plan }),
    notices: screen.notices,
    asked: later.flatMap(({ message }) =>
      message?.kind === "request" ? [{ method: message.method, params: message.params as Json }] : []
    ),
    notified: [...new Set(later.flatMap(({ message }) => extension(message) ?? []))],
  };
  // Ids of tools are the agent's own, or Gangway's where the agent uses one again.
  let text = JSON.stringify(record);
  for (const [id, stands] of tools) {
    text = text.replaceAll(`"toolCallId":"${id}"`, `"toolCallId":"${stands}"`);
  }
  return JSON.parse(text);
}

/** What holds of a Session at the end: the last of each. */
export function sessionOf(entries: readonly Entry[], sessionId: string): JsonObject {
  const { title, commands, mode, options, usage } = screenOf(entries, sessionId);
  return {
    title: title ?? null,
    commands: [...commands ?? []],
    mode: mode ?? null,
    options: [...options ?? []],
    usage: usage ?? null,
  };
}

/** The same without what two runs never share: times, ports, and the names that stand for something else. */
export function anonymous<T>(recording: T, names: Readonly<Record<string, string>>): T {
  let text = JSON.stringify(recording);
  for (const [name, stands] of Object.entries(names)) text = text.replaceAll(name, stands);
  return JSON.parse(
    text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(/127\.0\.0\.1:\d+/g, "LOOPBACK"),
  );
}

/** A card without the way its state came about, with all metadata that it was ever shown with. */
function cardOf(card: ShownCard, entries: readonly Entry[], sessionId: string, from: number): JsonObject {
  const { statuses: _, updates: __, ...shown } = card;
  let meta: JsonObject = {};
  for (const entry of entries) {
    const update = entry.index < from ? undefined : updateOf(entry, sessionId);
    if (update?.toolCallId === card.toolCallId) meta = merged(meta, recordOf(update._meta));
  }
  return { ...shown as unknown as JsonObject, _meta: meta };
}

/** The card in a permission request counts as an update of it, as editors take it. */
function withCard(entry: Entry): Entry {
  const { message } = entry;
  if (message?.kind !== "request" || message.method !== "session/request_permission") return entry;
  const { sessionId, toolCall } = recordOf(message.params);
  const update = { ...recordOf(toolCall), sessionUpdate: "tool_call_update" };
  const params = { sessionId, update };
  return { ...entry, message: { kind: "notification", method: "session/update", params } };
}

function merged(before: JsonObject, after: JsonObject): JsonObject {
  const whole = { ...before };
  for (const [name, value] of Object.entries(after)) {
    const old = whole[name];
    whole[name] = isRecord(old) && isRecord(value) ? merged(old, value) : value;
  }
  return whole;
}

function extension(message: Entry["message"]): string | undefined {
  if (message?.kind !== "notification" || message.method === "session/update") return undefined;
  return message.method;
}
