import type { Admission, EngineProfile, RuntimeHost } from "../host/contract.ts";
import { HostError, type Reply } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";
import type { JsonObject, Meta } from "../model/json.ts";
import type { RunEnd, StopReason } from "../model/run.ts";
import type { TurnInput } from "../model/prompt.ts";
import type { Attachment } from "./attachment.ts";
import { DeadlineError, unlessAborted, within } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import { SessionError } from "./errors.ts";
import { busyError, endError, sessionErrorOf } from "./failures.ts";
import { Intake } from "./intake.ts";
import { ClientGone, type ClientPort, type Clock, type Files, type Ids, type Log } from "./ports.ts";
import type { Presentation } from "./presentation.ts";
import { type Known, newTurn } from "./turn.ts";
import { showUnshown } from "./unshown.ts";

/** The answer to a prompt. */
export interface PromptAnswer {
  /** ACP's own word. */
  readonly stopReason: StopReason | "cancelled";
  /** Goes out as `_meta`. */
  readonly meta?: Meta;
}

/** How far a prompt is. Before `dispatched` a cancel means that no Turn starts. */
export type PromptStage =
  | "queued"
  | "mapped"
  | "attaching"
  | "uploading"
  | "observing"
  | "dispatched"
  | "settling"
  | "settled";

/** What a prompt needs of its Session. */
export interface PromptOptions {
  readonly sessionId: string;
  readonly roots: readonly string[];
  readonly profile: EngineProfile;
  readonly attachment: Attachment;
  readonly host: RuntimeHost;
  readonly client: ClientPort;
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** Why a prompt's waits end early: the Client cancelled it or closed its Session. */
class Cancelled extends Error {
  constructor() {
    super("The prompt was cancelled");
    this.name = "Cancelled";
  }
}

type Ended = Known & { readonly kind: "ended" };

/** What a dispatched Turn came to, as far as its prompt is concerned. */
type Outcome =
  | Ended
  /** Nothing was started: the slot is taken, or the request never left. */
  | { readonly kind: "again"; readonly error: SessionError; readonly patience: number }
  | { readonly kind: "failed"; readonly error: Error }
  /** The fence is up; `error` says what else is wrong, if anything. */
  | { readonly kind: "fenced" };

/**
 * One prompt from the Client's request to its answer. It reads the Turn's record, which the Attachment keeps; it never decides by
 * itself that a Turn ended.
 */
export class Prompt {
  readonly #options: PromptOptions;
  readonly #draft: Draft;
  readonly #abort = new AbortController();
  #stage: PromptStage = "queued";
  #presentation: Presentation | undefined;

  /** Does nothing before {@linkcode run}. */
  constructor(draft: Draft, options: PromptOptions) {
    this.#draft = draft;
    this.#options = options;
  }

  /** How far it is. */
  get stage(): PromptStage {
    return this.#stage;
  }

  /** Cancels it: local waits end at once, and a Turn that was started is fenced and stopped. */
  cancel(): void {
    this.#giveUp("cancel");
  }

  /** Gives it up, for the Client is gone: as a cancel, but a Turn that was started goes on. */
  leave(): void {
    this.#giveUp("gone");
  }

  #giveUp(reason: "cancel" | "gone"): void {
    if (this.#stage === "settled") return;
    this.#abort.abort(new Cancelled());
    this.#presentation?.fence(reason);
  }

  /** Runs it to its answer. Throws {@linkcode SessionError}, {@linkcode ResourceError} or {@linkcode ClientGone}. */
  async run(): Promise<PromptAnswer> {
    const { client, sessionId, attachment } = this.#options;
    try {
      const answer = await this.#live();
      return this.#cancelled ? this.#cancelledAnswer() : answer;
    } catch (error) {
      if (error instanceof ClientGone) throw error;
      // However it came to this, no card stays open behind the answer.
      if (this.#presentation !== undefined) {
        this.#finish(this.#cancelled ? this.#stopped : { how: "interrupted" });
      }
      await client.flushed();
      if (!this.#cancelled) throw sessionErrorOf(error, sessionId);
      return this.#cancelledAnswer(error);
    } finally {
      this.#stage = "settled";
      if (this.#presentation !== undefined) attachment.forget(this.#presentation);
    }
  }

  /** The end as this connection sees it when it does not wait for the Run's own. */
  get #stopped(): RunEnd {
    return { how: "stopped", by: this.#options.host.connectionId };
  }

  /** Whether the Client cancelled it, or a person did by cancelling its question. */
  get #cancelled(): boolean {
    return this.#abort.signal.aborted || this.#presentation?.unwanted === "question";
  }

  /** Whether a Turn uses what was uploaded, or may do so. */
  get #started(): boolean {
    const known = this.#presentation?.turn.known.kind ?? "nothing";
    return known !== "nothing" && known !== "never";
  }

  async #takeBack(intake: Intake): Promise<void> {
    const { host, sessionId, log, clock } = this.#options;
    const aborted = intake.abort(host, sessionId, log);
    // A cancel does not wait for the Host, and nobody waits for it for long.
    await within(clock, LIMITS.closeMs, "taking back the uploads", aborted, this.#abort.signal).catch(
      () => {},
    );
  }

  async #live(): Promise<PromptAnswer> {
    const { attachment, host, sessionId, ids, files, roots, profile, clock } = this.#options;
    const { signal } = this.#abort;
    signal.throwIfAborted();
    this.#stage = "mapped";
    const opening = Intake.open(this.#draft, { files, roots, profile });
    const intake = await unlessAborted(opening, signal).catch((error) => {
      // Files that are opened too late are closed again.
      opening.then((late) => late.close(), () => {});
      throw error;
    });
    try {
      this.#stage = "attaching";
      await attachment.ready(signal);
      this.#stage = "uploading";
      const input = await intake.upload({ host, sessionId, ids, clock, signal });
      const outcome = await this.#start(input);
      if (outcome.kind === "ended") return await this.#settle(outcome);
      throw outcome.error;
    } finally {
      intake.close();
      if (!this.#started) await this.#takeBack(intake);
    }
  }

  /** Starts the Turn; again, under another id, only where the Host or the transport said that nothing was started. */
  async #start(input: TurnInput): Promise<Outcome & { kind: "ended" | "failed" }> {
    const { attachment, clock } = this.#options;
    const { signal } = this.#abort;
    const since = clock.now();
    for (let attempt = 0;; attempt++) {
      this.#stage = "observing";
      await attachment.free(signal);
      await showUnshown(this.#options, signal);
      const outcome = await this.#dispatch(input);
      if (outcome.kind === "fenced") return await this.#fenced();
      if (outcome.kind !== "again") return outcome;
      if (clock.now() - since >= outcome.patience) return { kind: "failed", error: outcome.error };
      attachment.forget(this.#presentation!);
      await clock.sleep(Math.min(10 * 2 ** attempt, 500), signal);
    }
  }

  async #dispatch(input: TurnInput): Promise<Outcome> {
    const { attachment, host, sessionId, ids, clock } = this.#options;
    // Waits that had nothing to wait for did not look: from here on a cancel finds the presentation.
    this.#abort.signal.throwIfAborted();
    const turnId = ids.next();
    // Observation and the cut come first: frames of the Turn may arrive before the reply.
    const presentation = attachment.present(newTurn(turnId), { cut: attachment.last, owner: "prompt" });
    this.#presentation = presentation;
    this.#stage = "dispatched";
    presentation.record({ type: "sent" });
    const reply: Promise<Reply<Admission>> = host.turns.start({ sessionId, turnId, input })
      // A Host that throws where the contract has a reply left everything open.
      .catch((cause) => ({
        kind: "unknown",
        error: new HostError("internal", "The Host failed without a reply", { dispatch: "unknown", cause }),
      }));
    let answer: Reply<Admission> | undefined;
    const answered = reply.then((value) => {
      answer = value;
      presentation.record({ type: "started", reply: value });
    });
    within(clock, LIMITS.startMs, "starting the Turn", answered, attachment.signal).catch(() => {
      if (!attachment.signal.aborted) presentation.record({ type: "overdue" });
    });
    return await presentation.bell.until(() => outcomeOf(presentation, answer));
  }

  /** Behind the fence: waits, but not long, for the end of the Run, so that the last updates are true. */
  async #fenced(): Promise<Outcome & { kind: "ended" | "failed" }> {
    const presentation = this.#presentation!;
    const { attachment, clock } = this.#options;
    const over = presentation.bell.until((): Outcome & { kind: "ended" | "failed" } | undefined => {
      const { known, stop } = presentation.turn;
      if (known.kind === "ended") return known;
      const settled = known.kind === "never" || known.kind === "nothing" || known.kind === "unknown" ||
        stop.state === "failed";
      return settled ? { kind: "failed", error: presentation.fault ?? new Cancelled() } : undefined;
    });
    try {
      return await within(clock, LIMITS.cancelMs, "the end of a stopped Turn", over, attachment.signal);
    } catch (error) {
      return { kind: "failed", error: presentation.fault ?? error as Error };
    } finally {
      // Whatever the Run does from here on is not shown: its cards end with what is known.
      if (!presentation.over) this.#finish(this.#stopped);
    }
  }

  /** Reads the Turn through its end, closes its cards, and waits until the Client's transport has it all. */
  async #settle(ended: Ended): Promise<PromptAnswer> {
    const { attachment, client, clock } = this.#options;
    const presentation = this.#presentation!;
    const { end, through } = ended;
    this.#stage = "settling";
    const { projection, turn } = presentation;
    // An interrupted Turn may have kept less than was shown of it.
    projection.apply({ type: "run_ended", run: ended.run, end, through }, clock.now());
    if (presentation.unwanted === undefined) {
      const read = attachment.read(
        () => ({ turnId: turn.turnId, after: presentation.cut, through, held: projection.held() }),
        (row) => attachment.show(presentation, projection.read(row, clock.now())),
        this.#abort.signal,
      );
      // Only a completed Turn promises everything; the others show what can be had.
      await (end.how === "completed" ? read : read.catch((error) => {
        if (error instanceof ClientGone || this.#cancelled) throw error;
      }));
    }
    this.#finish(end);
    await client.flushed();
    if (presentation.fault !== undefined) throw presentation.fault;
    return this.#answer(end);
  }

  #finish(end: RunEnd): void {
    this.#options.attachment.finish(this.#presentation!, end);
  }

  #answer(end: RunEnd): PromptAnswer {
    switch (end.how) {
      case "completed":
        return { stopReason: end.stopReason, meta: end.meta };
      case "stopped":
        return { stopReason: "cancelled", meta: { gangway: { by: end.by } } };
      case "failed":
      case "interrupted":
        throw endError(end);
    }
  }

  #cancelledAnswer(error?: unknown): PromptAnswer {
    const presentation = this.#presentation;
    const diagnostic: Record<string, string> = {};
    if (error instanceof DeadlineError) diagnostic.stop = "the Run has not ended yet";
    else if (error instanceof SessionError) diagnostic.failure = error.code;
    else if (error instanceof HostError) diagnostic.failure = error.code;
    if (presentation?.turn.stop.state === "failed") diagnostic.stop = "the Stop was not acknowledged";
    if (presentation?.turn.known.kind === "unknown") diagnostic.admission = "unknown";
    if (Object.keys(diagnostic).length === 0) return { stopReason: "cancelled" };
    this.#options.log.warn("a prompt was cancelled with an open end", diagnostic as JsonObject);
    return { stopReason: "cancelled", meta: { gangway: diagnostic } };
  }
}

/** What a record means for the prompt that waits; undefined while it has to wait on. */
function outcomeOf(presentation: Presentation, reply: Reply<Admission> | undefined): Outcome | undefined {
  const { known, turnId } = presentation.turn;
  if (known.kind === "ended") return known;
  if (presentation.unwanted !== undefined) return { kind: "fenced" };
  switch (known.kind) {
    case "never":
      return { kind: "failed", error: known.error };
    case "unknown":
      return {
        kind: "failed",
        error: new SessionError(
          "outcome_unknown",
          "Whether the Turn was started cannot be found out; load the Session to see what happened",
          { turnId },
        ),
      };
    case "nothing":
      if (reply === undefined) return undefined;
      if (reply.kind === "done" && reply.value.kind === "busy") {
        return { kind: "again", error: busyError(reply.value.run), patience: LIMITS.busyWaitMs };
      }
      return {
        kind: "again",
        error: new SessionError("host_unavailable", "The Host cannot be reached; the prompt was not started"),
        patience: LIMITS.recoveryMs,
      };
    case "pending":
    case "live":
      return undefined;
  }
}
