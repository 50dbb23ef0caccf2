import { cut, isRecord, metaOf, numberOf, recordsOf, textOf } from "./shape.ts";
import { exitCodeOf, type Shown, shownOf } from "./content.ts";
import type { EngineSink } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import type { ToolContent, ToolInput, ToolKind, ToolLocation, ToolResult } from "../../model/tool.ts";
import { type Hearer, isOwnTerminal, type OwnTerminal, type OwnTerminals } from "./terminals.ts";
import type { UsedIds } from "./voices.ts";

/** UTF-16 units of content that a tool shows before its end, all of it together; the end brings it whole. */
const SHOWN_LENGTH = LIMITS.cardLength;

const KINDS: readonly string[] = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
] satisfies readonly ToolKind[];

/** Members of an update that a tool's input is made of. */
const INPUT = ["title", "name", "kind", "locations", "rawInput", "content", "_meta"] as const;

/** Terminals that run here, by their ids, as one tool shows them. */
type ShownTerminals = ReadonlyMap<string, { readonly terminal: OwnTerminal; readonly hearer: Hearer }>;

/** The tools of one Turn: an agent's updates name what changed, the Host is given each time the whole. */
export class Tools {
  readonly #sink: EngineSink;
  readonly #faults: Faults;
  readonly #used: UsedIds;
  readonly #prefix: string;
  readonly #terminals: OwnTerminals;
  /** Terminals that run here, by the tool that shows them; what they wrote outlives their release. */
  readonly #shown = new Map<string, ShownTerminals>();
  /** Ids as the Host knows them: an agent that begins to count anew with each prompt gets others. */
  readonly #ids = new Map<string, string>();
  readonly #live = new Map<string, JsonObject>();

  /** `prefix` makes ids unique in the Session. */
  constructor(
    parts: { sink: EngineSink; faults: Faults; used: UsedIds; prefix: string; terminals: OwnTerminals },
  ) {
    this.#terminals = parts.terminals;
    this.#sink = parts.sink;
    this.#faults = parts.faults;
    this.#used = parts.used;
    this.#prefix = parts.prefix;
  }

  /** Takes a `tool_call`, a `tool_call_update` or the card of a permission request. */
  async take(update: JsonObject): Promise<void> {
    const { toolCallId } = update;
    if (typeof toolCallId !== "string" || toolCallId === "") return this.#faults.count("malformed");
    const before = this.#live.get(toolCallId);
    if (before === undefined && this.#ids.has(toolCallId)) return this.#faults.count("ended_tool");
    const id = this.#ids.get(toolCallId) ?? this.#name(toolCallId);
    const changed = Object.entries(update).filter(([name, value]) =>
      value !== null && name !== "sessionUpdate" && (name !== "_meta" || metaOf(value) !== undefined)
    );
    const now: JsonObject = {
      ...before,
      ...Object.fromEntries(changed),
      // Of a card an editor gets the state and not each update, so that what each of them said has to be in it.
      ...(isRecord(before?._meta) && isRecord(update._meta) && { _meta: joined(before._meta, update._meta) }),
    };
    this.#live.set(toolCallId, now);
    const status = now.status;
    const ends = status === "completed" || status === "failed";
    if (before === undefined) await this.#sink.toolStart(id, inputOf(now, toolCallId, !ends));
    else if ((!ends && before.status !== status) || INPUT.some((name) => !same(before[name], now[name]))) {
      await this.#sink.toolInput(id, inputOf(now, toolCallId, !ends));
    }
    await this.#hear(toolCallId, id, now.content);
    if (!ends) return;
    this.#live.delete(toolCallId);
    const terminals = this.#shown.get(toolCallId);
    this.#mute(toolCallId);
    await this.#sink.toolResult(id, resultOf(now, status, terminals));
  }

  /** What a terminal of ours shows no editor can show: the tool itself does. */
  async #hear(toolCallId: string, id: string, content: Json | undefined): Promise<void> {
    for (const { type, terminalId } of recordsOf(content)) {
      const terminal = type === "terminal" ? this.#terminals.get(terminalId) : undefined;
      const shown = this.#shown.get(toolCallId);
      if (terminal === undefined || shown?.has(String(terminalId)) === true) continue;
      const hearer: Hearer = (stream, text) => this.#sink.toolOutput(id, stream, text);
      this.#shown.set(toolCallId, new Map([...shown ?? [], [String(terminalId), { terminal, hearer }]]));
      await terminal.hear(hearer);
    }
  }

  /** What a terminal writes from now on is not this tool's to show. */
  #mute(toolCallId: string): void {
    for (const { terminal, hearer } of this.#shown.get(toolCallId)?.values() ?? []) terminal.leave(hearer);
    this.#shown.delete(toolCallId);
  }

  /** Whether a tool has not ended. */
  get open(): boolean {
    return this.#live.size > 0;
  }

  /** What the Host calls a tool; undefined for one that was not heard of. */
  idOf(toolCallId: string): string | undefined {
    return this.#ids.get(toolCallId);
  }

  /** What a tool is called. */
  titleOf(toolCallId: string): string | undefined {
    return textOf(this.#live.get(toolCallId)?.title);
  }

  /** The Turn is over. The Host marks what is still open as interrupted. */
  close(): void {
    for (const _ of this.#live) this.#faults.count("open_tool");
    this.#live.clear();
    for (const toolCallId of [...this.#shown.keys()]) this.#mute(toolCallId);
  }

  #name(toolCallId: string): string {
    const id = this.#used.take(toolCallId) ? toolCallId : `${this.#prefix}-${toolCallId}`;
    this.#ids.set(toolCallId, id);
    return id;
  }
}

function resultOf(
  now: JsonObject,
  status: "completed" | "failed",
  terminals: ShownTerminals = new Map(),
): ToolResult {
  const ends = [...terminals.values()].flatMap(({ terminal }) => terminal.exit?.exitCode ?? []);
  const exitCode = exitCodeOf(now.rawOutput) ?? ends.at(-1);
  const { content, diffs } = shownOf(now.content);
  const own = (part: ToolContent) =>
    part.kind === "terminal" ? terminals.get(part.terminalId)?.terminal : undefined;
  // Where there is nothing else to show, what the tool wrote stays as it is.
  const alone = content.every((part) => own(part) !== undefined);
  return {
    status,
    content: alone ? [] : content.map((part) => {
      const terminal = own(part);
      return terminal === undefined ? part : { kind: "text", text: terminal.output };
    }),
    diffs,
    ...(exitCode !== undefined && { exitCode }),
    ...(now.rawOutput !== undefined && { raw: now.rawOutput }),
  };
}

function inputOf(now: JsonObject, toolCallId: string, open: boolean): ToolInput {
  const { title, name, kind, status, locations, rawInput, content, _meta } = now;
  const meta = metaOf(_meta);
  const shown = open ? within(shownOf(withoutOwn(content))) : undefined;
  return {
    // What an agent announces is what it is going to do; it does not say whether more is to come.
    complete: true,
    sensitive: false,
    title: textOf(title) ?? textOf(name) ?? toolCallId,
    kind: KINDS.includes(String(kind)) ? kind as ToolKind : "other",
    ...(open && (status === "pending" || status === "in_progress") && { status }),
    locations: locationsOf(locations),
    ...(typeof name === "string" && { name }),
    ...(rawInput !== undefined && { raw: rawInput }),
    ...(shown !== undefined && { shown }),
    ...(meta !== undefined && { meta }),
  };
}

/** Without terminals of ours, whose output is the tool's. */
function withoutOwn(content: Json | undefined): JsonObject[] {
  return recordsOf(content).filter((item) => item.type !== "terminal" || !isOwnTerminal(item.terminalId));
}

function locationsOf(list: Json | undefined): ToolLocation[] {
  return recordsOf(list).flatMap(({ path, line }) => {
    if (typeof path !== "string") return [];
    const at = numberOf(line);
    return [{ path, ...(at !== undefined && { line: at }) }];
  });
}

/** Metadata with what came later, names and the members of their values one by one; without that where it would be too much. */
function joined(before: JsonObject, after: JsonObject): JsonObject {
  const members = Object.entries(after).map(([name, value]) => {
    const old = before[name];
    return [name, isRecord(old) && isRecord(value) ? { ...old, ...value } : value];
  });
  const whole: JsonObject = { ...before, ...Object.fromEntries(members) };
  return metaOf(whole) === undefined ? before : whole;
}

/** As much as may be shown before the end; undefined for nothing. */
function within(shown: Shown): Shown | undefined {
  if (shown.content.length === 0 && shown.diffs.length === 0) return undefined;
  let left = SHOWN_LENGTH;
  const diffs = shown.diffs.filter((diff) => {
    const length = (diff.oldText?.length ?? 0) + diff.newText.length;
    if (length > left) return false;
    left -= length;
    return true;
  });
  const content = shown.content.flatMap((part): ToolContent[] => {
    if (part.kind === "resource" && part.text !== undefined) {
      left -= part.text.length;
      return left < 0 ? [] : [part];
    }
    if (part.kind !== "text") return [part];
    if (left <= 0) return [];
    const text = cut(part.text, left);
    left -= text.length;
    return [{ ...part, text }];
  });
  return { content, diffs };
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
