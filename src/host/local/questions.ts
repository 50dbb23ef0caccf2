import type { Answer, Interaction, InteractionEnd, Question, QuestionOption } from "../../model/question.ts";
import type { Ids } from "../../model/clock.ts";
import type { Log } from "../../model/log.ts";
import type { InteractionState } from "../contract.ts";
import type { InteractionRecord, SessionStore, Write } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import type { ActiveRun } from "./active_run.ts";
import type { Fanout } from "./fanout.ts";
import { faultOf } from "./form.ts";
import type { Grants } from "./grants.ts";
import type { Journal } from "./journal.ts";
import { encodedLength } from "./tool_fit.ts";

/** Closed Interactions that are remembered besides the store, which has them a moment later. */
const CLOSED = 256;

/** An Interaction that waits. */
interface OpenQuestion {
  readonly interaction: Interaction;
  readonly run: ActiveRun;
  readonly settle: (answer: Answer) => void;
  readonly refuse: (reason: unknown) => void;
}

/** What the questions of a Session work with. */
export interface QuestionParts {
  readonly store: SessionStore;
  readonly journal: Journal;
  readonly fanout: Fanout;
  readonly grants: Grants;
  readonly ids: Ids;
  readonly log: Log;
  /** The number of a Run's open questions changed. */
  readonly counted: (run: ActiveRun) => void;
}

/** The questions of a Session's Runs, from asking to their answer. */
export class Questions {
  readonly #parts: QuestionParts;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #closed = new Map<string, InteractionRecord>();

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  /** Those that wait, oldest first. */
  open(): Interaction[] {
    return [...this.#open.values()].map((each) => each.interaction);
  }

  /** Asks, or answers at once where a Grant fits. Rejects when the Run is stopped or ends. */
  ask(run: ActiveRun, wanted: Question, signal?: AbortSignal): Promise<Answer> {
    if (!run.taking) return Promise.reject(run.signal.reason);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const question = this.#fit(run, wanted);
    const interactionId = this.#parts.ids.next();
    const granted = this.#parts.grants.choose(question, run);
    if (granted !== undefined) {
      const answer: Answer = { kind: "option", optionId: granted.optionId };
      this.#record(interactionId, { run: run.key, reason: "granted", answer });
      return Promise.resolve(answer);
    }
    const interaction: Interaction = { ...question, interactionId, run: run.key };
    const withdraw = () => this.#withdraw(interactionId, signal?.reason);
    const asked = new Promise<Answer>((settle, refuse) => {
      this.#open.set(interactionId, { interaction, run, settle, refuse });
    }).finally(() => signal?.removeEventListener("abort", withdraw));
    signal?.addEventListener("abort", withdraw, { once: true });
    run.questions += 1;
    this.#parts.fanout.publish({ type: "interaction_opened", interaction }, encodedLength(interaction));
    this.#parts.counted(run);
    return asked;
  }

  /** How an Interaction stands. */
  async query(interactionId: string): Promise<InteractionState> {
    if (this.#open.has(interactionId)) return { kind: "open" };
    const record = await this.#find(interactionId);
    if (record === undefined) throw missing(interactionId);
    return { kind: "closed", reason: record.reason, by: record.by };
  }

  /** Takes an answer, durable with the Grant it makes when this resolves. */
  async answer(connectionId: string, interactionId: string, answer: Answer): Promise<void> {
    const open = this.#open.get(interactionId);
    if (open === undefined) {
      const record = await this.#find(interactionId);
      if (record === undefined) throw missing(interactionId);
      if (record.reason === "answered" && sameAnswer(record.answer, answer)) return;
      throw new HostError("already_resolved", "This question is closed already", {
        data: { reason: record.reason },
      });
    }
    const option = checked(open.interaction, answer);
    const made = option === undefined ? undefined : this.#parts.grants.make(option);
    const record: InteractionRecord = { run: open.run.key, reason: "answered", answer, by: connectionId };
    await this.#parts.journal.commit(() => [writeOf(interactionId, record), ...made?.writes ?? []]);
    if (made !== undefined) this.#parts.grants.add(made.grant, open.run);
    this.#close(interactionId, open, "answered", connectionId);
    open.settle(answer);
    if (made !== undefined) this.#grantOthers();
  }

  /** Closes what a Run still asks. */
  closeAll(run: ActiveRun, reason: InteractionEnd, by?: string): void {
    for (const [interactionId, open] of this.#open) {
      if (open.run !== run) continue;
      this.#record(interactionId, { run: run.key, reason, by });
      this.#close(interactionId, open, reason, by);
      open.refuse(run.signal.reason);
    }
  }

  /** Whoever asked takes its question back. */
  #withdraw(interactionId: string, why: unknown): void {
    const open = this.#open.get(interactionId);
    if (open === undefined) return;
    this.#record(interactionId, { run: open.run.key, reason: "withdrawn" });
    this.#close(interactionId, open, "withdrawn");
    open.refuse(why);
  }

  /** Answers other questions that a new Grant covers. */
  #grantOthers(): void {
    for (const [interactionId, open] of this.#open) {
      const option = this.#parts.grants.choose(open.interaction, open.run);
      if (option === undefined) continue;
      const answer: Answer = { kind: "option", optionId: option.optionId };
      this.#record(interactionId, { run: open.run.key, reason: "granted", answer });
      this.#close(interactionId, open, "granted");
      open.settle(answer);
    }
  }

  #close(interactionId: string, open: OpenQuestion, reason: InteractionEnd, by?: string): void {
    this.#open.delete(interactionId);
    open.run.questions -= 1;
    const run = open.run.key;
    this.#parts.fanout.publish({ type: "interaction_closed", interactionId, run, reason, by }, 0);
    this.#parts.counted(open.run);
  }

  /** Remembers an end that is saved by and by. */
  #record(interactionId: string, record: InteractionRecord): void {
    this.#closed.set(interactionId, record);
    if (this.#closed.size > CLOSED) {
      for (const oldest of this.#closed.keys()) {
        this.#closed.delete(oldest);
        break;
      }
    }
    this.#parts.journal.note(writeOf(interactionId, record));
  }

  async #find(interactionId: string): Promise<InteractionRecord | undefined> {
    return this.#closed.get(interactionId) ?? await this.#parts.store.interaction(interactionId);
  }

  /** Refuses a question that nobody could answer, and drops the name of a tool that there is not. */
  #fit(run: ActiveRun, question: Question): Question {
    const { kind, toolCallId, fields, options, page } = question;
    const [needed, what] = kind === "form"
      ? [fields?.length, "fields"]
      : kind === "url"
      ? [page?.url.length, "page"]
      : [options?.length, "options"];
    if (!needed) throw new HostError("invalid", `Cannot ask a ${kind} that offers no ${what}`);
    if (toolCallId === undefined || run.transcript.tools.has(toolCallId)) return question;
    this.#parts.log.debug("Ignored the unknown tool of a question", { turnId: run.key.turnId, toolCallId });
    const { toolCallId: _, ...rest } = question;
    return rest;
  }
}

/** The option that an answer chooses, if any. Throws `invalid` for what the question does not offer. */
function checked(question: Question, answer: Answer): QuestionOption | undefined {
  switch (answer.kind) {
    case "decline":
    case "cancel":
      return undefined;
    case "option": {
      const option = question.options.find((each) => each.optionId === answer.optionId);
      if (question.kind !== "form" && question.kind !== "url" && option !== undefined) return option;
      throw new HostError("invalid", `The question does not offer the option "${answer.optionId}"`);
    }
    case "values": {
      if (question.kind === "url") return undefined;
      if (question.kind !== "form") {
        throw new HostError("invalid", "The question is no form: choose one of its options");
      }
      const fault = faultOf(question.fields ?? [], answer.values);
      if (fault === undefined) return undefined;
      throw new HostError("invalid", fault);
    }
    default:
      throw new HostError("invalid", "The answer is neither an option, nor values, nor decline, nor cancel");
  }
}

function writeOf(interactionId: string, record: InteractionRecord): Write {
  return { op: "interaction", interactionId, ...record };
}

/** Members of values may come in any order. */
function sameAnswer(a: Answer | undefined, b: Answer): boolean {
  return a !== undefined && canonical(a) === canonical(b);
}

function canonical(answer: Answer): string {
  if (answer.kind !== "values") return JSON.stringify(answer, ["kind", "optionId"]);
  return JSON.stringify(Object.entries(answer.values).sort(([a], [b]) => a < b ? -1 : 1));
}

function missing(interactionId: string): HostError {
  return new HostError("not_found", `There is no question "${interactionId}" in this Session`);
}
