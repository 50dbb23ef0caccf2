import type { TurnRecord } from "../../../src/host/store/contract.ts";
import type { Origin, RunEnd } from "../../../src/model/run.ts";
import type { Ending, Entry, Tape } from "../tape.ts";
import type { World } from "../world.ts";

type Of<K extends Entry["kind"]> = Extract<Entry, { kind: K }>;

/** A request of an editor, and how it was answered. */
export interface AskFacts {
  readonly asked: Of<"asked">;
  answered?: Of<"answered">;
}

/** A prompt with everything that was done for it and against it. */
export interface PromptFacts extends AskFacts {
  readonly starts: OpFacts[];
  /** The Client's own cancels while it was not answered: on the Session, of the request, by a close. */
  readonly cancels: Entry[];
}

/** An operation of a connection on the Host, and what came back. */
export interface OpFacts {
  readonly op: Of<"op">;
  over?: Of<"op_over">;
}

/** What the Host recorded of a Turn. */
export interface TurnFacts {
  readonly turnId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly foreground: boolean;
  readonly origin: Origin;
  readonly admitted: Of<"turn">;
  ended?: { readonly entry: Of<"turn">; readonly end: RunEnd; readonly through: number };
}

/** What a tape tells, put in order once for all rules. */
export class Facts {
  readonly world: World;
  readonly asks: AskFacts[] = [];
  readonly prompts: PromptFacts[] = [];
  readonly ops: OpFacts[] = [];
  readonly turns: Map<string, TurnFacts> = new Map();
  /** The prompt that a Turn was started for, by turnId. */
  readonly promptOf: Map<string, PromptFacts> = new Map();
  /** Turns by the token that their Engine's ids begin with. */
  readonly #tokens = new Map<string, string>();
  readonly #adopting = new Map<string, string[]>();

  constructor(world: World) {
    this.world = world;
    const asks = new Map<number, AskFacts>();
    const ops = new Map<number, OpFacts>();
    for (const entry of world.tape.entries) this.#take(entry, asks, ops);
    for (const prompt of this.prompts) prompt.cancels.push(...this.#cancelsOf(prompt));
  }

  get tape(): Tape {
    return this.world.tape;
  }

  /** The Turn that an id of an update, a message or a tool belongs to. */
  turnOf(id: string): string | undefined {
    const shown = /^(.*)\.(?:notice\.\d+|end)$/.exec(id)?.[1];
    if (shown !== undefined) return shown;
    return this.#tokens.get(id) ?? this.#tokens.get(id.slice(0, id.lastIndexOf(".")));
  }

  /** How an answered request ended. */
  ending(ask: AskFacts): Ending | undefined {
    return ask.answered?.ending;
  }

  #take(entry: Entry, asks: Map<number, AskFacts>, ops: Map<number, OpFacts>): void {
    switch (entry.kind) {
      case "asked": {
        const prompt = entry.wish === "prompt" && entry.sessionId !== "nobody";
        const ask: PromptFacts = { asked: entry, starts: [], cancels: [] };
        asks.set(entry.id, ask);
        this.asks.push(ask);
        if (prompt) this.prompts.push(ask);
        return;
      }
      case "answered":
        asks.get(entry.id)!.answered = entry;
        return;
      case "op": {
        const facts: OpFacts = { op: entry };
        ops.set(entry.id, facts);
        this.ops.push(facts);
        if (entry.name === "start") this.#start(facts);
        return;
      }
      case "op_over":
        ops.get(entry.id)!.over = entry;
        return;
      case "turn":
        return this.#turn(entry, entry.record);
      case "snapshot":
        for (const each of entry.snapshot.interactions) this.#tokens.set(each.interactionId, each.run.turnId);
        return;
      case "frame": {
        // A question that is about no tool may have a card of its own.
        if (entry.frame.type !== "interaction_opened") return;
        const { interactionId, run } = entry.frame.interaction;
        this.#tokens.set(interactionId, run.turnId);
        return;
      }
      case "engine":
        if (entry.what === "begins") this.#begins(entry.run);
        return;
      default:
    }
  }

  #start(facts: OpFacts): void {
    const { by, detail: { turnId, prompt: token } } = facts.op;
    const prompt = this.prompts.find(({ asked }) => asked.by === by && asked.prompt === token);
    if (prompt === undefined) return;
    prompt.starts.push(facts);
    this.promptOf.set(String(turnId), prompt);
  }

  #turn(entry: Of<"turn">, record: TurnRecord): void {
    if (record.state === "tombstone") return;
    const { run: { turnId, runId }, foreground, origin } = record;
    const facts = this.turns.get(turnId);
    if (facts === undefined) {
      const { sessionId } = entry;
      this.turns.set(turnId, { turnId, runId, sessionId, foreground, origin, admitted: entry });
      if (origin.kind === "connection") this.#tokens.set(turnId, turnId);
      else {
        const parent = origin.parent.turnId;
        this.#adopting.set(parent, [...this.#adopting.get(parent) ?? [], turnId]);
      }
    }
    const ended = record.state === "ended" ? record : undefined;
    if (ended !== undefined) {
      this.turns.get(turnId)!.ended ??= { entry, end: ended.end, through: ended.through };
    }
  }

  /** Background Runs of one parent begin in the order in which they were admitted. */
  #begins(token: string): void {
    const parent = this.#tokens.get(token.slice(0, token.lastIndexOf(".")));
    const turnId = parent === undefined ? undefined : this.#adopting.get(parent)?.shift();
    if (turnId !== undefined) this.#tokens.set(token, turnId);
  }

  #cancelsOf({ asked, answered }: PromptFacts): Entry[] {
    const until = answered?.seq ?? Infinity;
    const mine = (entry: { readonly by: string; readonly sessionId: string }) =>
      entry.by === asked.by && entry.sessionId === asked.sessionId;
    return this.tape.entries.slice(asked.seq, until === Infinity ? undefined : until).filter((entry) => {
      switch (entry.kind) {
        case "cancel":
          return mine(entry);
        case "withdraw":
          return entry.id === asked.id;
        case "asked":
          return (["close", "remove"].includes(entry.wish) && mine(entry)) ||
            (entry.wish === "shutdown" && entry.by === asked.by);
        default:
          return false;
      }
    });
  }
}

/** Whether a start is known to have come to nothing before that moment. */
export function nothingStarted({ over }: OpFacts, until: number): boolean {
  if (over === undefined || over.seq > until) return false;
  return over.outcome.startsWith("not_sent") || (over.outcome === "done" && over.value.kind === "busy");
}
