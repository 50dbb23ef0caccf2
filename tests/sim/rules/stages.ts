import type { Entry } from "../tape.ts";
import { type Facts, nothingStarted, type PromptFacts } from "./facts.ts";

/** What one connection does with one Session at the present place of the tape. */
export class Stage {
  /** Whether the editor was told that it has the Session, and not yet that it is closed. */
  open = false;
  /** Loads and resumes, and closes, that are not answered. */
  readonly joining: Map<number, Extract<Entry, { kind: "asked" }>> = new Map();
  closing = 0;
  /** Prompts that are not answered, in order. */
  readonly prompts: PromptFacts[] = [];
  /** Turns that the Host knows this connection to show. */
  readonly presented: Set<string> = new Set();
  /** Turns that this connection sent a Stop for. */
  readonly stopped: Set<string> = new Set();
  /** When it was resumed last: what was said before, the editor has from elsewhere. */
  resumedAt: number = -1;
  /** Whether it has a Subscription: where none could be had in time, it does not go on trying. */
  observed = false;
  /** Counts what was closed: after a close everything begins anew. */
  attachment = 0;
  readonly #facts: Facts;
  /** Turns that this connection shows by a load or resume, or because it shows their parents. */
  readonly #joined = new Set<string>();
  readonly #fences = new Set<string>();
  /** Turns that a snapshot lacks: they have ended, also where their ends could not be saved. */
  readonly #gone = new Set<string>();
  /** Turns that were seen to end, and when. */
  readonly #ended = new Map<string, number>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Whether anything about the Session may be said. */
  get speakable(): boolean {
    return this.open || this.closing > 0 || this.joining.size > 0;
  }

  /** Loads that are under way. */
  get loads(): number {
    return [...this.joining.values()].filter(({ wish }) => wish === "load").length;
  }

  /** When the last load or resume that succeeded was asked for. */
  joinedAt: number = -1;

  get loading(): boolean {
    return this.loads > 0;
  }

  /** Whether the Client stopped the Turn. The fence is lifted by its end, or by the answer of its prompt. */
  fenced(turnId: string): boolean {
    if (!this.#fences.has(turnId) || this.loading) return false;
    return !this.#ended.has(turnId) || this.#running(turnId);
  }

  /** Whether a Turn without a prompt is shown. After its end was seen it may be, until the end was shown. */
  joined(turnId: string): "shown" | "perhaps" | "no" {
    if (!this.#joined.has(turnId)) return "no";
    const over = this.#ended.has(turnId) || this.#gone.has(turnId) || this.#fences.has(turnId) ||
      this.stopped.has(turnId);
    return over ? "perhaps" : "shown";
  }

  /** Turns that are shown without a prompt. */
  get shown(): readonly string[] {
    return [...this.#joined];
  }

  /** A snapshot lacks Turns that were there. */
  lacks(turnIds: Iterable<string>): void {
    for (const turnId of turnIds) this.#gone.add(turnId);
  }

  /** This connection learns that a Turn ended. */
  sawEnd(turnId: string, seq: number): void {
    if (!this.#ended.has(turnId)) this.#ended.set(turnId, seq);
  }

  /** Turns of others that were seen to end before some place: a prompt that begins later shows them first. */
  elsewhere(before: number): string[] {
    return [...this.#ended].filter(([turnId, seq]) =>
      seq < before && seq > this.resumedAt && !this.presented.has(turnId)
    ).map(([turnId]) => turnId);
  }

  /** Turns that were shown without a prompt, to their ends. Of one that its Host left more may have been shown than was kept. */
  get shownToTheEnd(): string[] {
    return [...this.#ended.keys()].filter((turnId) =>
      this.#joined.has(turnId) && !this.#fences.has(turnId) && !this.stopped.has(turnId) &&
      this.#facts.turns.get(turnId)?.ended?.end.how !== "interrupted"
    );
  }

  /** Shows Turns from now on. */
  join(turnIds: Iterable<string>): void {
    for (const turnId of turnIds) this.#joined.add(turnId);
  }

  get resumed(): boolean {
    return this.resumedAt >= 0;
  }

  /** Raises the fence over Turns. */
  fence(turnIds: Iterable<string>): void {
    for (const turnId of turnIds) this.#fences.add(turnId);
  }

  /** Everything that was shown and fenced is over. */
  end(): void {
    this.open = false;
    this.attachment++;
    this.#joined.clear();
    this.#fences.clear();
    this.presented.clear();
    this.resumedAt = -1;
    this.#ended.clear();
  }

  /** Why nothing of a Turn may be shown now; undefined where it may. */
  refusal(turnId: string, seq: number): string | undefined {
    const turn = this.#facts.turns.get(turnId);
    if (this.loading || this.#joined.has(turnId)) return undefined;
    if (this.#running(turnId)) return undefined;
    // What others did is shown before a prompt is started, and before each further attempt.
    const before = this.prompts.some(({ starts }) =>
      starts.every((start) => start.op.seq > seq || nothingStarted(start, seq))
    );
    const ended = this.#ended.has(turnId) || this.#gone.has(turnId) ||
      (turn?.ended?.entry.seq ?? Infinity) < seq;
    if (before && ended) return undefined;
    const prompt = this.#facts.promptOf.get(turnId);
    if (prompt?.answered !== undefined && prompt.answered.seq < seq) return "after its prompt was answered";
    return "belongs to nothing that is shown here";
  }

  /** Whether a prompt of this Turn is not answered. */
  #running(turnId: string): boolean {
    return this.prompts.some(({ starts }) => starts.some(({ op }) => op.detail.turnId === turnId));
  }
}

/** Who owns what and waits for what, as the tape goes on. */
export class Stages {
  readonly #facts: Facts;
  readonly #stages = new Map<string, Stage>();
  /** Queries and adoptions. */
  readonly #ops = new Map<number, Extract<Entry, { kind: "op" }>>();
  readonly #asks: ReadonlyMap<number, Extract<Entry, { kind: "asked" }>>;
  readonly #prompts: ReadonlyMap<number, PromptFacts>;

  constructor(facts: Facts) {
    this.#facts = facts;
    this.#asks = new Map(facts.asks.map(({ asked }) => [asked.id, asked]));
    this.#prompts = new Map(facts.prompts.map((prompt) => [prompt.asked.id, prompt]));
  }

  of(by: string, sessionId: string): Stage {
    const key = `${by} ${sessionId}`;
    let stage = this.#stages.get(key);
    if (stage === undefined) this.#stages.set(key, stage = new Stage(this.#facts));
    return stage;
  }

  /** All there are. */
  get all(): readonly (readonly [by: string, sessionId: string, stage: Stage])[] {
    return [...this.#stages].map(([key, stage]) => {
      const [by = "", sessionId = ""] = key.split(" ");
      return [by, sessionId, stage];
    });
  }

  /** Takes the next entry. */
  take(entry: Entry): void {
    switch (entry.kind) {
      case "asked":
        return this.#asked(entry);
      case "answered":
        return this.#answered(entry);
      case "cancel":
        return this.#cancel(this.of(entry.by, entry.sessionId), entry.seq);
      case "withdraw": {
        const prompt = this.#prompts.get(entry.id);
        if (prompt !== undefined) {
          this.of(entry.by, prompt.asked.sessionId).fence(startsOf(prompt, entry.seq));
        }
        return;
      }
      case "snapshot":
        this.of(entry.by, entry.sessionId).observed = true;
        this.of(entry.by, entry.sessionId).lacks(
          this.#live(entry.sessionId, -1, entry.seq).filter((turnId) =>
            !entry.snapshot.runs.some(({ run }) => run.turnId === turnId)
          ),
        );
        for (const live of entry.snapshot.runs) this.#present(entry, live);
        return;
      case "frame":
        if (entry.frame.type === "run") this.#present(entry, entry.frame.live);
        if (entry.frame.type === "run_ended") {
          this.of(entry.by, entry.sessionId).sawEnd(entry.frame.run.turnId, entry.seq);
        }
        return;
      case "op_over":
        return this.#told(entry);
      case "op":
        if (entry.name === "closeSubscription") this.of(entry.by, entry.sessionId).observed = false;
        if (entry.name === "stop") {
          this.of(entry.by, entry.sessionId).stopped.add(String(entry.detail.turnId));
        }
        if (entry.name === "query" || entry.name === "adopt") this.#ops.set(entry.id, entry);
        return;
      default:
    }
  }

  #told({ id, outcome, value, seq }: Extract<Entry, { kind: "op_over" }>): void {
    const op = this.#ops.get(id);
    if (op === undefined || outcome !== "done") return;
    const stage = this.of(op.by, op.sessionId);
    if (op.name === "adopt") stage.presented.add(String(op.detail.turnId));
    else if (value.kind === "ended") stage.sawEnd(String(value.turnId), seq);
  }

  #asked(entry: Extract<Entry, { kind: "asked" }>): void {
    const { by, sessionId, wish, seq } = entry;
    const stage = this.of(by, sessionId);
    switch (wish) {
      case "load":
      case "resume":
        stage.joining.set(entry.id, entry);
        return;
      case "prompt":
        if (this.#prompts.has(entry.id)) stage.prompts.push(this.#prompts.get(entry.id)!);
        return;
      case "close":
      case "remove":
        stage.closing++;
        this.#cancel(stage, seq);
        stage.fence(this.#live(sessionId, seq, Infinity));
        return;
      case "shutdown":
        for (const [key, each] of this.#stages) if (key.startsWith(`${by} `)) each.closing++;
        return;
      default:
    }
  }

  #answered(entry: Extract<Entry, { kind: "answered" }>): void {
    const { by, sessionId, wish, seq: asked } = this.#asks.get(entry.id)!;
    const stage = this.of(by, sessionId);
    switch (wish) {
      case "create":
        if (entry.ending.ok) this.of(by, entry.ending.value).open = true;
        return;
      case "load":
      case "resume":
        stage.joining.delete(entry.id);
        if (!entry.ending.ok) return;
        // What is being removed may be there all the same, and begins anew.
        if (stage.closing > 0) stage.end();
        stage.open = true;
        stage.joinedAt = asked;
        stage.join(this.#live(sessionId, asked, entry.seq).filter((turnId) => stage.presented.has(turnId)));
        if (wish === "resume") stage.resumedAt = entry.seq;
        return;
      case "prompt":
        if (this.#prompts.has(entry.id)) {
          stage.prompts.splice(stage.prompts.indexOf(this.#prompts.get(entry.id)!), 1);
        }
        return;
      case "close":
      case "remove":
        stage.closing--;
        // A load that came meanwhile has begun anew already.
        if (wish === "close" || stage.joinedAt < asked) stage.end();
        return;
      case "shutdown":
        for (const [key, each] of this.#stages) {
          if (!key.startsWith(`${by} `)) continue;
          each.closing = 0;
          each.joining.clear();
          each.end();
        }
        return;
      default:
    }
  }

  #cancel(stage: Stage, seq: number): void {
    for (const prompt of stage.prompts) stage.fence(startsOf(prompt, seq));
    stage.fence(stage.shown.filter((turnId) => this.#facts.turns.get(turnId)?.foreground === true));
  }

  /** A background Run that this connection shows. */
  #present(
    { by, sessionId }: { readonly by: string; readonly sessionId: string },
    live: {
      readonly run: { readonly turnId: string };
      readonly foreground: boolean;
      readonly presenter?: string;
    },
  ): void {
    if (live.presenter !== by) return;
    this.of(by, sessionId).presented.add(live.run.turnId);
    if (!live.foreground) this.of(by, sessionId).join([live.run.turnId]);
  }

  /** Turns of a Session that were live at some place between two. */
  #live(sessionId: string, from: number, to: number): string[] {
    return [...this.#facts.turns.values()].filter((turn) =>
      turn.sessionId === sessionId && turn.admitted.seq < to && (turn.ended?.entry.seq ?? Infinity) > from
    ).map((turn) => turn.turnId);
  }
}

function startsOf(prompt: PromptFacts, until: number): string[] {
  return prompt.starts.filter(({ op }) => op.seq < until).map(({ op }) => String(op.detail.turnId));
}
