import type { EngineContext, EngineOutcome, EngineSession, EngineSink, EngineTurn } from "../contract.ts";
import { askStep, formStep } from "./question_steps.ts";
import { backgroundStep, emitStep, floodStep, rewriteStep, toolsStep } from "./stream_steps.ts";
import { editStep, readStep, writeStep } from "./file_steps.ts";
import { END_TURN, Job, RunIds } from "./job.ts";
import { parseScript, stepList } from "./steps.ts";
import { type Step, StepError } from "./step.ts";
import { accountOf } from "./account.ts";
import { pause } from "../waiting.ts";
import { Plan } from "./plan.ts";
import type { PromptPart } from "../../model/prompt.ts";
import { runStep } from "./run_step.ts";

/** What a Session keeps from one opening to the next. */
const INTRODUCED = { introduced: true };

/** A Session of the workbench: does what the lines of a prompt say, one after the other. */
export class WorkbenchSession implements EngineSession {
  readonly #context: EngineContext;
  readonly #closing = new AbortController();
  readonly #live = new Set<Promise<EngineOutcome>>();
  /** Whether the first answer to plain words still has to say what a workbench is. */
  #introduction: "due" | "given";

  /** `introduce`: nobody chose the workbench. */
  constructor(context: EngineContext, introduce: boolean) {
    this.#context = context;
    this.#introduction = introduce && context.restored === undefined ? "due" : "given";
  }

  async run(turn: EngineTurn, sink: EngineSink, signal: AbortSignal): Promise<EngineOutcome> {
    const work = this.#work(turn, sink, AbortSignal.any([signal, this.#closing.signal]));
    this.#live.add(work);
    try {
      return await work;
    } catch (error) {
      // The Host knows about its own stop and asks for no words about it.
      if (signal.aborted) return END_TURN;
      throw error;
    } finally {
      this.#live.delete(work);
    }
  }

  /** Modes are read from the context whenever they matter. */
  configure(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The Session was closed"));
    await Promise.allSettled(this.#live);
  }

  async #work(turn: EngineTurn, sink: EngineSink, signal: AbortSignal): Promise<EngineOutcome> {
    const steps: Step[] = [];
    const others: PromptPart[] = [];
    try {
      for (const part of turn.input.parts) {
        if (part.kind !== "text") {
          others.push(part);
          continue;
        }
        const script = parseScript(part.text);
        steps.push(...script.steps);
        if (script.steps.length === 0) others.push(part);
        else if (script.rest !== "") others.push({ kind: "text", text: script.rest });
      }
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      const failure = error.reason === "unknown" ? "unsupported" : "engine";
      return { kind: "failed", failure: { class: failure, message: error.message } };
    }
    const job = new Job({
      context: this.#context,
      services: () => turn.services(),
      sink,
      signal,
      ids: new RunIds(turn.runId),
    });
    if (others.length > 0 || steps.length === 0) await this.#answer(job, others);
    return await this.#follow(job, steps);
  }

  async #answer(job: Job, parts: readonly PromptPart[]): Promise<void> {
    const account = await accountOf(parts, this.#context, job.signal);
    if (this.#introduction === "given") return await job.say(account);
    this.#introduction = "given";
    await job.say(`${account}\n\n${introduction()}`);
    await this.#context.state(INTRODUCED);
  }

  async #follow(job: Job, steps: readonly Step[]): Promise<EngineOutcome> {
    let plan: Plan | undefined;
    for (const [index, step] of steps.entries()) {
      job.signal.throwIfAborted();
      if (step.name === "plan") {
        plan = new Plan(step.items, steps.length - index - 1);
        await plan.show(job.sink);
        continue;
      }
      const end = await this.#perform(job, step);
      if (end !== undefined) return end;
      await plan?.advance(job.sink);
    }
    return END_TURN;
  }

  /** Does a step; an outcome ends the Turn. */
  async #perform(
    job: Job,
    step: Exclude<Step, { name: "plan" }>,
  ): Promise<EngineOutcome | undefined | void> {
    switch (step.name) {
      case "say":
        return await job.say(step.text);
      case "think":
        return await job.say(step.text, "thinking");
      case "emit":
        return await emitStep(job, step.count, step.bytes);
      case "read":
        return await readStep(job, step.path);
      case "write":
        return await writeStep(job, step.path, step.text);
      case "edit":
        return await editStep(job, step);
      case "run":
        return await runStep(job, step.command);
      case "ask":
        return await askStep(job, step.question, step.options);
      case "form":
        return await formStep(job, step.fields);
      case "sleep":
        return await pause(step.ms, job.signal);
      case "usage":
        return await job.sink.usage({ used: step.used, size: step.size });
      case "title":
        return await this.#context.title(step.text);
      case "fail":
        return { kind: "failed", failure: { class: "engine", message: step.text } };
      case "stop":
        return { kind: "completed", stopReason: step.reason };
      case "background":
        return await backgroundStep(job, step.ms, step.text, this.#closing.signal);
      case "rewrite":
        return await rewriteStep(job, step.text);
      case "flood":
        return await floodStep(job, step.bytes);
      case "tools":
        return await toolsStep(job, step.count);
    }
  }
}

function introduction(): string {
  return "No agent is configured, so this is the workbench, which works without a model. To use an agent, put its command behind " +
    "`--` when you start Gangway, as in `gangway -- gemini --acp`. " +
    `Here, lines that begin with a slash are steps: ${stepList()}.`;
}
