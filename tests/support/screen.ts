import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Entry } from "./wire.ts";
import { updateOf } from "./editor.ts";

/** A message as a person sees it. */
export interface ShownMessage {
  readonly id: string;
  readonly channel: "user" | "agent" | "thought";
  text: string;
  /** How many chunks it came in. */
  chunks: number;
}

/** A tool card as a person sees it: the last value of each property. */
export interface ShownCard {
  readonly toolCallId: string;
  readonly title: string;
  readonly kind?: string;
  readonly status: string;
  readonly content: readonly JsonObject[];
  readonly locations: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: Json;
  readonly rawOutput?: Json;
  /** Every status that it was shown with, in order, without repetitions. */
  readonly statuses: readonly string[];
  /** How many updates followed the announcement. */
  readonly updates: number;
}

/** What an editor shows of a Session after a piece of the conversation. */
export interface Screen {
  readonly messages: readonly ShownMessage[];
  readonly cards: readonly ShownCard[];
  readonly plan?: readonly JsonObject[];
  readonly mode?: string;
  readonly options?: readonly JsonObject[];
  readonly commands?: readonly JsonObject[];
  readonly title?: string;
  readonly usage?: { readonly used: number; readonly size: number };
  readonly notices: readonly string[];
  /** All kinds of updates in the order in which they came. */
  readonly kinds: readonly string[];
}

const CHANNELS = {
  user_message_chunk: "user",
  agent_message_chunk: "agent",
  agent_thought_chunk: "thought",
} as const;

/** Shows the updates of one Session among the lines from `from` on. */
export function screenOf(entries: readonly Entry[], sessionId: string, from = 0): Screen {
  const messages = new Map<string, ShownMessage>();
  const cards = new Map<string, ShownCard>();
  const notices: string[] = [];
  const kinds: string[] = [];
  const rest: Record<string, unknown> = {};
  // Chunks without an id belong together as long as no other message and no new card comes between them.
  let nameless = 0;
  let before = "";
  for (const entry of entries) {
    const update = entry.index < from ? undefined : updateOf(entry, sessionId);
    if (update === undefined) continue;
    const kind = String(update.sessionUpdate);
    kinds.push(kind);
    switch (kind) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        if (before !== kind) nameless++;
        before = kind;
        const id = typeof update.messageId === "string" ? update.messageId : `nameless-${nameless}`;
        const content = update.content as { readonly text?: string };
        const message = messages.get(id) ?? { id, channel: CHANNELS[kind], text: "", chunks: 0 };
        messages.set(id, message);
        message.text += content.text ?? JSON.stringify(content);
        message.chunks += 1;
        break;
      }
      case "tool_call":
      case "tool_call_update": {
        const id = String(update.toolCallId);
        if (!cards.has(id)) before = kind;
        cards.set(id, shown(cards.get(id), update));
        break;
      }
      case "notice":
        notices.push(String(update.title));
        break;
      case "plan":
        rest.plan = update.entries;
        break;
      case "current_mode_update":
        rest.mode = update.currentModeId;
        break;
      case "config_option_update":
        rest.options = update.configOptions;
        break;
      case "available_commands_update":
        rest.commands = update.availableCommands;
        break;
      case "session_info_update":
        if (update.title !== undefined) rest.title = update.title;
        break;
      case "usage_update":
        rest.usage = { used: update.used, size: update.size };
        break;
    }
  }
  return { messages: [...messages.values()], cards: [...cards.values()], notices, kinds, ...rest };
}

/** All text of one voice. */
export function textOf(screen: Screen, channel: ShownMessage["channel"] = "agent"): string {
  return screen.messages.filter((message) => message.channel === channel).map((message) => message.text).join(
    "\n",
  );
}

/** All text inside a card. */
export function cardText(card: ShownCard): string {
  return card.content.map((part) => {
    const content = part.content as { readonly text?: string } | undefined;
    return content?.text ?? "";
  }).join("\n");
}

function shown(card: ShownCard | undefined, update: Record<string, unknown>): ShownCard {
  const fresh: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(update)) {
    if (key !== "sessionUpdate" && value !== null && value !== undefined) fresh[key] = value;
  }
  const before = card ?? {
    toolCallId: String(update.toolCallId),
    title: "",
    status: "pending",
    content: [],
    locations: [],
    statuses: [],
    updates: -1,
  };
  const next = { ...before, ...fresh, updates: before.updates + 1 } as ShownCard;
  const statuses = before.statuses.at(-1) === next.status
    ? before.statuses
    : [...before.statuses, next.status];
  return { ...next, statuses };
}
