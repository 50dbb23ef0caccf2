import type { ToolRecord } from "../../../src/model/tool.ts";
import type { Entry, Update } from "../tape.ts";
import type { TrueRow } from "../truth.ts";
import type { Facts, PromptFacts } from "./facts.ts";
import type { Stages } from "./stages.ts";

const ENDS: readonly string[] = ["completed", "failed"];

interface ShownMessage {
  readonly turnId: string | undefined;
  readonly channel: string;
  text: string;
  readonly seq: number;
  /** Its beginning may have been before this connection looked: a resume shows no past. */
  readonly partial: boolean;
}

interface ShownCard {
  readonly turnId: string | undefined;
  status: string;
  /** Whether the authoritative result was shown. */
  final: boolean;
}

/** What one editor shows of one Session. */
export class View {
  readonly cards: Map<string, ShownCard> = new Map();
  readonly #messages = new Map<string, ShownMessage>();
  /** What was shown of messages before a load or a close took it away. */
  readonly #past: [id: string, message: ShownMessage][] = [];
  readonly #by: string;
  readonly #sessionId: string;
  readonly #facts: Facts;
  readonly #wrong: (rule: string, what: string, seq: number) => void;
  readonly #stages: Stages;
  /** The last plan of each Turn. */
  readonly #plans = new Map<string, readonly string[]>();
  #doubtful: ReadonlySet<string> = new Set();
  /** The last update of each Turn that was no replay. */
  readonly #last = new Map<string, Extract<Entry, { kind: "update" }>>();

  constructor(
    by: string,
    sessionId: string,
    facts: Facts,
    stages: Stages,
    wrong: (rule: string, what: string, seq: number) => void,
  ) {
    this.#by = by;
    this.#sessionId = sessionId;
    this.#facts = facts;
    this.#stages = stages;
    this.#wrong = wrong;
  }

  /**
   * The editor loads: it shows everything anew, but for Turns that go on as they are. Of some nobody can tell from outside
   * which they are.
   */
  reload(running: ReadonlySet<string>, perhaps: readonly string[]): void {
    this.#forget((turnId) => turnId === undefined || !running.has(turnId));
    this.#doubtful = new Set(perhaps);
  }

  /** The editor closes the Session. */
  clear(): void {
    this.#forget(() => true);
  }

  take(entry: Extract<Entry, { kind: "update" }>, turnId: string | undefined): void {
    const { update, seq } = entry;
    const { loading } = this.#stages.of(this.#by, this.#sessionId);
    if (!loading && turnId !== undefined) this.#last.set(turnId, entry);
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        return this.#chunk(update, turnId, seq);
      case "tool_call":
      case "tool_call_update":
        return this.#card(update, turnId, seq);
      case "plan": {
        const entries = update.entries as readonly { content: string }[];
        if (turnId !== undefined) this.#plans.set(turnId, entries.map(({ content }) => content));
        return;
      }
      default:
    }
  }

  /** A prompt is answered: what was shown of its Turn has to be whole, as far as the answer says so. */
  judgeAnswer(prompt: PromptFacts, turnId: string, answered: Extract<Entry, { kind: "answered" }>): void {
    const { ending, left, seq } = answered;
    if (!ending.ok && ending.name === "ClientGone") return;
    const { asked } = prompt;
    for (const [id, { turnId: of, status }] of this.cards) {
      if (of === turnId && !ENDS.includes(status)) {
        this.#wrong("card-over", `card ${id} is ${status} when its prompt is answered`, seq);
      }
    }
    const last = this.#last.get(turnId);
    if (last !== undefined && last.until > left) {
      this.#wrong("flushed", `prompt ${asked.prompt} is answered before update ${last.seq} left`, seq);
    }
    if (!ending.ok || ending.value === "cancelled") return;
    const loaded = this.#facts.asks.some(({ asked: other, answered: over }) =>
      other.wish === "load" && other.by === this.#by && other.sessionId === this.#sessionId &&
      other.seq < seq &&
      (over?.seq ?? Infinity) > asked.seq
    );
    if (!loaded) this.#whole(turnId, `prompt ${asked.prompt}`, seq);
  }

  /** A load is answered: every Turn that had ended by then has to be there, once and whole. */
  judgeLoad(asked: number, seq: number, running: ReadonlySet<string>): void {
    for (const turn of this.#facts.turns.values()) {
      if (turn.sessionId !== this.#sessionId || running.has(turn.turnId)) continue;
      if ((turn.ended?.entry.seq ?? Infinity) < asked) this.#whole(turn.turnId, "a load", seq);
    }
  }

  /** A Turn without a prompt has ended: it has to be there, whole. */
  judgeEnded(turnId: string, seq: number): void {
    if (!this.#doubtful.has(turnId) && !this.#revised(turnId)) this.#whole(turnId, "an editor", seq);
  }

  /** Whether what was shown of a Turn was rewritten: showing it ends there, and without a prompt nobody is told. */
  #revised(turnId: string): boolean {
    const { truth, notes } = this.#facts.world;
    return truth.session(this.#sessionId).rowsOf(turnId).some(({ head: { id }, text }) =>
      notes.rewritten.has(id) && !text.startsWith(this.#messages.get(id)?.text ?? "")
    );
  }

  /** At the end of the world: nothing that was ever shown may contradict what was kept. */
  finish(): void {
    this.#forget(() => true);
    for (const [id, message] of this.#past) this.#compare(id, message);
  }

  #forget(which: (turnId: string | undefined) => boolean): void {
    for (const [id, message] of this.#messages) {
      if (!which(message.turnId)) continue;
      this.#past.push([id, message]);
      this.#messages.delete(id);
    }
    for (const [id, card] of this.cards) if (which(card.turnId)) this.cards.delete(id);
  }

  #chunk(update: Update, turnId: string | undefined, seq: number): void {
    const id = String(update.messageId);
    const { type, text = "" } = update.content as { type: string; text?: string };
    if (type !== "text") return;
    if (text === "" || !text.isWellFormed()) {
      this.#wrong("text", `message ${id} has a chunk that is no text`, seq);
    }
    const channel = update.sessionUpdate;
    const message = this.#messages.get(id);
    if (message === undefined) {
      const resumed = this.#facts.asks.some(({ asked, answered }) =>
        asked.wish === "resume" && asked.by === this.#by && asked.sessionId === this.#sessionId &&
        asked.seq < seq &&
        answered?.ending.ok === true
      );
      const partial = (resumed && !this.#own(turnId)) || this.#doubtful.has(turnId ?? "");
      this.#messages.set(id, { turnId, channel, text, seq, partial });
    } else {
      if (message.channel !== channel) this.#wrong("text", `message ${id} turns into ${channel}`, seq);
      message.text += text;
    }
  }

  /** Whether the Turn belongs to a prompt of this connection that is not answered. */
  #own(turnId: string | undefined): boolean {
    return this.#stages.of(this.#by, this.#sessionId).prompts.some(({ starts }) =>
      starts.some(({ op }) => op.detail.turnId === turnId)
    );
  }

  #card(update: Update, turnId: string | undefined, seq: number): void {
    const id = String(update.toolCallId);
    const card = this.cards.get(id);
    const status = update.status === undefined ? undefined : String(update.status);
    const content = update.content === undefined ? undefined : JSON.stringify(update.content);
    const final = content?.includes(`result:${id} `) === true;
    if (update.sessionUpdate === "tool_call") {
      if (card !== undefined) this.#wrong("card-once", `tool ${id} has a second tool_call`, seq);
      this.cards.set(id, { turnId, status: status ?? "pending", final });
      return;
    }
    if (card === undefined) {
      const past = this.#stages.of(this.#by, this.#sessionId).resumed && !this.#own(turnId);
      if (past || this.#doubtful.has(turnId ?? "")) return;
      return this.#wrong("card-once", `tool ${id} is updated without a tool_call`, seq);
    }
    if (ENDS.includes(card.status) && status !== undefined && status !== card.status) {
      this.#wrong("card-end", `card ${id} goes from ${card.status} to ${status}`, seq);
    }
    if (card.final && content !== undefined && !final) {
      this.#wrong("card-stage", `card ${id} loses its result`, seq);
    }
    card.status = status ?? card.status;
    card.final ||= final;
  }

  /** Compares all of a Turn with what the store has of it. */
  #whole(turnId: string, what: string, seq: number): void {
    if (this.#facts.world.truth.removed.has(this.#sessionId)) return;
    let plan: TrueRow | undefined;
    for (const row of this.#facts.world.truth.session(this.#sessionId).rowsOf(turnId)) {
      const { kind, id } = row.head;
      if (kind === "text" || kind === "thinking") {
        const shown = this.#messages.get(id)?.text ?? "";
        if (shown !== row.text) {
          this.#wrong("whole", `${what} shows ${differ(shown, row.text)} of message ${id}`, seq);
        }
      }
      if (kind === "tool") this.#wholeCard(row, what, seq);
      if (kind === "plan") plan = row;
    }
    if (plan === undefined) return;
    const { entries } = JSON.parse(plan.text) as { entries: readonly { content: string }[] };
    const shown = this.#plans.get(turnId) ?? [];
    if (entries.length > 0 && entries.map(({ content }) => content).join() !== shown.join()) {
      this.#wrong("whole", `${what} shows the plan ${shown[0]}, not ${entries[0]?.content}`, seq);
    }
  }

  #wholeCard(row: TrueRow, what: string, seq: number): void {
    const { id } = row.head;
    const card = this.cards.get(id);
    const { result } = (JSON.parse(row.text) as { tool: ToolRecord }).tool;
    const status = result?.status === "completed" ? "completed" : "failed";
    if (card === undefined) return this.#wrong("whole", `${what} lacks the card of tool ${id}`, seq);
    if (card.status !== status) {
      this.#wrong("whole", `${what} shows tool ${id} as ${card.status}, not ${status}`, seq);
    }
    if (!card.final && result !== undefined && result.content.length > 0) {
      this.#wrong("whole", `${what} lacks the result of tool ${id}`, seq);
    }
  }

  /** What was shown of a message has to begin what is kept of it. */
  #compare(id: string, message: ShownMessage): void {
    const { truth, notes } = this.#facts.world;
    if (truth.removed.has(this.#sessionId) || message.channel === "user_message_chunk") return;
    const turn = message.turnId === undefined ? undefined : this.#facts.turns.get(message.turnId);
    const row = [...truth.session(this.#sessionId).rows.values()].find(({ head }) => head.id === id);
    const kept = row?.text ?? "";
    const { text } = message;
    if (message.partial ? kept.includes(text) : kept.startsWith(text)) return;
    // What a killed process, or a full disk, did not keep is an end and not a revision.
    const cut = turn?.ended === undefined || turn.ended.end.how === "interrupted" || truth.refusals > 0;
    if (cut && (message.partial ? true : text.startsWith(kept))) return;
    if (notes.rewritten.has(id) && this.#failed(message)) return;
    this.#wrong("prefix", `${differ(text, kept)} of message ${id}`, message.seq);
  }

  /** Whether the prompt of a message's Turn failed, or nobody claims anything about it. */
  #failed(message: ShownMessage): boolean {
    const prompt = this.#facts.promptOf.get(message.turnId ?? "");
    const ending = prompt?.answered?.ending;
    return prompt?.asked.by !== this.#by || ending === undefined || !ending.ok ||
      ending.value === "cancelled";
  }
}

function differ(shown: string, kept: string): string {
  let at = 0;
  while (at < shown.length && shown[at] === kept[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 12), at + 24));
  return `${shown.length} units, not ${kept.length}: at ${at} ${around(shown)} for ${around(kept)}`;
}
