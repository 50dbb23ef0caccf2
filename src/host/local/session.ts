import type { Clock, Ids } from "../../model/clock.ts";
import type { Engine } from "../../engine/contract.ts";
import type { Log } from "../../model/log.ts";
import type { Snapshot } from "../../model/frame.ts";
import type { Limits } from "../../limits.ts";
import type { ClientServices, McpServer, SessionInfo, Subscription } from "../contract.ts";
import type { SessionState, SessionStore } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import { Calls } from "./calls.ts";
import { Fanout } from "./fanout.ts";
import { Grants } from "./grants.ts";
import { Journal } from "./journal.ts";
import { Mailbox } from "./mailbox.ts";
import { mcpDigest } from "./mcp.ts";
import type { OperationGives, OperationHandlers, OperationName, OperationOf } from "./operations.ts";
import type { Pace } from "./pace.ts";
import { Patience } from "./patience.ts";
import { Questions } from "./questions.ts";
import { TranscriptReader } from "./reader.ts";
import { Settings } from "./settings.ts";
import { LocalSubscription } from "./subscription.ts";
import { engineGround } from "./ground.ts";
import { Supervisor } from "./supervisor.ts";
import { Turns } from "./turns.ts";
import { Uploads } from "./uploads.ts";

/** What all Sessions of a Host share. */
export interface HostParts {
  readonly storeId: string;
  readonly hostEpoch: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: Limits;
  readonly pace: Pace;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
  /** Tells those who watch lists. */
  readonly announce: (info: SessionInfo) => void;
}

/** How a {@linkcode Session} is made. */
export interface SessionOptions extends HostParts {
  readonly store: SessionStore;
  readonly state: SessionState;
  /** Absent where the agent of the Session is not configured: its history is there all the same. */
  readonly engine: Engine | undefined;
  /** Called when the Session takes no more requests; it lets go of its store then. */
  readonly leaving: () => void;
}

/**
 * One Session that this process holds: the actor that its operations go through. It lives while a connection uses it or a Run is
 * live, then it lets go of its store.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #store: SessionStore;
  readonly #fanout = new Fanout();
  readonly #journal: Journal;
  readonly #settings: Settings;
  readonly #reader: TranscriptReader;
  readonly #grants: Grants;
  readonly #questions: Questions;
  readonly #calls: Calls;
  readonly #uploads: Uploads;
  readonly #supervisor: Supervisor;
  readonly #turns: Turns;
  readonly #handlers: OperationHandlers;
  readonly #mailbox = new Mailbox(() => this.#rest());
  /** Connections that use it, with what their Clients offer where they opened a Subscription. */
  readonly #users = new Map<string, ClientServices | undefined>();
  #mcpServers: readonly McpServer[] = [];
  readonly #gone = Promise.withResolvers<void>();
  #state: "serving" | "leaving" = "serving";

  constructor(options: SessionOptions) {
    const { store, state, clock, limits, ids, log, date } = options;
    this.#options = options;
    this.#store = store;
    const fanout = this.#fanout;
    const journal = this.#journal = new Journal({
      store,
      clock,
      limits,
      last: state.last,
      watermark: state.watermark,
      info: () => this.#settings.info,
      events: {
        advanced: (watermark, last) => fanout.publish({ type: "transcript", watermark, last }, 0),
        failed: (error) => {
          log.error("Saving failed", { sessionId: store.sessionId, error: error.message });
          this.#report("unsaved", { error });
        },
      },
    });
    const settings = this.#settings = new Settings(state.info, { ...options, journal, fanout });
    this.#reader = new TranscriptReader(store, journal);
    this.#grants = new Grants(state.grants, { journal, ids, date });
    const counted = (run: Parameters<Turns["announce"]>[0]) => this.#turns.announce(run);
    const questions = this.#questions = new Questions({
      ...options,
      journal,
      fanout,
      grants: this.#grants,
      counted,
    });
    const services = (connectionId: string) => this.#users.get(connectionId);
    const calls = this.#calls = new Calls({ fanout, prefix: ids.next(), services });
    const uploads = this.#uploads = new Uploads({ files: store.artifacts, journal, ids, limits });
    const ground = engineGround({
      settings,
      uploads,
      journal,
      limits,
      restored: state.engineState,
      mcpServers: () => this.#mcpServers,
      configured: (wanted) => this.#ask("engineOptions", { options: wanted }),
    });
    const supervisor = this.#supervisor = new Supervisor({
      engine: options.engine,
      sessionId: store.sessionId,
      ground,
      clock,
      log,
      closeMs: limits.drainMs,
    });
    this.#turns = new Turns({
      ...options,
      journal,
      fanout,
      settings,
      uploads,
      questions,
      calls,
      supervisor,
      services,
      stored: (seq, offset, length) => store.body(seq, offset, length),
      sink: {
        journal,
        pace: options.pace,
        patience: new Patience(fanout, clock, limits.patienceMs),
        log,
        usage: (usage) => settings.usage(usage),
        ask: (run, question) => questions.ask(run, question),
        call: (run, method, params, signal) => calls.call(run, method, params, signal),
        background: (parent, work) => this.#ask("runBeside", { parent, work }),
      },
      events: {
        settled: (run, end) => this.#report("runSettled", { run, end }),
        overdue: (run) => this.#report("runOverdue", { run }),
      },
    });
    this.#handlers = this.#handle();
  }

  /** The listing entry as it is now, what is not saved yet included. */
  get info(): SessionInfo {
    return this.#settings.info;
  }

  /** Resolves when the Session has let go of its store. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Puts an operation into the mailbox. Undefined where the Session is on its way out: ask again once it is gone. */
  ask<N extends OperationName>(name: N, of: OperationOf<N>): Promise<OperationGives<N>> | undefined {
    if (this.#state === "leaving") return undefined;
    return this.#ask(name, of);
  }

  #ask<N extends OperationName>(name: N, of: OperationOf<N>): Promise<OperationGives<N>> {
    return this.#mailbox.post<OperationGives<N>>(() => {
      if (this.#state === "leaving") {
        throw new HostError("not_found", `The Session "${this.#store.sessionId}" is gone`);
      }
      return this.#handlers[name](of);
    });
  }

  /** Puts what happened inside into the mailbox; nobody waits for it. */
  #report<N extends OperationName>(name: N, of: OperationOf<N>): void {
    this.#ask(name, of).catch((error) => {
      if (this.#state === "serving") {
        this.#options.log.error("A Session failed inside", { what: name, error: String(error) });
      }
    });
  }

  #handle(): OperationHandlers {
    const turns = this.#turns;
    const uploads = this.#uploads;
    return {
      keep: ({ connectionId, mcpServers }) => {
        this.#use(connectionId);
        this.#mcpServers = mcpServers;
        if (mcpServers.length > 0) this.#journal.note({ op: "mcp", digest: this.#mcpDigest(mcpServers) });
        return this.info;
      },
      bind: ({ connectionId, roots, mcpServers }) => this.#bind(connectionId, roots, mcpServers),
      configure: async ({ connectionId, ...request }) => {
        this.#use(connectionId);
        const outcome = await this.#settings.configure(request);
        if (outcome === "changed") this.#tellEngine();
        return this.info.config;
      },
      open: ({ connectionId, services }) => this.#open(connectionId, services),
      release: ({ connectionId }) => this.#release(connectionId),
      remove: () => this.#remove(),

      start: ({ connectionId, turnId, input }) => {
        this.#use(connectionId);
        return turns.start(connectionId, turnId, input);
      },
      query: ({ turnId, settle }) => turns.query(turnId, settle),
      stop: ({ connectionId, run }) => turns.stop(connectionId, run),
      steer: ({ run, steerId, input }) => turns.steer(run, steerId, input),
      adopt: ({ connectionId, run }) => {
        turns.adopt(connectionId, run);
        this.#use(connectionId);
      },

      interaction: ({ interactionId }) => this.#questions.query(interactionId),
      answer: ({ connectionId, interactionId, answer }) =>
        this.#questions.answer(connectionId, interactionId, answer),
      settleCall: ({ connectionId, callId, result }) => this.#calls.settle(connectionId, callId, result),
      failCall: ({ connectionId, callId, code, message }) =>
        this.#calls.fail(connectionId, callId, code, message),

      beginUpload: ({ connectionId, uploadId, name, mimeType }) => {
        this.#use(connectionId);
        return uploads.begin(connectionId, uploadId, name, mimeType);
      },
      appendUpload: ({ uploadId, offset, bytes }) => uploads.append(uploadId, offset, bytes),
      commitUpload: ({ uploadId, size, sha256 }) => uploads.commit(uploadId, size, sha256),
      abortUpload: ({ uploadId }) => uploads.abort(uploadId),
      readArtifact: ({ artifactId, offset, length }) => uploads.read(artifactId, offset, length),
      artifacts: () => uploads.list(),
      grants: () => this.#grants.list(turns.live),
      revoke: ({ grantId }) => this.#grants.revoke(grantId, turns.live),

      runSettled: ({ run, end }) => turns.settled(run, end),
      runOverdue: ({ run }) => turns.overdue(run),
      runBeside: ({ parent, work }) => turns.background(parent, work),
      engineOptions: ({ options }) => this.#settings.replaceOptions(options),
      unsaved: ({ error }) => turns.unsaved(error),
      drain: async () => {
        await turns.interrupt();
        this.#fanout.end("draining");
        this.#users.clear();
      },
    };
  }

  async #bind(
    connectionId: string,
    roots: readonly string[],
    mcpServers: readonly McpServer[],
  ): Promise<SessionInfo> {
    const same = equal(roots, this.info.roots) && equal(mcpServers, this.#mcpServers);
    if (!same || mcpServers.length > 0) {
      await this.#settings.bind(roots, this.#mcpDigest(mcpServers));
    }
    this.#use(connectionId);
    this.#mcpServers = mcpServers;
    if (!same) this.#supervisor.outdate();
    return this.info;
  }

  #mcpDigest(servers: readonly McpServer[]): string {
    return mcpDigest({ storeId: this.#options.storeId, sessionId: this.#store.sessionId }, servers);
  }

  #tellEngine(): void {
    this.#supervisor.configure(this.info.config).then((taken) => {
      if (taken) return;
      const title = "The agent did not take the new settings";
      this.#fanout.publish({ type: "notice", severity: "warning", title }, title.length);
    });
  }

  #open(connectionId: string, services: ClientServices): Subscription {
    this.#users.set(connectionId, services);
    const subscription = new LocalSubscription({
      connectionId,
      snapshot: this.#snapshot(),
      reader: this.#reader,
      limits: this.#options.limits,
      ended: (self, lostCalls) => {
        this.#fanout.delete(self);
        this.#calls.lost(lostCalls);
      },
    });
    this.#fanout.add(subscription);
    return subscription;
  }

  #snapshot(): Snapshot {
    const { config, commands, title, usage } = this.info;
    const { storeId, hostEpoch } = this.#options;
    const { watermark, last } = this.#journal;
    return {
      storeId,
      hostEpoch,
      runs: this.#turns.runs(),
      config,
      commands,
      title,
      usage,
      interactions: this.#questions.open(),
      watermark,
      last,
      messages: this.#turns.messages(),
    };
  }

  #use(connectionId: string): void {
    if (!this.#users.has(connectionId)) this.#users.set(connectionId, undefined);
  }

  async #release(connectionId: string): Promise<void> {
    this.#users.delete(connectionId);
    this.#fanout.end("released", connectionId);
    this.#turns.unpresent(connectionId);
    await this.#uploads.drop(connectionId);
  }

  #remove(): void {
    this.#fanout.end("removed");
    this.#turns.abandon();
    this.#users.clear();
    this.#leave("forget");
  }

  /** Nothing waits in the mailbox. Without users and Runs the Session is let go. */
  #rest(): void {
    if (this.#state === "leaving" || this.#users.size > 0 || this.#turns.count > 0) return;
    this.#leave("save");
  }

  #leave(rest: "save" | "forget"): void {
    this.#state = "leaving";
    this.#gone.resolve(this.#letGo(rest));
    this.#options.leaving();
  }

  async #letGo(rest: "save" | "forget"): Promise<void> {
    const { log } = this.#options;
    await this.#supervisor.close();
    await this.#journal.close(rest);
    await this.#store.close().catch((error) =>
      log.error("Closing a Session failed", { error: String(error) })
    );
  }
}

function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
