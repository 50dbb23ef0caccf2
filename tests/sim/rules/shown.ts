import type { Entry, Update } from "../tape.ts";
import type { Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { Settings } from "./settings.ts";
import { Stages } from "./stages.ts";
import { View } from "./view.ts";
import { questionIn } from "./answers.ts";

const ENDS: readonly string[] = ["completed", "failed"];
const CHUNKS: readonly string[] = ["agent_message_chunk", "agent_thought_chunk"];

/** Bytes of a line beside its update. */
const ENVELOPE = 256;
const LINE = 48 * 1024;

/** What editors were shown: in whose name, when, once, and as what it is. Reads the tape from its beginning to its end. */
export function shown(facts: Facts): Finding[] {
  return new Screen(facts).read();
}

interface OpenDialog {
  readonly key: string;
  readonly question: string | undefined;
  readonly turnId: string | undefined;
  readonly card: string | undefined;
  readonly method: string;
}

/** All editors' screens. */
class Screen {
  readonly #facts: Facts;
  readonly #stages: Stages;
  readonly #settings = new Settings();
  readonly #found: Finding[] = [];
  readonly #views = new Map<string, View>();
  readonly #dialogs = new Map<number, OpenDialog>();
  /** Replays that are under way, with the Turns that they leave alone. */
  readonly #replays = new Map<View, ReadonlySet<string>>();
  /** Turns that have to be there once the replay that is under way is over. */
  readonly #later = new Map<View, Set<string>>();
  /** Those whose last replay broke off: the editor was told to load again, which then shows everything. */
  readonly #broken = new Set<View>();
  /** How far a load or resume is. */
  readonly #joins = new Map<View, "bound" | "opened">();
  /** Questions that were shown, by connection, Session and attachment. */
  readonly #asked = new Set<string>();

  constructor(facts: Facts) {
    this.#facts = facts;
    this.#stages = new Stages(facts);
  }

  read(): Finding[] {
    for (const entry of this.#facts.tape.entries) {
      this.#stages.take(entry);
      this.#settings.take(entry);
      this.#take(entry);
    }
    for (const view of this.#views.values()) view.finish();
    return this.#found;
  }

  #take(entry: Entry): void {
    switch (entry.kind) {
      case "update":
        return this.#update(entry);
      case "op":
        return this.#read(entry);
      case "snapshot": {
        const view = this.#view(entry.by, entry.sessionId);
        if (this.#joins.has(view)) this.#joins.set(view, "opened");
        return;
      }
      case "answered":
        return this.#answered(entry);
      case "phase":
        return this.#phase(entry);
      case "request":
        return this.#request(entry);
      case "request_over":
        return void this.#dialogs.delete(entry.id);
      default:
    }
  }

  #update(entry: Extract<Entry, { kind: "update" }>): void {
    const { by, sessionId, update, bytes, seq } = entry;
    if (bytes > LINE - ENVELOPE) this.#wrong("line", `an update of ${bytes} units`, seq);
    const stage = this.#stages.of(by, sessionId);
    if (!stage.speakable) {
      this.#wrong("after-close", `${update.sessionUpdate} for ${sessionId}, which ${by} does not own`, seq);
    }
    const turnId = this.#turnOf(update);
    if (turnId !== undefined) {
      const why = stage.refusal(turnId, seq);
      if (why !== undefined) this.#wrong("belongs", `${update.sessionUpdate} of Turn ${turnId} ${why}`, seq);
      if (stage.fenced(turnId) && !closing(update)) {
        this.#wrong("fence", `${update.sessionUpdate} of Turn ${turnId} behind its fence`, seq);
      }
    }
    const view = this.#view(by, sessionId);
    view.take(entry, turnId);
    if (update.sessionUpdate !== "tool_call_update") return;
    for (const { key, card } of this.#dialogs.values()) {
      if (key === `${by} ${sessionId}` && card === update.toolCallId && card !== undefined) {
        this.#wrong("dialog-card", `card ${card} is touched while its dialog is open`, seq);
      }
    }
  }

  #request(entry: Extract<Entry, { kind: "request" }>): void {
    const { by, id, method, params, seq } = entry;
    const sessionId = String(params.sessionId);
    const key = `${by} ${sessionId}`;
    const stage = this.#stages.of(by, sessionId);
    if (method.startsWith("fs/") || method.startsWith("terminal/")) {
      if (!stage.speakable && !["terminal/kill", "terminal/release"].includes(method)) {
        this.#wrong("after-close", `${method} for ${sessionId}, which ${by} does not own`, seq);
      }
      return;
    }
    const question = questionIn(entry);
    const turnId = question === undefined ? undefined : this.#facts.turnOf(question);
    const tool = (params.toolCall as { toolCallId?: string } | undefined)?.toolCallId ?? params.toolCallId;
    const card = typeof tool === "string" ? tool : undefined;
    this.#dialogs.set(id, { key, question, turnId, card, method });
    if (question === undefined || turnId === undefined) {
      return this.#wrong("dialog", `${method} asks nothing that is known`, seq);
    }
    if (!stage.speakable) {
      this.#wrong("after-close", `a dialog for ${sessionId}, which ${by} does not own`, seq);
    }
    const why = stage.refusal(turnId, seq);
    if (why !== undefined) this.#wrong("belongs", `a dialog of Turn ${turnId} ${why}`, seq);
    if (stage.fenced(turnId)) this.#wrong("fence", `a dialog of Turn ${turnId} behind its fence`, seq);
    const once = `${key} ${stage.attachment} ${question}`;
    if (this.#asked.has(once)) this.#wrong("dialog-once", `question ${question} is shown twice`, seq);
    this.#asked.add(once);
    if (card !== undefined && !stage.resumed && this.#view(by, sessionId).cards.get(card) === undefined) {
      this.#wrong("dialog-card", `the card ${card} of a dialog was not shown before`, seq);
    }
  }

  #answered(entry: Extract<Entry, { kind: "answered" }>): void {
    const ask = this.#facts.asks.find(({ asked }) => asked.id === entry.id)!;
    const { wish, by, sessionId } = ask.asked;
    const view = this.#view(by, sessionId);
    // A load may have begun anew what is just closed or removed.
    const anew = this.#replays.has(view) || this.#stages.of(by, sessionId).joinedAt > ask.asked.seq;
    if ((wish === "close" || wish === "remove") && !anew) {
      view.clear();
      this.#broken.delete(view);
    }
    if (wish === "load" || wish === "resume") this.#joins.delete(view);
    if (wish === "load") {
      const left = this.#replays.get(view) ?? new Set();
      if (this.#replays.delete(view)) this.#broken.add(view);
      if (entry.ending.ok) {
        this.#broken.delete(view);
        view.judgeLoad(ask.asked.seq, entry.seq, left);
        for (const turnId of this.#later.get(view) ?? []) view.judgeEnded(turnId, entry.seq);
      }
      this.#later.delete(view);
    }
    if (wish !== "prompt" || sessionId === "nobody") return;
    const prompt = this.#facts.prompts.find(({ asked }) => asked.id === entry.id)!;
    for (const { op } of prompt.starts) {
      const turnId = String(op.detail.turnId);
      for (const dialog of this.#dialogs.values()) {
        if (dialog.turnId === turnId && dialog.key === `${by} ${sessionId}`) {
          this.#wrong(
            "dialog-over",
            `question ${dialog.question} is open when its prompt is answered`,
            entry.seq,
          );
        }
      }
      view.judgeAnswer(prompt, turnId, entry);
    }
    const start = prompt.starts.at(-1);
    if (!entry.ending.ok || entry.ending.value === "cancelled" || start === undefined) return;
    // What ended in the step in which it started may have come too late for it.
    const began = this.#facts.tape.entries.find(({ step }) => step === start.op.step)?.seq ?? start.op.seq;
    for (const turnId of this.#stages.of(by, sessionId).elsewhere(began)) {
      if (this.#facts.promptOf.get(turnId)?.asked.by === by) continue;
      if (this.#broken.has(view)) continue;
      if (!this.#replays.has(view)) view.judgeEnded(turnId, entry.seq);
      else this.#later.set(view, (this.#later.get(view) ?? new Set()).add(turnId));
    }
  }

  /** Before everything is closed, what runs beside prompts has come to its end. */
  #phase({ what, seq }: Extract<Entry, { kind: "phase" }>): void {
    if (what !== "quiet") return;
    for (const [by, sessionId, stage] of this.#stages.all) {
      if (!stage.open || !stage.observed) continue;
      for (const what of this.#settings.wrong(by, sessionId)) this.#wrong("settings", what, seq);
      if (!stage.resumed) {
        for (const turnId of stage.shownToTheEnd) this.#view(by, sessionId).judgeEnded(turnId, seq);
      }
    }
  }

  /** The replay of a load begins with the first row that there is. Loads of one Session follow one another. */
  #read(entry: Extract<Entry, { kind: "op" }>): void {
    const { by, sessionId, name, detail } = entry;
    const view = this.#view(by, sessionId);
    if (name === "bind") this.#joins.set(view, "bound");
    if (name !== "read" || detail.turnId !== "*" || detail.after !== 0) return;
    // What others did is read like this too, but not on a Subscription that a load opened.
    if (this.#joins.get(view) !== "opened" || !this.#stages.of(by, sessionId).loading) return;
    if (this.#replays.has(view)) return;
    const left = new Set([...this.#joined(entry, "shown"), ...this.#prompted(entry, "shown")]);
    const perhaps = [...this.#joined(entry, "perhaps"), ...this.#prompted(entry, "perhaps")];
    this.#replays.set(view, new Set([...left, ...perhaps]));
    view.reload(left, perhaps);
  }

  /** Turns of prompts that are not answered: a load leaves them as they are. Those that just are perhaps as well. */
  #prompted(read: Extract<Entry, { kind: "op" }>, how: "shown" | "perhaps"): string[] {
    return this.#facts.prompts.filter(({ asked, answered }) =>
      asked.by === read.by && asked.sessionId === read.sessionId &&
      (how === "shown" ? (answered?.step ?? Infinity) > read.step : answered?.step === read.step)
    ).flatMap(({ starts }) => starts.map(({ op }) => String(op.detail.turnId)));
  }

  /** Turns that are on show without a prompt. */
  #joined({ by, sessionId }: Extract<Entry, { kind: "op" }>, how: "shown" | "perhaps"): string[] {
    const stage = this.#stages.of(by, sessionId);
    return [...this.#facts.turns.values()].filter((turn) =>
      turn.sessionId === sessionId && stage.joined(turn.turnId) === how
    ).map((turn) => turn.turnId);
  }

  #turnOf(update: Update): string | undefined {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.#facts.turnOf(String(update.messageId));
      case "user_message_chunk":
        return String(update.messageId);
      case "tool_call":
      case "tool_call_update":
        return this.#facts.turnOf(String(update.toolCallId));
      case "plan": {
        const first = (update.entries as { content: string }[])[0]?.content.split(" ")[0];
        return first === undefined ? undefined : this.#facts.turnOf(first);
      }
      case "notice":
        return this.#facts.turnOf(String(update.title).split(" ")[0]!);
      default:
        return undefined;
    }
  }

  #view(by: string, sessionId: string): View {
    const key = `${by} ${sessionId}`;
    let view = this.#views.get(key);
    if (view === undefined) {
      view = new View(
        by,
        sessionId,
        this.#facts,
        this.#stages,
        (rule, what, seq) => this.#wrong(rule, what, seq),
      );
      this.#views.set(key, view);
    }
    return view;
  }

  #wrong(rule: string, what: string, seq: number): void {
    this.#found.push({ rule, what, seq });
  }
}

/** Whether an update does no more than end a card, or say how the plan stood. */
function closing(update: Update): boolean {
  if (CHUNKS.includes(update.sessionUpdate)) return false;
  const card = ["tool_call", "tool_call_update"].includes(update.sessionUpdate);
  return update.sessionUpdate === "plan" || (card && ENDS.includes(String(update.status)));
}
