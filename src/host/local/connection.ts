import type {
  ClientServices,
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
  SessionInfo,
} from "../contract.ts";
import type { ExtensionAnswer, ExtensionEvent, ExtensionMessage } from "../../model/extension.ts";
import type { ExtensionInlet } from "../../engine/contract.ts";
import type { Extensions } from "./extensions.ts";
import type { Meta } from "../../model/json.ts";
import type { Run } from "../../model/run.ts";
import { HostError, replyOf } from "../errors.ts";
import { checkId } from "./names.ts";
import type { Catalogue } from "./catalogue.ts";
import type { OperationGives, OperationName, OperationOf } from "./operations.ts";
import type { Registry } from "./registry.ts";
import { encodedLength } from "./tool_fit.ts";
import type { Watchers } from "./watch.ts";

/** What a {@linkcode LocalConnection} works with. */
export interface ConnectionParts {
  /** Opens the store if need be. */
  readonly registry: () => Promise<Registry>;
  /** The registry where something has opened it. Never rejects. */
  readonly opened: () => Promise<Registry | undefined>;
  readonly catalogue: Catalogue;
  /** The Engine whose own Sessions are listed. */
  readonly engineId: string;
  readonly watchers: Watchers;
  /** What goes beyond the contract, loaded when it is first needed. */
  readonly extensions: () => Promise<Extensions>;
  readonly listPage: number;
  /** UTF-16 units of encoded `_meta` that pass through. */
  readonly metaLength: number;
  /** Called once, when the connection is closed. */
  readonly closed: (self: LocalConnection) => void;
}

/** One connection to the embedded Host: checks what it is asked and hands it to the Session. */
export class LocalConnection implements RuntimeHost {
  readonly connectionId: string;
  readonly sessions: HostSessions;
  readonly turns: HostTurns;
  readonly interactions: HostInteractions;
  readonly calls: HostCalls;
  readonly artifacts: HostArtifacts;
  readonly grants: HostGrants;
  readonly extensions: HostExtensions;
  readonly #parts: ConnectionParts;
  readonly #open = new AbortController();
  /** What its Client offers, once that is known. */
  #client: ClientServices | undefined;

  constructor(connectionId: string, parts: ConnectionParts) {
    this.connectionId = connectionId;
    this.#parts = parts;
    this.sessions = this.#sessions();
    this.turns = this.#turns();
    this.interactions = {
      query: ({ sessionId, interactionId }) =>
        this.#ask(sessionId, "interaction", { interactionId }, ["interaction", interactionId]),
      answer: ({ sessionId, interactionId, answer }) =>
        this.#ask(sessionId, "answer", { connectionId, interactionId, answer }, [
          "interaction",
          interactionId,
        ]),
    };
    this.calls = {
      settle: ({ sessionId, callId, result }) =>
        this.#ask(sessionId, "settleCall", { connectionId, callId, result }, ["call", callId]),
      fail: ({ sessionId, callId, code, message }) =>
        this.#ask(sessionId, "failCall", { connectionId, callId, code, message }, ["call", callId]),
    };
    this.artifacts = this.#artifacts();
    this.grants = {
      list: (sessionId) => this.#ask(sessionId, "grants", {}),
      revoke: ({ sessionId, grantId }) => this.#ask(sessionId, "revoke", { grantId }, ["grant", grantId]),
    };
    this.extensions = this.#extensions();
  }

  describe(engineId?: string): EngineProfile {
    return this.#parts.catalogue.engine(engineId).profile;
  }

  watch(signal: AbortSignal): AsyncIterable<SessionChange> {
    return this.#parts.watchers.watch(AbortSignal.any([signal, this.#open.signal]));
  }

  async close(): Promise<void> {
    if (this.#open.signal.aborted) return;
    this.#open.abort();
    this.#parts.closed(this);
    // Nothing is opened only to be let go of.
    const registry = await this.#parts.opened();
    await registry?.releaseAll(this.connectionId);
  }

  #sessions(): HostSessions {
    const { connectionId } = this;
    return {
      create: (request) =>
        replyOf(async () => {
          const { sessionId, mcpServers } = request;
          const meta = this.#bounded(request.meta);
          this.#check(["Session", sessionId]);
          const info = this.#parts.catalogue.sessionOf(request);
          const registry = await this.#parts.registry();
          await registry.create(info);
          this.#parts.watchers.announce({ type: "changed", info });
          return await this.#through(registry, sessionId, "keep", { connectionId, mcpServers, meta });
        }),
      get: async (sessionId) => {
        this.#check(["Session", sessionId]);
        const info = await (await this.#parts.registry()).find(
          this.#parts.engineId,
          sessionId,
          this.#client,
        );
        if (info !== undefined) return info;
        throw new HostError("not_found", `There is no Session "${sessionId}"`, { data: { sessionId } });
      },
      list: async ({ cwd, cursor, limit }) => {
        this.#check();
        const registry = await this.#parts.registry();
        const most = this.#parts.listPage;
        return await registry.list(this.#parts.engineId, {
          cwd,
          cursor,
          limit: Math.max(1, Math.min(limit ?? most, most)),
          client: this.#client,
        });
      },
      remove: async (sessionId) => {
        this.#check(["Session", sessionId]);
        await (await this.#parts.registry()).remove(this.#parts.engineId, sessionId);
        this.#parts.watchers.announce({ type: "removed", sessionId });
      },
      bind: (request) => this.#bind(request),
      configure: ({ sessionId, expectedRevision, changeId, changes, meta }) =>
        this.#ask(
          sessionId,
          "configure",
          { connectionId, expectedRevision, changeId, changes, meta: this.#bounded(meta) },
          ["change", changeId],
        ),
      open: (sessionId, services) => {
        this.#client = services;
        return this.#ask(sessionId, "open", { connectionId, services });
      },
      release: async (sessionId) => {
        this.#check(["Session", sessionId]);
        await (await this.#parts.registry()).release(sessionId, connectionId);
      },
    };
  }

  #turns(): HostTurns {
    const { connectionId } = this;
    return {
      start: ({ sessionId, turnId, input }) =>
        replyOf(() => this.#ask(sessionId, "start", { connectionId, turnId, input }, ["Turn", turnId])),
      query: ({ sessionId, turnId, settle }) =>
        this.#ask(sessionId, "query", { turnId, settle }, ["Turn", turnId]),
      stop: ({ sessionId, run }) => this.#ask(sessionId, "stop", { connectionId, run }, ...idsOf(run)),
      steer: async ({ sessionId, run, steerId, input }) => {
        const asked = { run, steerId, input };
        await (await this.#ask(sessionId, "steer", asked, ["steer", steerId], ...idsOf(run))).taken;
      },
      adopt: ({ sessionId, run }) => this.#ask(sessionId, "adopt", { connectionId, run }, ...idsOf(run)),
    };
  }

  #artifacts(): HostArtifacts {
    const { connectionId } = this;
    return {
      begin: ({ sessionId, uploadId, name, mimeType }) =>
        this.#ask(sessionId, "beginUpload", { connectionId, uploadId, name, mimeType }, ["upload", uploadId]),
      append: ({ sessionId, uploadId, offset, bytes }) =>
        this.#ask(sessionId, "appendUpload", { uploadId, offset, bytes }, ["upload", uploadId]),
      commit: ({ sessionId, uploadId, size, sha256 }) =>
        this.#ask(sessionId, "commitUpload", { uploadId, size, sha256 }, ["upload", uploadId]),
      abort: ({ sessionId, uploadId }) =>
        this.#ask(sessionId, "abortUpload", { uploadId }, ["upload", uploadId]),
      read: ({ sessionId, artifactId, offset, length }) =>
        this.#ask(sessionId, "readArtifact", { artifactId, offset, length }, ["Artifact", artifactId]),
      list: (sessionId) => this.#ask(sessionId, "artifacts", {}),
    };
  }

  #extensions(): HostExtensions {
    const { connectionId } = this;
    const { extensions } = this.#parts;
    return {
      listen: (client, signal) => {
        this.#client = client;
        const heard = extensions().then((all) =>
          all.listen(connectionId, client, AbortSignal.any([signal, this.#open.signal]))
        );
        return relayed(heard);
      },
      call: async (message, signal) => {
        const all = await extensions();
        const until = AbortSignal.any([signal, this.#open.signal]);
        return await this.#extend(message, (inlet) => all.call(connectionId, message, inlet, until));
      },
      notify: async (message) => {
        const all = await extensions();
        await this.#extend(message, (inlet) => all.notify(connectionId, message, inlet));
      },
      answer: async ({ callId, answer }) => {
        this.#check();
        (await extensions()).answer(connectionId, callId, answer);
      },
    };
  }

  /** Asks the Engine's Session that a message is about, else the Engine. */
  async #extend<T extends ExtensionAnswer | void>(
    { engineId, sessionId }: ExtensionMessage,
    ask: (inlet: ExtensionInlet | undefined) => Promise<T>,
  ): Promise<T> {
    try {
      if (sessionId === undefined) {
        this.#check();
        return await ask(this.#parts.catalogue.engine(engineId).extensions);
      }
      const asked = Promise.withResolvers<T>();
      const { connectionId } = this;
      const settled = (inlet: ExtensionInlet | undefined) => {
        const answer = ask(inlet);
        asked.resolve(answer);
        return answer;
      };
      const { answer } = await this.#ask(sessionId, "extend", { connectionId, ask: settled });
      await answer;
      return await asked.promise;
    } catch (cause) {
      if (cause instanceof HostError) throw cause;
      // An Engine says in a sentence why it cannot be asked.
      const sentence = cause instanceof Error ? cause.message : "The agent did not answer";
      throw new HostError("unavailable", sentence, { cause });
    }
  }

  /** What passes through unread, where it is small enough. */
  #bounded(meta: Meta | undefined): Meta | undefined {
    return encodedLength(meta) <= this.#parts.metaLength ? meta : undefined;
  }

  /** Binds a Session; one that only the Engine of new Sessions has is taken over first. */
  async #bind(request: BindSession): Promise<SessionInfo> {
    const { connectionId } = this;
    const { sessionId, roots, mcpServers } = request;
    const meta = this.#bounded(request.meta);
    const bind = () => this.#ask(sessionId, "bind", { connectionId, roots, mcpServers, meta });
    try {
      return await bind();
    } catch (error) {
      if (!(error instanceof HostError && error.code === "not_found")) throw error;
      const registry = await this.#parts.registry();
      const taker = { connectionId, roots, mcpServers, meta, client: this.#client };
      try {
        if (!await registry.adopt(this.#parts.engineId, sessionId, taker)) throw error;
      } finally {
        // As with everything that a connection took which is closed by now.
        if (this.#open.signal.aborted) await registry.release(sessionId, connectionId);
      }
      return await bind();
    }
  }

  /** Checks all ids, then asks the Session. */
  async #ask<N extends OperationName>(
    sessionId: string,
    name: N,
    of: OperationOf<N>,
    ...ids: readonly NamedId[]
  ): Promise<OperationGives<N>> {
    this.#check(["Session", sessionId], ...ids);
    return await this.#through(await this.#parts.registry(), sessionId, name, of);
  }

  async #through<N extends OperationName>(
    registry: Registry,
    sessionId: string,
    name: N,
    of: OperationOf<N>,
  ): Promise<OperationGives<N>> {
    try {
      return await registry.ask(sessionId, name, of);
    } finally {
      // The connection was closed meanwhile: what this took for it is given back.
      if (this.#open.signal.aborted) await registry.release(sessionId, this.connectionId);
    }
  }

  #check(...ids: readonly NamedId[]): void {
    if (this.#open.signal.aborted) {
      throw new HostError("unavailable", "This connection to the Host is closed", { dispatch: "not_sent" });
    }
    for (const [what, id] of ids) checkId(what, id);
  }
}

async function* relayed(
  heard: Promise<AsyncIterable<ExtensionEvent>>,
): AsyncGenerator<ExtensionEvent> {
  yield* await heard;
}

type BindSession = Parameters<HostSessions["bind"]>[0];
type NamedId = readonly [what: string, id: string];

function idsOf(run: Run): NamedId[] {
  return [["Turn", run.turnId], ["Run", run.runId]];
}
