import type { EngineProfile, RuntimeHost, SessionChange } from "../../src/host/contract.ts";
import type {
  HostArtifacts,
  HostCalls,
  HostGrants,
  HostInteractions,
  HostSessions,
  HostTurns,
} from "../../src/host/contract.ts";
import { replyOf } from "../../src/host/errors.ts";
import type { Reply } from "../../src/host/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Run } from "../../src/model/run.ts";
import { FaultySubscription } from "./faulty_subscription.ts";
import { Link, type LinkParts } from "./link.ts";

/** A connection to the Host on which everything goes wrong that the contract allows for. Every operation is put on the tape. */
export class FaultyHost implements RuntimeHost {
  readonly connectionId: string;
  readonly sessions: HostSessions;
  readonly turns: HostTurns;
  readonly interactions: HostInteractions;
  readonly calls: HostCalls;
  readonly artifacts: HostArtifacts;
  readonly grants: HostGrants;
  readonly #link: Link;
  readonly #parts: LinkParts;
  /** Those that were handed out and not closed by their owner. */
  readonly #subscriptions = new Set<FaultySubscription>();

  constructor(parts: LinkParts) {
    this.connectionId = parts.connectionId;
    this.#parts = parts;
    const link = this.#link = new Link(parts);
    const key = <T>(
      name: string,
      sessionId: string,
      detail: JsonObject,
      deliver: (host: RuntimeHost) => Promise<T>,
    ) => link.send({ name, sessionId, detail, once: false }, deliver);
    const once = <T>(
      name: string,
      sessionId: string,
      detail: JsonObject,
      deliver: (host: RuntimeHost) => Promise<Reply<T>>,
    ) =>
      replyOf(() =>
        link.send({ name, sessionId, detail, once: true }, async (host) => {
          const reply = await deliver(host);
          if (reply.kind === "done") return reply.value;
          throw reply.error;
        })
      );
    this.sessions = {
      create: (of) => once("create", of.sessionId, {}, (host) => host.sessions.create(of)),
      get: (sessionId) => key("get", sessionId, {}, (host) => host.sessions.get(sessionId)),
      list: (of) => key("list", "", {}, (host) => host.sessions.list(of)),
      remove: (sessionId) => key("remove", sessionId, {}, (host) => host.sessions.remove(sessionId)),
      bind: (of) => key("bind", of.sessionId, {}, (host) => host.sessions.bind(of)),
      configure: (of) =>
        key("configure", of.sessionId, { changeId: of.changeId }, (host) => host.sessions.configure(of)),
      open: (sessionId, services) =>
        key("open", sessionId, {}, async (host) => {
          const real = await host.sessions.open(sessionId, services);
          return new FaultySubscription(real, sessionId, this.#parts, this.#link);
        }).then((subscription) => this.#hand(subscription)),
      release: (sessionId) => key("release", sessionId, {}, (host) => host.sessions.release(sessionId)),
    };
    this.turns = {
      start: (of) => {
        const [part] = of.input.parts;
        const text = part?.kind === "text" ? part.text : "";
        return once(
          "start",
          of.sessionId,
          { turnId: of.turnId, prompt: text },
          (host) => host.turns.start(of),
        );
      },
      query: (of) =>
        key("query", of.sessionId, { turnId: of.turnId, settle: of.settle }, (host) => host.turns.query(of)),
      stop: (of) => key("stop", of.sessionId, runDetail(of.run), (host) => host.turns.stop(of)),
      steer: (of) => key("steer", of.sessionId, runDetail(of.run), (host) => host.turns.steer(of)),
      adopt: (of) => key("adopt", of.sessionId, runDetail(of.run), (host) => host.turns.adopt(of)),
    };
    this.interactions = {
      query: (of) =>
        key(
          "interaction",
          of.sessionId,
          { interactionId: of.interactionId },
          (host) => host.interactions.query(of),
        ),
      answer: (of) =>
        key(
          "answer",
          of.sessionId,
          { interactionId: of.interactionId, answer: JSON.stringify(of.answer) },
          (host) => host.interactions.answer(of),
        ),
    };
    this.calls = {
      settle: (of) => key("settle", of.sessionId, { callId: of.callId }, (host) => host.calls.settle(of)),
      fail: (of) => key("fail", of.sessionId, { callId: of.callId }, (host) => host.calls.fail(of)),
    };
    const upload = (of: { uploadId: string }) => ({ uploadId: of.uploadId });
    this.artifacts = {
      begin: (of) => key("begin", of.sessionId, upload(of), (host) => host.artifacts.begin(of)),
      append: (of) => key("append", of.sessionId, upload(of), (host) => host.artifacts.append(of)),
      commit: (of) => key("commit", of.sessionId, upload(of), (host) => host.artifacts.commit(of)),
      abort: (of) => key("abort", of.sessionId, upload(of), (host) => host.artifacts.abort(of)),
      read: (of) =>
        key("readArtifact", of.sessionId, { artifactId: of.artifactId }, (host) => host.artifacts.read(of)),
      list: (sessionId) => key("artifacts", sessionId, {}, (host) => host.artifacts.list(sessionId)),
    };
    this.grants = {
      list: (sessionId) => key("grants", sessionId, {}, (host) => host.grants.list(sessionId)),
      revoke: (of) => key("revoke", of.sessionId, { grantId: of.grantId }, (host) => host.grants.revoke(of)),
    };
  }

  /** Sessions of the Subscriptions that their owner has not closed. */
  get open(): string[] {
    return [...this.#subscriptions].map((each) => each.sessionId);
  }

  describe(engineId?: string): EngineProfile {
    return this.#link.describe(engineId);
  }

  watch(signal: AbortSignal): AsyncIterable<SessionChange> {
    return this.#link.watch(signal);
  }

  close(): Promise<void> {
    return this.#link.send(
      { name: "closeConnection", sessionId: "", detail: {}, once: false },
      (host) => host.close(),
    );
  }

  #hand(subscription: FaultySubscription): FaultySubscription {
    this.#subscriptions.add(subscription);
    subscription.onClose = () => this.#subscriptions.delete(subscription);
    const { tape, connectionId: by } = this.#parts;
    tape.add({ kind: "snapshot", by, sessionId: subscription.sessionId, snapshot: subscription.snapshot });
    return subscription;
  }
}

function runDetail({ turnId, runId }: Run): JsonObject {
  return { turnId, runId };
}
