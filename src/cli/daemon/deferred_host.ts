import type {
  EngineProfile,
  HostArtifacts,
  HostCalls,
  HostExtensions,
  HostGrants,
  HostInteractions,
  HostSessions,
  HostTurns,
  RuntimeHost,
  SessionChange,
} from "../../host/contract.ts";
import { HostError, replyOf } from "../../host/errors.ts";
import { unknownExtension } from "../../model/extension.ts";

/** What a {@linkcode DeferredHost} works with. */
export interface DeferredHostOptions {
  readonly connectionId: string;
  /** What is known of Engines without a Host; undefined for those that only the Host may know. */
  readonly describe: (engineId?: string) => EngineProfile | undefined;
  /** Reaches the Host. Called by the first operation, and again by the next one after it failed. The signal aborts at the close. */
  readonly open: (signal: AbortSignal) => Promise<RuntimeHost>;
}

/** A Host that is reached when it is first needed: an editor's handshake does not wait for it. */
export class DeferredHost implements RuntimeHost {
  readonly connectionId: string;
  readonly sessions: HostSessions;
  readonly turns: HostTurns;
  readonly interactions: HostInteractions;
  readonly calls: HostCalls;
  readonly artifacts: HostArtifacts;
  readonly grants: HostGrants;
  readonly extensions: HostExtensions;
  readonly #options: DeferredHostOptions;
  readonly #closing = new AbortController();
  #opened: Promise<RuntimeHost> | undefined;
  #now: RuntimeHost | undefined;
  /** The Host, once it was reached. */
  readonly #reached = Promise.withResolvers<RuntimeHost>();

  /** Reaches nothing yet. */
  constructor(options: DeferredHostOptions) {
    this.#options = options;
    this.connectionId = options.connectionId;
    const host = () => this.#host();
    this.sessions = {
      create: (request) => this.#once((host) => host.sessions.create(request)),
      get: async (sessionId) => await (await host()).sessions.get(sessionId),
      list: async (request) => await (await host()).sessions.list(request),
      remove: async (sessionId) => await (await host()).sessions.remove(sessionId),
      bind: async (request) => await (await host()).sessions.bind(request),
      configure: async (request) => await (await host()).sessions.configure(request),
      open: async (sessionId, services) => await (await host()).sessions.open(sessionId, services),
      release: async (sessionId) => await (await host()).sessions.release(sessionId),
    };
    this.turns = {
      start: (request) => this.#once((host) => host.turns.start(request)),
      query: async (request) => await (await host()).turns.query(request),
      stop: async (request) => await (await host()).turns.stop(request),
      steer: async (request) => await (await host()).turns.steer(request),
      adopt: async (request) => await (await host()).turns.adopt(request),
    };
    this.interactions = {
      query: async (request) => await (await host()).interactions.query(request),
      answer: async (request) => await (await host()).interactions.answer(request),
    };
    this.calls = {
      settle: async (request) => await (await host()).calls.settle(request),
      fail: async (request) => await (await host()).calls.fail(request),
    };
    this.artifacts = {
      begin: async (request) => await (await host()).artifacts.begin(request),
      append: async (request) => await (await host()).artifacts.append(request),
      commit: async (request) => await (await host()).artifacts.commit(request),
      abort: async (request) => await (await host()).artifacts.abort(request),
      read: async (request) => await (await host()).artifacts.read(request),
      list: async (sessionId) => await (await host()).artifacts.list(sessionId),
    };
    this.grants = {
      list: async (sessionId) => await (await host()).grants.list(sessionId),
      revoke: async (request) => await (await host()).grants.revoke(request),
    };
    this.extensions = this.#extensions();
  }

  describe(engineId?: string): EngineProfile {
    const known = this.#options.describe(engineId);
    if (known !== undefined) return known;
    if (this.#now === undefined) throw new HostError("invalid", `There is no agent "${engineId}"`);
    try {
      return this.#now.describe(engineId);
    } catch (error) {
      if (engineId === undefined || !(error instanceof HostError)) throw error;
      // Another editor brought it after the Host welcomed us: what every agent takes, it takes too.
      return modest(engineId);
    }
  }

  async *watch(signal: AbortSignal): AsyncGenerator<SessionChange> {
    yield* (await this.#host()).watch(signal);
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    // Nothing is reached only to be let go of.
    const host = await this.#opened?.catch(() => undefined);
    await host?.close();
  }

  #host(): Promise<RuntimeHost> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<RuntimeHost> {
    try {
      const host = await this.#options.open(this.#closing.signal);
      this.#now = host;
      this.#reached.resolve(host);
      return host;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  #extensions(): HostExtensions {
    const reached = this.#reached.promise;
    return {
      // Whoever only listens reaches nothing.
      async *listen(client, signal) {
        const gone = new Promise<undefined>((resolve) => {
          if (signal.aborted) resolve(undefined);
          signal.addEventListener("abort", () => resolve(undefined), { once: true });
        });
        const host = await Promise.race([reached, gone]);
        if (host?.extensions !== undefined) yield* host.extensions.listen(client, signal);
      },
      call: async (message, signal) =>
        await (await this.#host()).extensions?.call(message, signal) ?? unknownExtension(message.method),
      notify: async (message) => await (await this.#host()).extensions?.notify(message),
      answer: async (request) => await (await this.#host()).extensions?.answer(request),
    };
  }

  /** A once operation: nothing of it was sent where no Host is reached. */
  async #once<T extends { readonly kind: string }>(
    operation: (host: RuntimeHost) => Promise<T>,
  ): Promise<T | Exclude<Awaited<ReturnType<typeof replyOf<never>>>, { kind: "done" }>> {
    const reached = await replyOf(() => this.#host());
    return reached.kind === "done" ? await operation(reached.value) : reached;
  }
}

function modest(engineId: string): EngineProfile {
  return {
    engineId,
    title: engineId,
    options: [],
    commands: [],
    prompt: { image: false, audio: false, embeddedContext: false },
    mcp: { http: false, sse: false },
    linkedDirectories: false,
    authMethods: [],
  };
}

function closed(): HostError {
  return new HostError("unavailable", "This connection to the Host is closed", { dispatch: "not_sent" });
}
