import type { Clock } from "../../model/clock.ts";
import type { EngineOutcome } from "../../engine/contract.ts";
import { type LiveRun, type Origin, type Run, type RunEnd, sameRun } from "../../model/run.ts";
import type { OpenMessage } from "../../model/message.ts";
import { encodeBody } from "../../model/row.ts";
import type { TurnInput } from "../../model/prompt.ts";
import type { Admission, ClientServices, TurnState } from "../contract.ts";
import type { SessionStore, TurnRecord, Write } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import { ActiveRun, type RunIdentity } from "./active_run.ts";
import type { Calls } from "./calls.ts";
import { endOf, endOfThrown, failed } from "./outcome.ts";
import type { Questions } from "./questions.ts";
import { FixedRow } from "./row.ts";
import type { Settings } from "./settings.ts";
import { type BackgroundWork, RunSink, type SinkParts } from "./sink.ts";
import { Steering } from "./steering.ts";
import type { Supervisor } from "./supervisor.ts";
import { RunTranscript, type TranscriptParts } from "./transcript.ts";
import type { Uploads } from "./uploads.ts";

/** What a Run's work reports to its Session's mailbox. */
export interface TurnEvents {
  /** The Engine returned or threw. */
  settled(run: ActiveRun, end: RunEnd): void;
  /** The Engine did not end the Run in time. */
  overdue(run: ActiveRun): void;
}

/** What the Turns of a Session work with. */
export interface TurnParts extends TranscriptParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly uploads: Uploads;
  readonly questions: Questions;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
  readonly sink: SinkParts;
  readonly services: (connectionId: string) => ClientServices | undefined;
  readonly events: TurnEvents;
}

/** What a background Run comes from. */
type Parent = Pick<ActiveRun, "key" | "presenter">;

const NO_SERVICES: ClientServices = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  forms: false,
};

/** The Turns of one Session: one Run in the foreground, others beside it. All but `live` runs in the Session's mailbox. */
export class Turns {
  readonly #parts: TurnParts;
  readonly #live = new Map<string, ActiveRun>();
  /** Ends that the store did not take yet. */
  readonly #unsaved = new Map<string, TurnRecord>();
  readonly #steering: Steering;
  /** The Turn that was started last, with the connection that shows what still comes of it. */
  #latest: Parent | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#steering = new Steering(parts);
  }

  get live(): Iterable<ActiveRun> {
    return this.#live.values();
  }

  get count(): number {
    return this.#live.size;
  }

  /** Whether a Turn has not ended. */
  has(turnId: string): boolean {
    return this.#live.has(turnId);
  }

  /** For a snapshot. */
  runs(): LiveRun[] {
    return [...this.live].map((run) => run.live());
  }

  /** For a snapshot. */
  messages(): OpenMessage[] {
    return [...this.live].flatMap((run) => run.transcript.messages.open());
  }

  async start(connectionId: string, turnId: string, input: TurnInput): Promise<Admission> {
    if (await this.#find(turnId) !== undefined) {
      throw new HostError("conflict", `The Turn "${turnId}" was started or given up before`);
    }
    const busy = this.#foreground();
    if (busy !== undefined) return { kind: "busy", run: busy.key, origin: busy.origin };
    const { uploads, supervisor } = this.#parts;
    const artifactIds = await uploads.used(input);
    const origin: Origin = { kind: "connection", connectionId };
    const key: Run = { turnId, runId: this.#parts.ids.next() };
    const run = await this.#admit({ key, foreground: true, origin, presenter: connectionId }, (cut) => [
      ...this.#userRow(key, input),
      ...artifactIds.map((artifactId) => ({ op: "pin", turnId, artifactId }) as const),
      { op: "turn", turn: { state: "admitted", run: key, foreground: true, origin, cut } },
    ]);
    this.#latest = run;
    uploads.pinned(artifactIds);
    if (this.#live.size === 1) supervisor.renew();
    this.#work(run, async (sink) => {
      const engine = await supervisor.session();
      run.signal.throwIfAborted();
      this.#begin(run);
      const turn = { ...run.names(), input, services: () => this.#servicesOf(run) };
      return await engine.run(turn, sink, run.signal);
    });
    return { kind: "admitted", run: key };
  }

  /** Opens a Run beside the foreground. Resolves with its runId. */
  async background(parent: ActiveRun, work: BackgroundWork): Promise<string> {
    if (!parent.taking) throw parent.signal.reason;
    return await this.#beside(parent, work);
  }

  /** Opens a Run for what an Engine says while none runs. Undefined where there was no Turn whose presenter could show it. */
  async late(work: BackgroundWork): Promise<string | undefined> {
    // What was said is whole, whatever ends it.
    const leftAs = { how: "completed", stopReason: "end_turn" } as const;
    return this.#latest === undefined ? undefined : await this.#beside(this.#latest, work, leftAs);
  }

  async #beside(parent: Parent, work: BackgroundWork, leftAs?: RunEnd): Promise<string> {
    const { ids } = this.#parts;
    const key: Run = { turnId: ids.next(), runId: ids.next() };
    const origin: Origin = { kind: "engine", parent: parent.key };
    const presenter = parent.presenter;
    const run = await this.#admit({ key, foreground: false, origin, presenter, leftAs }, (cut) => [
      { op: "turn", turn: { state: "admitted", run: key, foreground: false, origin, cut } },
    ]);
    this.#work(run, (sink) => {
      this.#begin(run);
      return work(sink, run.signal);
    });
    return key.runId;
  }

  async query(turnId: string, settle: boolean): Promise<TurnState> {
    const live = this.#live.get(turnId);
    if (live !== undefined) return { kind: "live", run: live.key, phase: live.live().phase };
    const record = await this.#find(turnId);
    if (record?.state === "ended") {
      return { kind: "ended", run: record.run, end: record.end, through: record.through };
    }
    if (record === undefined && settle) {
      await this.#parts.journal.commit(() => [{ op: "turn", turn: { state: "tombstone", turnId } }]);
    }
    return { kind: "not_found", settled: settle || record?.state === "tombstone" };
  }

  /** Asks a Run to stop; silent for one that is stopping or has ended. */
  async stop(by: string, key: Run): Promise<void> {
    const run = this.#running(key);
    if (run === undefined) {
      const record = await this.#find(key.turnId);
      if (record?.state === "ended" && sameRun(record.run, key)) return;
      throw unknownRun(key);
    }
    if (!run.taking) return;
    run.stop(by);
    this.#parts.questions.closeAll(run, "stopped", by);
    this.#parts.calls.stop(run);
    this.#parts.clock.sleep(this.#parts.limits.stopGraceMs, run.over)
      .then(() => this.#parts.events.overdue(run), () => {});
  }

  /** Gives words to the foreground Run. `taken` is the Engine's word for it, which the mailbox does not wait for. */
  async steer(key: Run, steerId: string, input: TurnInput): Promise<{ readonly taken: Promise<void> }> {
    const run = this.#running(key);
    if (run === undefined || !run.taking) {
      throw new HostError("unavailable", "The Turn takes no more words: it has ended");
    }
    return await this.#steering.steer(run, steerId, input);
  }

  adopt(connectionId: string, key: Run): void {
    const run = this.#running(key);
    if (run === undefined) throw unknownRun(key);
    if (run.presenter === connectionId) return;
    if (run.presenter !== undefined) {
      throw new HostError("conflict", "Another editor shows this Turn", {
        data: { presenter: run.presenter },
      });
    }
    run.presenter = connectionId;
    this.announce(run);
  }

  /** A connection shows nothing any more. Its Runs go on. */
  unpresent(connectionId: string): void {
    this.#parts.calls.drop(connectionId);
    for (const run of this.live) {
      if (run.presenter !== connectionId) continue;
      run.presenter = undefined;
      this.announce(run);
    }
    if (this.#latest?.presenter === connectionId) {
      this.#latest = { key: this.#latest.key, presenter: undefined };
    }
  }

  /** Publishes a Run's present state. */
  announce(run: ActiveRun): void {
    if (run.state.kind !== "ended") this.#parts.fanout.publish({ type: "run", live: run.live() }, 0);
  }

  /** The Engine is done with a Run; a stop that came first decides how it ended. */
  async settled(run: ActiveRun, end: RunEnd): Promise<void> {
    if (run.state.kind === "ended") return;
    if (end.how === "failed" && end.failure.class === "engine_gone") this.#retire(run);
    await this.#finish(run, run.state.kind === "stopping" ? { how: "stopped", by: run.state.by } : end);
  }

  /** The Engine ignored a stop. Its Session is given up, for another Turn must not meet this one. */
  async overdue(run: ActiveRun): Promise<void> {
    if (run.state.kind !== "stopping") return;
    this.#retire(run);
    await this.#finish(run, { how: "stopped", by: run.state.by });
  }

  /** What Runs said could not be saved: they end, so that nobody takes them for whole. */
  async unsaved(error: HostError): Promise<void> {
    for (const run of [...this.live]) {
      run.stop("host");
      this.#retire(run);
      await this.#finish(run, failed("storage", error.message));
    }
  }

  /** The Host goes away: every Run ends here and now. */
  async interrupt(): Promise<void> {
    for (const run of [...this.live]) {
      run.stop("host");
      await this.#finish(run, run.leftAs);
    }
  }

  /** The Session is removed: nothing of its Runs is kept. */
  abandon(): void {
    for (const run of [...this.live]) {
      run.stop("host");
      this.#fence(run);
    }
  }

  async #admit(
    identity: Omit<RunIdentity, "cut" | "transcript">,
    writes: (cut: number) => readonly Write[],
  ): Promise<ActiveRun> {
    const { journal, settings } = this.#parts;
    let admitted: ActiveRun | undefined;
    let cut = 0;
    settings.touch();
    await journal.commit(
      () => {
        cut = journal.last;
        return writes(cut);
      },
      // Before the watermark over its user row is announced: nobody sees a row of a Run that he does not know.
      () => {
        const transcript = new RunTranscript(identity.key, this.#parts);
        admitted = new ActiveRun({ ...identity, cut, transcript });
        this.#live.set(identity.key.turnId, admitted);
        this.announce(admitted);
      },
    );
    if (admitted === undefined) throw new HostError("internal", "A Turn was saved and not admitted");
    return admitted;
  }

  #begin(run: ActiveRun): void {
    run.begin();
    this.announce(run);
  }

  /** Lets an Engine work, outside the mailbox. */
  #work(run: ActiveRun, job: (sink: RunSink) => Promise<EngineOutcome>): void {
    const done = (async () => endOf(await job(new RunSink(run, this.#parts.sink))))();
    done.catch(endOfThrown).then((end) => this.#parts.events.settled(run, end));
  }

  async #finish(run: ActiveRun, wanted: RunEnd): Promise<void> {
    const { journal, settings, fanout } = this.#parts;
    this.#fence(run);
    // Not the Run itself, which holds all that was said.
    if (this.#latest === run) this.#latest = { key: run.key, presenter: run.presenter };
    settings.touch();
    let end = wanted;
    let through = run.transcript.end(end);
    try {
      await journal.commit(() => [{ op: "turn", turn: recordOf(run, end, through) }]);
    } catch (error) {
      // Announced all the same, as what it is; the record goes with the next commit that succeeds.
      if (end.how === "completed") end = failed("storage", error instanceof Error ? error.message : "");
      through = run.transcript.end(end);
      const turn = recordOf(run, end, through);
      this.#unsaved.set(run.key.turnId, turn);
      journal.note({ op: "turn", turn });
    }
    fanout.publish({ type: "run_ended", run: run.key, end, through }, 0);
  }

  /** Nothing that concerns the Run counts from here on. */
  #fence(run: ActiveRun): void {
    run.end();
    this.#live.delete(run.key.turnId);
    this.#parts.questions.closeAll(run, "run_ended");
    this.#parts.calls.end(run);
  }

  /** Gives up the Engine's Session, unless another Run is at work in it. */
  #retire(run: ActiveRun): void {
    if ([...this.live].every((each) => each === run)) this.#parts.supervisor.retire();
  }

  /** The row of a prompt. Its id is the Turn's. */
  #userRow(run: Run, input: TurnInput): readonly Write[] {
    const { journal, date } = this.#parts;
    const identity = { seq: journal.next(), run, kind: "user", id: run.turnId, at: date() } as const;
    return new FixedRow(identity, encodeBody({ kind: "user", input })).take();
  }

  #foreground(): ActiveRun | undefined {
    for (const run of this.live) if (run.foreground) return run;
    return undefined;
  }

  #running(key: Run): ActiveRun | undefined {
    const run = this.#live.get(key.turnId);
    return run !== undefined && sameRun(run.key, key) ? run : undefined;
  }

  async #find(turnId: string): Promise<TurnRecord | { readonly state: "live" } | undefined> {
    if (this.#live.has(turnId)) return { state: "live" };
    return this.#unsaved.get(turnId) ?? await this.#parts.store.turn(turnId);
  }

  #servicesOf(run: ActiveRun): ClientServices {
    const services = run.presenter === undefined ? undefined : this.#parts.services(run.presenter);
    return services ?? NO_SERVICES;
  }
}

function recordOf(run: ActiveRun, end: RunEnd, through: number): TurnRecord {
  const { key, foreground, origin, cut } = run;
  return { state: "ended", run: key, foreground, origin, cut, end, through };
}

function unknownRun(key: Run): HostError {
  return new HostError("not_found", `There is no such Run of the Turn "${key.turnId}"`);
}
