import type { Engine } from "../../engine/contract.ts";
import type { Snapshot } from "../../model/frame.ts";
import type { Meta } from "../../model/json.ts";
import type { ClientServices, McpServer, SessionInfo, Subscription } from "../contract.ts";
import type { SessionState, SessionStore } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import type { SessionActivity } from "./activity.ts";
import type { Binding } from "./ground.ts";
import { Mailbox } from "./mailbox.ts";
import { mcpDigest } from "./mcp.ts";
import type { OperationGives, OperationHandlers, OperationName, OperationOf } from "./operations.ts";
import { LocalSubscription } from "./subscription.ts";
import type { Inherited } from "./takeover.ts";
import { type HostParts, type SessionWorks, worksOf } from "./works.ts";

/** How a {@linkcode Session} is made. */
export interface SessionOptions extends HostParts {
  readonly store: SessionStore;
  readonly state: SessionState;
  /** Absent where the agent of the Session is not configured: its history is there all the same. */
  readonly engine: Engine | undefined;
  /** What the Engine has open already. */
  readonly inherited?: Inherited;
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
  readonly #works: SessionWorks;
  readonly #handlers: OperationHandlers;
  readonly #mailbox = new Mailbox(() => this.#rest());
  /** Connections that use it, with what their Clients offer where they opened a Subscription. */
  readonly #users = new Map<string, ClientServices | undefined>();
  /** What the connection that came last gave the Engine to work with. In memory only. */
  #binding: Binding = { mcpServers: [] };
  readonly #gone = Promise.withResolvers<void>();
  #state: "serving" | "leaving" | "removed" = "serving";

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#works = worksOf({
      ...options,
      services: (connectionId) => this.#users.get(connectionId),
      binding: () => this.#binding,
      ask: (name, of) => this.#ask(name, of),
      report: (name, of) => this.#report(name, of),
    });
    this.#handlers = this.#handle();
  }

  /** The listing entry as it is now, what is not saved yet included. */
  get info(): SessionInfo {
    return this.#works.settings.info;
  }

  /** The connection that presents its foreground Run, else the one that began to use it last. */
  get viewer(): string | undefined {
    for (const run of this.#works.turns.live) {
      if (run.foreground && run.presenter !== undefined) return run.presenter;
    }
    return [...this.#users.keys()].at(-1);
  }

  /** What goes on in it. */
  get activity(): SessionActivity {
    return { info: this.info, connections: this.#users.size, runs: this.#works.turns.runs() };
  }

  /** Resolves when the Session has let go of its store. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Puts an operation into the mailbox. Undefined where the Session is on its way out: ask again once it is gone. */
  ask<N extends OperationName>(name: N, of: OperationOf<N>): Promise<OperationGives<N>> | undefined {
    return this.#state === "serving" ? this.#ask(name, of) : undefined;
  }

  #ask<N extends OperationName>(name: N, of: OperationOf<N>): Promise<OperationGives<N>> {
    return this.#mailbox.post<OperationGives<N>>(() => {
      if (this.#state === "serving") return this.#handlers[name](of);
      const what = `The Session "${this.#store.sessionId}"`;
      throw this.#state === "removed"
        ? new HostError("not_found", `${what} was removed`)
        : new HostError("unavailable", `${what} is being closed: try again`, { dispatch: "not_sent" });
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
    const turns = this.#works.turns;
    const uploads = this.#works.uploads;
    return {
      extend: ({ connectionId, ask }) => {
        this.#use(connectionId);
        const answer = this.#works.supervisor.session().then((session) => ask(session.extensions));
        // Whoever asked looks at it a moment later.
        answer.catch(() => {});
        return { answer };
      },
      keep: ({ connectionId, mcpServers, meta }) => {
        this.#use(connectionId);
        this.#binding = { mcpServers, meta };
        if (mcpServers.length > 0) {
          this.#works.journal.note({ op: "mcp", digest: this.#mcpDigest(mcpServers) });
        }
        return this.info;
      },
      bind: ({ connectionId, ...request }) => this.#bind(connectionId, request),
      configure: async ({ connectionId, meta, ...request }) => {
        this.#use(connectionId);
        const outcome = await this.#works.settings.configure(request);
        if (outcome === "changed") this.#tellEngine(meta);
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

      interaction: ({ interactionId }) => this.#works.questions.query(interactionId),
      answer: ({ connectionId, interactionId, answer }) =>
        this.#works.questions.answer(connectionId, interactionId, answer),
      settleCall: ({ connectionId, callId, result }) =>
        this.#works.calls.settle(connectionId, callId, result),
      failCall: ({ connectionId, callId, code, message }) =>
        this.#works.calls.fail(connectionId, callId, code, message),

      beginUpload: ({ connectionId, uploadId, name, mimeType }) => {
        this.#use(connectionId);
        return uploads.begin(connectionId, uploadId, name, mimeType);
      },
      appendUpload: ({ uploadId, offset, bytes }) => uploads.append(uploadId, offset, bytes),
      commitUpload: ({ uploadId, size, sha256 }) => uploads.commit(uploadId, size, sha256),
      abortUpload: ({ uploadId }) => uploads.abort(uploadId),
      readArtifact: ({ artifactId, offset, length }) => uploads.read(artifactId, offset, length),
      artifacts: () => uploads.list(),
      grants: () => this.#works.grants.list(turns.live),
      revoke: ({ grantId }) => this.#works.grants.revoke(grantId, turns.live),

      runSettled: ({ run, end }) => turns.settled(run, end),
      runOverdue: ({ run }) => turns.overdue(run),
      runBeside: ({ parent, work }) => turns.background(parent, work),
      runLate: ({ work }) => turns.late(work),
      engineOptions: ({ options, metas }) => this.#works.settings.replaceOptions(options, metas),
      unsaved: ({ error }) => turns.unsaved(error),
      drain: async () => {
        await turns.interrupt();
        this.#works.fanout.end("draining");
        this.#leave("leaving");
      },
    };
  }

  async #bind(
    connectionId: string,
    { roots, mcpServers, meta = this.#binding.meta }: Required<Pick<SessionInfo, "roots">> & Binding,
  ): Promise<SessionInfo> {
    const same = equal(roots, this.info.roots) && equal(mcpServers, this.#binding.mcpServers);
    if (!same || mcpServers.length > 0) {
      await this.#works.settings.bind(roots, this.#mcpDigest(mcpServers));
    }
    this.#use(connectionId);
    this.#binding = { mcpServers, meta };
    if (!same) this.#works.supervisor.outdate();
    return this.info;
  }

  #mcpDigest(servers: readonly McpServer[]): string {
    return mcpDigest({ storeId: this.#options.storeId, sessionId: this.#store.sessionId }, servers);
  }

  #tellEngine(meta: Meta | undefined): void {
    this.#works.supervisor.configure(this.info.config, meta).then((taken) => {
      if (taken) return;
      const title = "The agent did not take the new settings";
      this.#works.fanout.publish({ type: "notice", severity: "warning", title }, title.length);
    });
  }

  #open(connectionId: string, services: ClientServices): Subscription {
    this.#users.set(connectionId, services);
    const subscription = new LocalSubscription({
      connectionId,
      snapshot: this.#snapshot(),
      reader: this.#works.reader,
      limits: this.#options.limits,
      ended: (self, lostCalls) => {
        this.#works.fanout.delete(self);
        this.#works.calls.lost(lostCalls);
      },
    });
    this.#works.fanout.add(subscription);
    return subscription;
  }

  #snapshot(): Snapshot {
    const { config, commands, title, usage, metas } = this.info;
    const { storeId, hostEpoch } = this.#options;
    const { watermark, last } = this.#works.journal;
    return {
      storeId,
      hostEpoch,
      runs: this.#works.turns.runs(),
      config,
      commands,
      title,
      usage,
      metas,
      interactions: this.#works.questions.open(),
      watermark,
      last,
      messages: this.#works.turns.messages(),
    };
  }

  #use(connectionId: string): void {
    if (!this.#users.has(connectionId)) this.#users.set(connectionId, undefined);
  }

  async #release(connectionId: string): Promise<void> {
    this.#users.delete(connectionId);
    this.#works.fanout.end("released", connectionId);
    this.#works.turns.unpresent(connectionId);
    await this.#works.uploads.drop(connectionId);
  }

  #remove(): void {
    this.#works.fanout.end("removed");
    this.#works.turns.abandon();
    this.#leave("removed");
  }

  /** Nothing waits in the mailbox. Without users and Runs the Session is let go. */
  #rest(): void {
    if (this.#state !== "serving" || this.#users.size > 0 || this.#works.turns.count > 0) return;
    this.#leave("leaving");
  }

  #leave(how: "leaving" | "removed"): void {
    this.#state = how;
    this.#gone.resolve(this.#letGo(how === "removed" ? "forget" : "save"));
    this.#options.leaving();
  }

  async #letGo(rest: "save" | "forget"): Promise<void> {
    const { log } = this.#options;
    await this.#works.supervisor.close();
    await this.#works.journal.close(rest);
    await this.#store.close().catch((error) =>
      log.error("Closing a Session failed", { error: String(error) })
    );
  }
}

function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
