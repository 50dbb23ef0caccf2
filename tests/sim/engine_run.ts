import type { EngineOutcome, EngineSink } from "../../src/engine/contract.ts";
import type { Json } from "../../src/model/json.ts";
import type { StopReason } from "../../src/model/run.ts";
import type { ToolResult } from "../../src/model/tool.ts";
import { inputOf, questionOf, resultOf } from "./engine_props.ts";
import type { Random } from "./random.ts";
import type { Domain } from "./sim_clock.ts";
import { piecesOf, wordsOf } from "./words.ts";

/** What the Engines of a simulation did that a judge has to know, because the transcript does not tell it. */
export class EngineNotes {
  /** Messages that were taken back. */
  readonly rewritten: Set<string> = new Set<string>();
  /** Messages that another one took over from. */
  readonly superseded: Set<string> = new Set<string>();
  /** Set when everything is to come to its end: nobody waits for ever any more. */
  calm = false;
  /** Puts a line on the tape. */
  note: (run: string, what: string) => void = () => {};
}

/** How wild Engines are. */
export interface EngineHabits {
  readonly steps: number;
  /** Units of a message at most. */
  readonly words: number;
  /** Relative frequency of taking shown text back. */
  readonly rewrites: number;
  /** Probability that a Run is deaf to a stop, and that one speaks after its end. */
  readonly deaf: number;
  readonly lateWords: number;
  /** Probability that a Run never ends by itself. */
  readonly endless: number;
}

/** What an {@linkcode EngineRun} works with. */
export interface RunParts {
  readonly clock: Domain;
  readonly random: Random;
  readonly notes: EngineNotes;
  readonly habits: EngineHabits;
}

/** The Run was stopped, and its Engine does what it is told. */
class Stopped extends Error {}

/** One Run of a random Engine. Every id that it uses begins with its token, so that whatever appears anywhere says where it is from. */
export class EngineRun {
  readonly #token: string;
  readonly #sink: EngineSink;
  readonly #signal: AbortSignal;
  readonly #parts: RunParts;
  readonly #random: Random;
  readonly #manner: "obeys" | "dawdles" | "deaf";
  readonly #tasks: Promise<void>[] = [];
  #count = 0;

  constructor(token: string, sink: EngineSink, signal: AbortSignal, parts: RunParts) {
    this.#token = token;
    this.#sink = sink;
    this.#signal = signal;
    this.#parts = parts;
    this.#random = parts.random.fork(token);
    const { deaf } = parts.habits;
    this.#manner = this.#random.weighted([[1 - deaf, "obeys"], [deaf, "dawdles"], [deaf / 2, "deaf"]]);
  }

  /** Does the whole Run. */
  async perform(): Promise<EngineOutcome> {
    const { habits, notes, clock } = this.#parts;
    const random = this.#random;
    try {
      for (let left = random.between(0, habits.steps); left > 0; left--) {
        await this.#step();
        if (random.chance(0.4)) await this.#pause(random.pause());
      }
      if (random.chance(habits.endless)) {
        while (!notes.calm) await this.#pause(1000);
      }
      if (random.chance(0.8)) await Promise.all(this.#tasks);
      return this.#outcome();
    } catch (error) {
      if (this.#manner === "dawdles") await clock.sleep(random.between(0, 700));
      throw error;
    } finally {
      notes.note(this.#token, "returns");
      if (random.chance(habits.lateWords)) void this.#speakOn();
    }
  }

  async #step(): Promise<void> {
    const { habits } = this.#parts;
    const act = this.#random.weighted<() => Promise<unknown>>([
      [34, () => this.#say("text")],
      [8, () => this.#say("thinking")],
      [18, () => this.#beside(() => this.#tool())],
      [7, () => this.#ask()],
      [2, () => this.#beside(() => this.#ask())],
      [5, () => this.#plan()],
      [4, () => this.#call()],
      [
        3,
        () =>
          this.#sink.notice(
            "info",
            `${this.#id("n")} happened`,
            this.#random.chance(0.5) ? "why" : undefined,
          ),
      ],
      [2, () => this.#sink.usage({ used: this.#random.between(0, 900), size: 1000 })],
      [3, () => this.#background()],
      [3, () => this.#burst()],
      [habits.rewrites, () => this.#rewrite()],
      [3, () => this.#supersede()],
    ]);
    await act();
  }

  async #say(channel: "text" | "thinking"): Promise<void> {
    const id = this.#id("m");
    const text = wordsOf(this.#random, id, this.#random.chance(0.1) ? this.#parts.habits.words : 300) +
      (this.#random.chance(0.05) ? "\ud83d" : "");
    for (const piece of piecesOf(this.#random, text, 8)) {
      await this.#told(this.#sink.message(id, channel, piece));
      if (this.#random.chance(0.3)) await this.#pause(this.#random.pause());
    }
    if (this.#random.chance(0.7)) await this.#told(this.#sink.messageComplete(id));
    if (this.#random.chance(0.04)) await this.#told(this.#sink.message(id, channel, "more after the end"));
  }

  async #burst(): Promise<void> {
    const id = this.#id("m");
    for (let count = this.#random.between(50, 150); count > 0; count--) {
      await this.#told(this.#sink.message(id, "text", `${id}#${count} `));
    }
  }

  async #rewrite(): Promise<void> {
    const id = this.#id("m");
    await this.#told(this.#sink.message(id, "text", `${id} first `));
    await this.#pause(this.#random.pause());
    this.#parts.notes.rewritten.add(id);
    await this.#told(this.#sink.messageReset(id));
    await this.#pause(this.#random.pause());
    await this.#told(this.#sink.message(id, "text", `${id} second `));
    await this.#told(this.#sink.messageComplete(id));
  }

  async #supersede(): Promise<void> {
    const [id, by] = [this.#id("m"), this.#id("m")];
    await this.#told(this.#sink.message(id, "text", `${id} begun `));
    await this.#pause(this.#random.pause());
    this.#parts.notes.superseded.add(id);
    await this.#told(this.#sink.messageSuperseded(id, by));
    await this.#told(this.#sink.message(by, "text", `${by} goes on`));
  }

  async #tool(toolCallId: string = this.#id("t")): Promise<void> {
    const random = this.#random.fork(toolCallId);
    const sink = this.#sink;
    const sensitive = random.chance(0.1);
    if (random.chance(0.9)) {
      await this.#told(sink.toolStart(toolCallId, inputOf(random, toolCallId, sensitive)));
    }
    if (random.chance(0.5)) await this.#pause(random.pause());
    if (random.chance(0.7)) {
      await this.#told(
        sink.toolInput(toolCallId, { ...inputOf(random, toolCallId, sensitive), complete: true }),
      );
    }
    const chatty = random.chance(0.06);
    for (let left = chatty ? 200 : random.between(0, 6); left > 0; left--) {
      await this.#told(
        random.chance(0.2)
          ? sink.toolProgress(toolCallId, `progress:${toolCallId}:${left}`)
          : sink.toolOutput(toolCallId, random.pick(["stdout", "stderr"]), `output:${toolCallId}:${left}\n`),
      );
      if (!chatty && random.chance(0.5)) await this.#pause(random.pause());
    }
    if (random.chance(0.1)) return;
    const result: ToolResult = resultOf(random, toolCallId, this.#parts.habits.words);
    await this.#told(sink.toolResult(toolCallId, result));
    if (random.chance(0.05)) await this.#told(sink.toolOutput(toolCallId, "stdout", "after the end"));
    if (random.chance(0.05)) await this.#told(sink.toolResult(toolCallId, { ...result, status: "failed" }));
  }

  async #ask(): Promise<void> {
    const toolCallId = this.#random.chance(0.6) ? this.#id("t") : undefined;
    if (toolCallId !== undefined) {
      const input = { ...inputOf(this.#random, toolCallId, false), complete: true };
      await this.#told(this.#sink.toolStart(toolCallId, input));
    }
    const id = this.#id("q");
    const question = questionOf(this.#random, id, toolCallId);
    if (toolCallId !== undefined && this.#random.chance(0.4)) this.#beside(() => this.#tool(toolCallId));
    try {
      const answer = await this.#sink.ask(question);
      this.#parts.notes.note(this.#token, `was answered ${id} ${JSON.stringify(answer)}`);
    } catch (error) {
      this.#heed(error);
    }
    if (toolCallId !== undefined) await this.#tool(toolCallId);
  }

  async #plan(): Promise<void> {
    const id = this.#id("p");
    const entries = Array.from({ length: this.#random.between(0, 4) }, (_, at) => ({
      content: `${id} step ${at}`,
      priority: "medium" as const,
      status: this.#random.pick(["pending", "in_progress", "completed"] as const),
    }));
    await this.#told(this.#sink.plan(entries));
  }

  async #call(): Promise<void> {
    const call = async (method: string, params: { readonly [name: string]: Json }): Promise<Json> => {
      try {
        return await this.#sink.call(method, { ...params, token: this.#token });
      } catch (error) {
        this.#heed(error);
        return null;
      }
    };
    if (this.#random.chance(0.5)) {
      await call(this.#random.pick(["fs/read_text_file", "fs/write_text_file"]), {
        path: "/w/a",
        content: "",
      });
      return;
    }
    const made = await call("terminal/create", { command: "make" });
    if (typeof made !== "object" || made === null || !("terminalId" in made)) return;
    const terminalId = made.terminalId;
    for (const method of ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]) {
      if (this.#random.chance(0.75)) await call(method, { terminalId: terminalId ?? null });
    }
  }

  async #background(): Promise<void> {
    const token = this.#id("b");
    const begun = this.#sink.background((sink, signal) => {
      this.#parts.notes.note(token, "begins");
      const habits = { ...this.#parts.habits, steps: 4 };
      return new EngineRun(token, sink, signal, { ...this.#parts, habits }).perform();
    });
    try {
      await begun;
    } catch (error) {
      this.#heed(error);
    }
  }

  /** What an Engine should not do: it speaks when its Run has ended. */
  async #speakOn(): Promise<void> {
    for (let left = this.#random.between(1, 5); left > 0; left--) {
      await this.#parts.clock.sleep(this.#random.pause());
      const id = this.#random.chance(0.5) ? this.#id("m") : `${this.#token}.m1`;
      void this.#sink.message(id, "text", `${id} after the end`);
      void this.#sink.toolOutput(`${this.#token}.t1`, "stdout", "after the end");
      void this.#sink.ask(questionOf(this.#random, this.#id("q"), undefined)).catch(() => {});
    }
  }

  #outcome(): EngineOutcome {
    const reasons: readonly StopReason[] = ["max_tokens", "max_turn_requests", "refusal"];
    const message = `${this.#token} failed`;
    return this.#random.weighted<() => EngineOutcome>([
      [80, () => ({ kind: "completed", stopReason: "end_turn" })],
      [8, () => ({ kind: "completed", stopReason: this.#random.pick(reasons) })],
      [6, () => ({ kind: "failed", failure: { class: "engine", message } })],
      [1, () => ({ kind: "failed", failure: { class: "authentication", message } })],
      [3, () => {
        throw new Error(message);
      }],
    ])();
  }

  /** Does it while the Run goes on. */
  #beside(act: () => Promise<void>): Promise<void> {
    const task = act();
    task.catch(() => {});
    this.#tasks.push(task);
    return Promise.resolve();
  }

  /** Waits for the sink, as a good Engine does, most of the time. */
  async #told(taken: Promise<void>): Promise<void> {
    if (this.#random.chance(0.9)) await taken;
    if (this.#signal.aborted && this.#manner === "obeys") throw new Stopped();
  }

  async #pause(ms: number): Promise<void> {
    if (this.#manner === "deaf") return await this.#parts.clock.sleep(ms);
    await this.#parts.clock.sleep(ms, this.#signal);
  }

  /** A failed wait: stopped Runs of obedient Engines end by it. */
  #heed(error: unknown): void {
    if (this.#signal.aborted && this.#manner !== "deaf") throw error;
  }

  #id(kind: string): string {
    return `${this.#token}.${kind}${++this.#count}`;
  }
}
