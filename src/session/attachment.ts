import type { RuntimeHost, Subscription } from "../host/contract.ts";
import type { Frame, Snapshot } from "../model/frame.ts";
import type { LiveRun, Run, RunEnd } from "../model/run.ts";
import type { Interaction } from "../model/question.ts";
import type { Row } from "../model/row.ts";
import type { Step, TurnProjection } from "../projection/mod.ts";
import { Bulletin } from "./bulletin.ts";
import { EditorCalls, isFreeing } from "./calls.ts";
import { Dialogs } from "./dialogs.ts";
import { SessionError } from "./errors.ts";
import { Feed, type ReadRange } from "./feed.ts";
import type { Join } from "./join.ts";
import { LiveRuns } from "./live_runs.ts";
import { ClientGone, type ClientPort, type Clock, type Log } from "./ports.ts";
import type { Owner, Presentation } from "./presentation.ts";
import { Presentations } from "./presentations.ts";
import { Reconciler } from "./reconciler.ts";
import { foundTurn, type Turn } from "./turn.ts";
import { UnshownRows } from "./unshown.ts";

/** What an Attachment needs of its surroundings. */
export interface AttachmentOptions {
  readonly host: RuntimeHost;
  readonly client: ClientPort;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessionId: string;
}

/**
 * One connection's hold on one Session. It lives until close; what was shown, the fences and the Turn records are kept here across
 * Subscriptions. It is the one actor of the Session: frames come in one after the other, and only it decides that a Turn ended.
 */
export class Attachment {
  /** What is said about the Session itself. */
  readonly bulletin: Bulletin;
  /** What the Client was not shown yet. */
  readonly unshown: UnshownRows = new UnshownRows();
  readonly #options: AttachmentOptions;
  readonly #feed: Feed;
  readonly #dialogs: Dialogs;
  readonly #calls: EditorCalls;
  readonly #reconciler: Reconciler;
  readonly #presentations: Presentations;
  readonly #settling = new Set<Presentation>();
  readonly #live: LiveRuns;
  /** Turns that were shown to their ends, of which frames may still come: a query can overtake them. */
  readonly #over = new Set<string>();
  #join: Join | undefined;
  #storeId: string | undefined;
  /** Every Run that shows up is to be stopped. */
  #ending = false;
  #last = 0;

  /** Opens nothing yet. */
  constructor(options: AttachmentOptions) {
    const { host, client, sessionId, clock, log } = options;
    this.#options = options;
    this.#live = new LiveRuns(clock);
    this.bulletin = new Bulletin(client, sessionId);
    this.#feed = new Feed(options, {
      opened: (subscription) => this.#opened(subscription),
      before: (subscription) => this.#join && this.#joinOn(this.#join, subscription),
      live: (subscription) => this.#ask(subscription),
      frame: (frame, subscription) => this.#frame(frame, subscription),
      failed: (error) => this.#failed(error),
    });
    this.#dialogs = new Dialogs({
      host,
      client,
      sessionId,
      clock,
      log,
      show: (p, step) => this.show(p, step),
    });
    this.#calls = new EditorCalls({ host, client, sessionId, clock, log });
    this.#reconciler = new Reconciler({ host, clock, log, sessionId, signal: this.#feed.signal });
    this.#presentations = new Presentations({
      ...options,
      signal: this.#feed.signal,
      changed: (changed) => this.#changed(changed),
    });
  }

  /** Aborts when the Attachment is closed. */
  get signal(): AbortSignal {
    return this.#feed.signal;
  }

  /** Whether a Subscription is open or being opened. */
  get attached(): boolean {
    return this.#feed.attached;
  }

  /** The highest row sequence in use: a Turn that starts now has its rows above it. */
  get last(): number {
    return this.#last;
  }

  /** The Run in the foreground slot, whoever started it. */
  get foreground(): LiveRun | undefined {
    return this.#live.foreground;
  }

  /** Waits until the Session is open and what it knows was taken in; one opening serves all who ask. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#feed.ready(signal);
  }

  /** Waits while another Run holds the foreground slot, at most {@linkcode Limits.busyWaitMs}, then throws `run_busy`. */
  free(signal: AbortSignal): Promise<void> {
    return this.#live.free(signal);
  }

  /** Begins to show a Turn. Call it before the Turn is started: its frames may come first. */
  present(turn: Turn, options: { cut: number; owner: Owner; projection?: TurnProjection }): Presentation {
    return this.#presentations.present(turn, options);
  }

  /** A prompt is done with a Turn. A fence over one that may still run stays until its end is observed. */
  forget(presentation: Presentation): void {
    const { turnId, known } = presentation.turn;
    this.#dialogs.closeAll("the Turn is over", turnId);
    if (!presentation.over && known.kind !== "nothing") {
      presentation.leave("none");
      // Its prompt was answered with an error: should the Turn turn up after all, it is stopped.
      if (known.kind === "unknown") presentation.fence("fault");
      return;
    }
    this.#leave(presentation);
    this.#calls.end(turnId);
  }

  /** Puts a step on the wire, or fails the Turn with its fault. */
  show(presentation: Presentation, step: Step): void {
    this.#presentations.show(presentation, step);
  }

  /** Shows how a Turn ended. Its dialogs go first: a card is left alone while one is open. */
  finish(presentation: Presentation, end: RunEnd): void {
    this.#dialogs.closeAll("the Turn is over", presentation.turn.turnId);
    this.show(presentation, presentation.projection.finish(end, this.#options.clock.now()));
  }

  /** Reads the transcript, across Subscriptions where one is lost. */
  read(range: () => ReadRange, take: (row: Row) => void, signal: AbortSignal): Promise<void> {
    return this.#feed.read(range, take, signal);
  }

  /** Loads or resumes on a new Subscription. Resolves when all that belongs before the answer was handed to the writer. */
  async join(join: Join): Promise<void> {
    this.#join?.fail(new SessionError("internal", "Another load or resume of the Session took its place"));
    this.#join = join;
    this.bulletin.hold();
    this.#feed.reopen();
    try {
      await join.done;
    } catch (error) {
      if (this.#join === join) this.#join = undefined;
      this.bulletin.unknown("config");
      this.bulletin.release();
      throw error;
    }
  }

  /** The answer that names the Session is on its way: what waited for it may follow. */
  release(): void {
    // The answer of an earlier load must not let a later one speak before its own.
    if (this.#join?.finished === false) return;
    this.bulletin.release();
    this.#join?.release();
  }

  /** Stops the Run in the foreground, whoever started it, and raises the fence over it. */
  stopForeground(): void {
    const live = this.foreground;
    if (live !== undefined) this.#presentations.of(live, "later").fence("cancel");
  }

  /**
   * Stops every Run, also those that nobody here started and those that Engines begin meanwhile, and raises the fence over them.
   * Starts without an answer are settled: their Turns are stopped or never begin. Resolves when nothing more can be done.
   */
  async stopAll(): Promise<void> {
    this.#ending = true;
    for (const live of this.#live.byTurn.values()) this.#presentations.of(live).fence("cancel");
    for (const presentation of this.#presentations.all) {
      if (presentation.turn.known.kind !== "pending") continue;
      presentation.fence("cancel");
      presentation.record({ type: "overdue" });
    }
    await this.#live.until(() => this.unstopped.every(({ stop }) => stop.state === "failed"));
  }

  /** Turns that may still run and whose Stop the Host has not acknowledged. */
  get unstopped(): readonly Turn[] {
    return this.#presentations.unstopped;
  }

  /** Ends everything without waiting for the Host. Whoever waits gets `error`. */
  close(error: Error): void {
    this.#feed.close(error);
    this.bulletin.close();
    this.#join?.fail(error);
    this.#dialogs.closeAll("the Session was closed");
    this.#calls.close();
    this.#presentations.clear();
    this.#live.changed();
  }

  #failed(error: Error): void {
    this.#live.clear();
    this.#join?.fail(error);
    this.#join = undefined;
    const fault = error instanceof SessionError
      ? error
      : new SessionError("internal", "Showing the Turn failed", {}, { cause: error });
    for (const presentation of this.#presentations.all) presentation.fail(fault);
    this.#live.changed();
  }

  /** Takes in what a new Subscription knows, and reads what was missed of the Turns that are shown. */
  async #opened(subscription: Subscription): Promise<void> {
    const { snapshot } = subscription;
    if (this.#storeId !== undefined && snapshot.storeId !== this.#storeId) {
      throw new SessionError(
        "host_unavailable",
        "The Host came back with another store; open the Session anew",
      );
    }
    if (this.#storeId !== undefined) this.#missed(snapshot);
    this.#take(snapshot);
    for (const presentation of this.#presentations.all) {
      if (!this.#live.byTurn.has(presentation.turn.turnId)) presentation.record({ type: "missing" });
      else if (presentation.unwanted === undefined) await this.#catchUp(subscription, presentation);
    }
  }

  /** Remembers the Turns that ended while nothing was seen. Those on show are read by their own presentations. */
  #missed({ runs, last }: Snapshot): void {
    const shown = [...this.#presentations.turnIds, ...this.#over];
    const known = new Set([...runs.map((live) => live.run.turnId), ...shown]);
    for (const { run: { turnId }, cut } of this.#live.byTurn.values()) {
      if (!known.has(turnId)) this.unshown.add({ after: cut, through: last, turnId });
      known.add(turnId);
    }
    // Whatever began meanwhile has its rows above all that were there before.
    if (last > this.#last) this.unshown.add({ after: this.#last, through: last, except: known });
  }

  /** Shows the questions that wait, and takes back those that do not any more. */
  #ask({ snapshot: { interactions } }: Subscription): void {
    this.#dialogs.keep(new Set(interactions.map((interaction) => interaction.interactionId)));
    for (const interaction of interactions) this.#question(interaction);
  }

  #take(snapshot: Snapshot): void {
    this.#storeId = snapshot.storeId;
    this.#last = snapshot.last;
    this.#live.clear();
    for (const live of snapshot.runs) this.#run(live);
    // What it does not list sends no frames on this Subscription.
    const listed = new Set(snapshot.runs.map(({ run }) => run.turnId));
    for (const turnId of this.#over) if (!listed.has(turnId)) this.#over.delete(turnId);
    this.bulletin.showAll(snapshot);
    this.#live.changed();
  }

  async #joinOn(join: Join, subscription: Subscription): Promise<void> {
    // From here on it says itself what is shown of the past.
    const { hostEpoch } = subscription.snapshot;
    if (!join.begun) this.unshown.clear(join.left);
    else if (join.hostEpoch !== hostEpoch) {
      // What was shown may be more than a Host kept that was killed.
      join.fail(
        new SessionError("host_unavailable", "The Host was restarted meanwhile; load the Session again"),
      );
      if (this.#join === join) this.#join = undefined;
      return;
    }
    const joined = await join.run(
      this.#feed,
      subscription,
      join.mode === "load"
        ? this.#presentations.reshown(this.#live.byTurn, join.left)
        : this.#presentations.turnIds,
    );
    for (const { live, projection } of joined) {
      const presentation = this.present(foundTurn(live.run), {
        cut: live.cut,
        owner: "attachment",
        projection,
      });
      if (!this.#live.byTurn.has(live.run.turnId)) presentation.record({ type: "missing" });
    }
    // A load has shown everything but what others were still at; a resume leaves the past alone.
    this.unshown.clear(join.left);
    for (const { run: { turnId }, cut } of join.others) {
      if (!this.#live.byTurn.has(turnId)) this.unshown.add({ after: cut, through: this.#last, turnId });
    }
    join.finish();
    await join.released;
    if (this.#join === join) this.#join = undefined;
  }

  /** Takes one frame. A promise holds back what follows. */
  #frame(frame: Frame, subscription: Subscription): Promise<void> | undefined {
    switch (frame.type) {
      case "run":
        return this.#run(frame.live);
      case "run_ended":
        return this.#ended(frame);
      case "message":
      case "content":
      case "message_complete":
      case "message_reset":
      case "message_superseded":
      case "tool_start":
      case "tool_input":
      case "tool_output":
      case "tool_progress":
      case "tool_result":
      case "plan":
        return this.#turnFrame(frame, subscription);
      case "interaction_opened":
        return this.#question(frame.interaction);
      case "interaction_closed":
        return this.#dialogs.close(frame.interactionId, frame.reason) as undefined;
      case "call": {
        const { call } = frame;
        const presentation = this.#presentations.get(call.run.turnId);
        const served = presentation?.unwanted === undefined
          ? presentation !== undefined
          : isFreeing(call.method);
        if (served) this.#calls.run(call);
        else this.#calls.refuse(call);
        return undefined;
      }
      case "call_cancelled":
        return this.#calls.cancel(frame.callId) as undefined;
      case "transcript":
        this.#last = Math.max(this.#last, frame.last);
        return undefined;
      case "usage":
      case "commands":
      case "config":
      case "title":
        return this.bulletin.show(frame) as undefined;
      case "notice":
      case "compaction": {
        const { run } = frame;
        return run === undefined
          ? this.bulletin.show(frame) as undefined
          : this.#turnFrame({ ...frame, run }, subscription);
      }
      case "elicited":
        return this.#dialogs.completed(frame.elicitationId) as undefined;
      case "closed":
        return undefined;
    }
  }

  #run(live: LiveRun): undefined {
    const { turnId } = live.run;
    if (this.#over.has(turnId)) return;
    this.#live.put(live);
    this.unshown.know(turnId);
    let presentation = this.#presentations.get(turnId);
    // A background Run is shown by the connection that shows its parent.
    const mine = live.origin.kind === "engine" && live.presenter === this.#options.host.connectionId;
    if (presentation === undefined && mine && this.#join?.claims(turnId) !== true) {
      presentation = this.#presentations.of(live);
    }
    presentation?.record({ type: "observed", run: live.run });
    if (mine && this.#ending) presentation?.fence("cancel");
    this.#live.changed();
  }

  #ended(frame: Frame & { type: "run_ended" }): undefined {
    const { run, end, through } = frame;
    const live = this.#live.take(run.turnId);
    this.#last = Math.max(this.#last, through);
    if (this.#over.delete(run.turnId)) return;
    const presentation = this.#presentations.get(run.turnId);
    presentation?.sawEnd();
    if (presentation !== undefined) presentation.record({ type: "ended", run, end, through });
    // A Run that is not known any more was seen to end before.
    else if (live !== undefined) this.unshown.add({ after: live.cut, through, turnId: run.turnId });
    this.#live.changed();
  }

  #question(interaction: Interaction): undefined {
    const presentation = this.#presentations.wanted(interaction.run);
    if (presentation !== undefined) this.#dialogs.open(interaction, presentation);
  }

  #turnFrame(frame: Frame & { run: Run }, subscription: Subscription): Promise<void> | undefined {
    const presentation = this.#presentations.wanted(frame.run);
    if (presentation === undefined) return undefined;
    const step = presentation.projection.apply(frame, this.#options.clock.now());
    this.show(presentation, step);
    return step.gap && presentation.fault === undefined
      ? this.#catchUp(subscription, presentation)
      : undefined;
  }

  /** Reads what a Turn has in the transcript beyond what was shown of it. */
  #catchUp(subscription: Subscription, presentation: Presentation): Promise<void> {
    const { projection, turn, cut } = presentation;
    return this.#feed.readOn(
      subscription,
      { turnId: turn.turnId, after: cut, held: projection.held() },
      (row) => {
        if (presentation.unwanted !== undefined) return;
        this.show(presentation, projection.read(row, this.#options.clock.now()));
      },
    );
  }

  /** What follows from a change of a record: commands, the fence over dialogs and calls, the end of a Turn without a prompt. */
  #changed(presentation: Presentation): void {
    const { turnId } = presentation.turn;
    if (presentation.unwanted !== undefined) {
      this.#dialogs.closeAll("the Turn was stopped", turnId);
      this.#calls.fence(turnId);
    }
    this.#reconciler.reconcile(presentation);
    this.#live.changed();
    if (presentation.owner === "prompt" || !presentation.over || this.#settling.has(presentation)) return;
    // An answer that comes late finds a Turn that is done with.
    if (this.#presentations.get(turnId) !== presentation) return;
    // Until its end was shown it is on show, for a load too.
    this.#settling.add(presentation);
    this.#settle(presentation).finally(() => {
      this.#settling.delete(presentation);
      this.#leave(presentation);
    });
  }

  /** However it came to this, no card stays open. */
  #abandon(presentation: Presentation): void {
    if (presentation.owner !== "attachment") return;
    try {
      this.finish(presentation, { how: "interrupted" });
    } catch (error) {
      if (!(error instanceof ClientGone)) throw error;
    }
  }

  /** Done with a Turn that has ended, or never began. */
  #leave(presentation: Presentation): void {
    const { turnId, known } = presentation.turn;
    this.#presentations.delete(turnId);
    if (known.kind === "ended" && !presentation.endSeen) this.#over.add(turnId);
  }

  /** The end of a Turn that no prompt waits for. */
  async #settle(presentation: Presentation): Promise<void> {
    const { projection, cut, turn: { turnId, known } } = presentation;
    const { clock, log } = this.#options;
    try {
      if (known.kind !== "ended") return;
      if (presentation.owner === "later") {
        return this.unshown.add({ after: cut, through: known.through, turnId });
      }
      projection.apply({ type: "run_ended", ...known }, clock.now());
      if (presentation.unwanted === undefined) {
        await this.#feed.read(
          () => ({ turnId, after: cut, through: known.through, held: projection.held() }),
          (row) => this.show(presentation, projection.read(row, clock.now())),
          this.#feed.signal,
        );
      }
      if (presentation.owner === "attachment") {
        this.finish(presentation, known.end);
      }
    } catch (error) {
      if (!this.#feed.signal.aborted) {
        log.warn("the end of a Turn could not be shown", { turnId, reason: String(error) });
        this.#abandon(presentation);
      }
    } finally {
      this.#calls.end(turnId);
    }
  }
}
