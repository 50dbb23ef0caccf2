import { AgentTurn } from "./turn.ts";
import { atMost } from "../waiting.ts";
import type { ClientServices } from "../../host/contract.ts";
import type { EngineContext, EngineOutcome, EngineSink } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { JsonObject } from "../../model/json.ts";
import type { OwnTerminals } from "./terminals.ts";
import type { UsedIds } from "./voices.ts";

/** Milliseconds of silence after which what an agent says beside prompts is over, and the same while a tool of it is open. */
const SILENCE_MS = 500;
const TOOL_MS = 60_000;
/** Updates that wait until the Run is open, above which nothing more is read of the agent. */
const WAITING = 512;
/** Updates of one Run, after which another one begins. */
const MOST = 2048;

const NO_SERVICES: ClientServices = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
};

/** What a {@linkcode LateTurn} works with. */
export interface LateParts {
  readonly context: EngineContext;
  readonly faults: Faults;
  readonly used: UsedIds;
  readonly terminals: OwnTerminals;
  /** The one before says all that it has first. */
  readonly after: Promise<void>;
  /** Called once when nothing more is taken. */
  readonly over: () => void;
}

/**
 * What an agent says while no prompt of the Session runs, as a background Run: behind an answer, or of its own accord. It is over after
 * a silence, or when the next prompt begins.
 */
export class LateTurn {
  readonly #parts: LateParts;
  /** What came before the Run was open. */
  #early: JsonObject[] = [];
  readonly #tools = new Set<string>();
  #turn: AgentTurn | undefined;
  #state: "open" | "over" = "open";
  #heardAt = performance.now();
  #taken = 0;
  #news = Promise.withResolvers<void>();
  readonly #begun = Promise.withResolvers<void>();
  readonly #done = Promise.withResolvers<void>();

  /** Opens the Run. */
  constructor(parts: LateParts) {
    this.#parts = parts;
    parts.context.beside((sink, signal) => this.#work(sink, signal)).then((runId) => {
      if (runId !== undefined) return;
      // There is no Turn that it could be shown beside.
      for (const _ of this.#early) parts.faults.count("idle");
      this.#close();
    }, () => this.#close());
  }

  /** Resolves when the Host has everything. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Takes an update that would belong to a Turn. */
  push(update: JsonObject): void {
    if (this.#state === "over") return this.#parts.faults.count("idle");
    if (this.#isOfEndedTool(update)) return this.#parts.faults.count("ended_tool");
    this.#heardAt = performance.now();
    if (this.#turn === undefined) this.#early.push(update);
    else this.#turn.push(update);
    this.#news.resolve();
    // What a Run is shown is remembered until its end.
    if (++this.#taken >= MOST) this.end();
  }

  /** Undefined while the Host keeps up. */
  room(): Promise<void> | undefined {
    if (this.#turn !== undefined) return this.#turn.room();
    return this.#early.length < WAITING ? undefined : this.#begun.promise;
  }

  /** It takes no more; what came is shown. */
  end(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#news.resolve();
    this.#parts.over();
  }

  #close(): void {
    this.end();
    this.#begun.resolve();
    this.#done.resolve();
  }

  /** Whether an update is about a tool that another Run began: its card has ended with that one. */
  #isOfEndedTool({ sessionUpdate, toolCallId }: JsonObject): boolean {
    if (typeof toolCallId !== "string") return false;
    if (sessionUpdate === "tool_call") this.#tools.add(toolCallId);
    return sessionUpdate === "tool_call_update" && !this.#tools.has(toolCallId);
  }

  async #work(sink: EngineSink, signal: AbortSignal): Promise<EngineOutcome> {
    const { faults, used, terminals } = this.#parts;
    await this.#parts.after;
    const runId = `late-${crypto.randomUUID()}`;
    const input = { parts: [] };
    const turn = new AgentTurn({
      turn: { turnId: runId, runId, input, services: () => NO_SERVICES },
      sink,
      signal,
      faults,
      used,
      terminals,
    });
    this.#turn = turn;
    for (const update of this.#early.splice(0)) turn.push(update);
    this.#begun.resolve();
    const stop = () => this.end();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await this.#silence(turn);
    this.end();
    signal.removeEventListener("abort", stop);
    await turn.drained();
    turn.close();
    this.#done.resolve();
    return { kind: "completed", stopReason: "end_turn" };
  }

  /** Resolves when it is over, or nothing came for a while. */
  async #silence(turn: AgentTurn): Promise<void> {
    while (this.#state === "open") {
      const left = this.#heardAt + (turn.tools.open ? TOOL_MS : SILENCE_MS) - performance.now();
      if (left <= 0) return;
      this.#news = Promise.withResolvers();
      await atMost(left, Promise.all([this.#news.promise, turn.drained()]));
    }
  }
}
