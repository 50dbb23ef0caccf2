import type { Json, JsonObject } from "../model/json.ts";
import { type Screen, type Style, wrap } from "./screen.ts";
import { objectOf } from "./editor.ts";

const PLAN_MARKS: Readonly<Record<string, string>> = { completed: "●", in_progress: "◐", pending: "○" };

/** Columns before the text of a line. */
const MARGIN = 10;

const SPEAKERS: Readonly<Record<string, Style>> = {
  you: "cyan",
  agent: "green",
  asks: "yellow",
  editor: "yellow",
};

/** Lines of a diff or of output that are shown of one tool. */
const SHOWN_LINES = 12;

/** Shows a Session's updates as an editor would, line by line. */
export class Viewer {
  /** The agent's text since {@linkcode Viewer.begin}. */
  text = "";
  /** Permission dialogs since then. */
  asked = 0;
  /** Updates since then. */
  updates = 0;
  readonly #screen: Screen;
  readonly #tools = new Map<string, JsonObject>();
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #quiet = false;
  #speaker = "";
  /** Text whose line is not complete yet. */
  #open: { readonly who: string; readonly text: string } | undefined;

  readonly #shorten: (text: string) => string;

  /** Shows on this screen. `shorten` may replace what a reader does not want to see at length. */
  constructor(screen: Screen, shorten: (text: string) => string = (text) => text) {
    this.#screen = screen;
    this.#shorten = shorten;
  }

  /** Shows what a speaker says, whose name stands before the first line of a row of them. */
  say(who: string, text: string, style?: Style): void {
    if (this.#quiet) return;
    for (const line of wrap(this.#shorten(text), this.#screen.width - MARGIN)) {
      const name = (who === this.#speaker ? "" : who).padEnd(MARGIN - 3);
      const shown = style === undefined ? line : this.#screen.paint(style, line);
      this.#screen.line(`  ${this.#screen.paint(SPEAKERS[who] ?? "dim", name)} ${shown}`.trimEnd());
      this.#speaker = who;
    }
  }

  /** Shows a line that nobody says; whoever speaks next is named again. */
  line(text: string = ""): void {
    this.#speaker = "";
    this.#screen.line(text);
  }

  /** Forgets what was counted. `quiet` shows nothing from now on, `shown` everything. */
  begin(mode: "shown" | "quiet" = "shown"): void {
    this.text = "";
    this.asked = 0;
    this.updates = 0;
    this.#quiet = mode === "quiet";
  }

  /** Shows what is left of an open line. */
  end(): void {
    if (this.#open !== undefined && this.#open.text !== "") this.say(this.#open.who, this.#open.text);
    this.#open = undefined;
  }

  /** Resolves at the next update of this kind. */
  next(kind: string): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting.set(kind, waiting);
    return waiting.promise;
  }

  /** Shows one update. */
  show(update: JsonObject): void {
    const kind = String(update.sessionUpdate);
    this.updates++;
    switch (kind) {
      case "agent_message_chunk":
        this.#speak("agent", update);
        break;
      case "agent_thought_chunk":
        this.#speak("thinks", update);
        break;
      case "plan":
        this.end();
        for (const entry of listOf(update.entries)) {
          this.say("plan", `${PLAN_MARKS[String(entry.status)] ?? "?"} ${entry.content}`);
        }
        break;
      case "tool_call":
      case "tool_call_update":
        this.end();
        this.#tool(update);
        break;
      case "session_info_update":
        this.end();
        if (typeof update.title === "string") this.say("title", update.title);
        break;
    }
    this.#waiting.get(kind)?.resolve();
    this.#waiting.delete(kind);
  }

  /** Shows a permission dialog and allows once. */
  allow(params: JsonObject): Json {
    this.end();
    this.asked++;
    const options = listOf(params.options);
    const chosen = options.find((option) => option.kind === "allow_once");
    this.say("asks", `${objectOf(params.toolCall).title}?`);
    for (const { name } of options) this.say("asks", `[${name}]`, "dim");
    if (chosen === undefined) return { outcome: { outcome: "cancelled" } };
    this.say("editor", `answers "${chosen.name}"`);
    return { outcome: { outcome: "selected", optionId: chosen.optionId ?? null } };
  }

  #speak(who: string, update: JsonObject): void {
    const piece = objectOf(update.content).text;
    if (typeof piece !== "string") return;
    if (who === "agent") this.text += piece;
    if (this.#open?.who !== who) this.end();
    const lines = `${this.#open?.text ?? ""}${piece}`.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) this.say(who, line);
    this.#open = { who, text: rest };
  }

  #tool(update: JsonObject): void {
    const id = String(update.toolCallId);
    const before = this.#tools.get(id);
    const now = { ...before, ...update };
    this.#tools.set(id, now);
    if (before === undefined) this.say("tool", `${now.title}`);
    if (before?.status === now.status || (now.status !== "completed" && now.status !== "failed")) return;
    this.say("", `${now.status}`);
    for (const item of listOf(now.content)) {
      if (item.type === "diff") this.#diff(item);
      else this.#lines(String(objectOf(item.content).text ?? ""));
    }
  }

  #diff({ oldText, newText }: JsonObject): void {
    const before = typeof oldText === "string" ? oldText.split("\n") : [];
    const after = String(newText).split("\n");
    let head = 0;
    while (head < before.length && before[head] === after[head]) head++;
    let tail = 0;
    while (
      tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail)
    ) tail++;
    for (const line of before.slice(head, before.length - tail)) {
      this.say("", `- ${line}`, "red");
    }
    for (const line of after.slice(head, after.length - tail)) {
      this.say("", `+ ${line}`, "green");
    }
  }

  #lines(text: string): void {
    const lines = text.trimEnd().split("\n");
    for (const line of lines.slice(0, SHOWN_LINES)) this.say("", line);
    if (lines.length > SHOWN_LINES) this.say("", `… ${lines.length - SHOWN_LINES} more lines`);
  }
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
