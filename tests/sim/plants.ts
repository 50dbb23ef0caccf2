import type { RuntimeHost, Subscription } from "../../src/host/contract.ts";
import type { Clock } from "../../src/model/clock.ts";
import type { FrameBatch } from "../../src/model/frame.ts";
import type { ClientPort } from "../../src/session/ports.ts";
import type { UserSessions } from "./sim_user.ts";
import type { Update } from "./tape.ts";
import type { Plant, World } from "./world.ts";

/** A fault that is planted to see that it is found. */
export interface Planted {
  /** What is wrong, as a sentence about the program. */
  readonly what: string;
  /** Acceptance ids of the rules that have to notice. */
  readonly ids: string;
  /** Rules of which one has to name it. */
  readonly rules: readonly string[];
  /** Makes it anew for each world. */
  readonly plant: () => Plant;
}

type Parts<K extends "sessions" | "turns" | "interactions"> = { readonly [P in K]?: Partial<RuntimeHost[P]> };

/** A Host of which some operations are others. */
function hostWith(host: RuntimeHost, parts: Parts<"sessions" | "turns" | "interactions">): RuntimeHost {
  return {
    connectionId: host.connectionId,
    describe: (engineId) => host.describe(engineId),
    sessions: { ...host.sessions, ...parts.sessions },
    turns: { ...host.turns, ...parts.turns },
    interactions: { ...host.interactions, ...parts.interactions },
    calls: host.calls,
    artifacts: host.artifacts,
    grants: host.grants,
    watch: (signal) => host.watch(signal),
    close: () => host.close(),
  };
}

/** A Client of which some members are others. */
function clientWith(client: ClientPort, parts: Partial<ClientPort>): ClientPort {
  return {
    abilities: client.abilities,
    update: (sessionId, update) => client.update(sessionId, update),
    room: () => client.room(),
    flushed: () => client.flushed(),
    request: (method, params, signal) => client.request(method, params, signal),
    ...parts,
  };
}

/** Sessions that answer prompts otherwise. */
function sessionsWith(sessions: UserSessions, parts: Partial<UserSessions>): UserSessions {
  return {
    create: (request) => sessions.create(request),
    list: (request) => sessions.list(request),
    load: (sessionId, place) => sessions.load(sessionId, place),
    resume: (sessionId, place) => sessions.resume(sessionId, place),
    remove: (sessionId) => sessions.remove(sessionId),
    prompt: (sessionId, draft, signal) => sessions.prompt(sessionId, draft, signal),
    cancel: (sessionId) => sessions.cancel(sessionId),
    configure: (sessionId, change) => sessions.configure(sessionId, change),
    close: (sessionId) => sessions.close(sessionId),
    announce: (sessionId) => sessions.announce(sessionId),
    shutdown: () => sessions.shutdown(),
    ...parts,
  };
}

/** A Subscription that hands on other batches, and closes otherwise. */
function subscriptionWith(
  subscription: Subscription,
  parts: { readonly next?: (batch: FrameBatch) => FrameBatch; readonly close?: () => Promise<void> },
): Subscription {
  return {
    snapshot: subscription.snapshot,
    next: async () => {
      const batch = await subscription.next();
      return parts.next?.(batch) ?? batch;
    },
    read: (request) => subscription.read(request),
    close: parts.close ?? (() => subscription.close()),
  };
}

/** Changes updates on their way to the Client. `send` sends more. */
function updates(change: (update: Update, send: (update: Update) => void, world: World) => boolean): Plant {
  return {
    client: (client, world) =>
      clientWith(client, {
        update: (sessionId, encoded) => {
          const update = JSON.parse(encoded) as Update;
          const send = (other: Update) => client.update(sessionId, JSON.stringify(other));
          if (change(update, send, world)) client.update(sessionId, encoded);
        },
      }),
  };
}

const text = ({ sessionUpdate }: Update) => sessionUpdate === "agent_message_chunk";

/** Faults of the Session layer as a careless change would make them, from outside. */
export const PLANTED: readonly Planted[] = [
  {
    what: "loses the end of a Run and does not notice",
    ids: "[P8] [R1]",
    rules: ["bounded"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          sessions: {
            open: async (sessionId, services) => {
              let lost = 0;
              const next = ({ first, frames }: FrameBatch): FrameBatch => {
                const left = frames.filter((frame) => frame.type !== "run_ended");
                const batch = { first: first - lost, frames: left };
                lost += frames.length - left.length;
                return batch;
              };
              return subscriptionWith(await host.sessions.open(sessionId, services), { next });
            },
          },
        }),
    }),
  },
  {
    what: "sends a start twice",
    ids: "[P2]",
    rules: ["start-once"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          turns: {
            start: (request) => {
              void host.turns.start(request);
              return host.turns.start(request);
            },
          },
        }),
    }),
  },
  {
    what: "starts again in doubt, under another id",
    ids: "[P2]",
    rules: ["start-once"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          turns: {
            start: async (request) => {
              const reply = await host.turns.start(request);
              return reply.kind === "unknown" ? { ...reply, kind: "not_sent" } : reply;
            },
          },
        }),
    }),
  },
  {
    what: "starts a Turn that nobody observes",
    ids: "[P1]",
    rules: ["observe-first"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          sessions: {
            create: async (request) => {
              const reply = await host.sessions.create(request);
              const { sessionId } = request;
              await host.turns.start({ sessionId, turnId: `${sessionId}x`, input: { parts: [] } });
              return reply;
            },
          },
        }),
    }),
  },
  {
    what: "stops a Run again after the Stop was acknowledged",
    ids: "[C2]",
    rules: ["stop-once"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          turns: {
            stop: async (request) => {
              await host.turns.stop(request);
              await host.turns.stop(request);
            },
          },
        }),
    }),
  },
  {
    what: "stops a Run that was never observed",
    ids: "[C2]",
    rules: ["stop-observed"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          turns: {
            stop: ({ sessionId, run }) => host.turns.stop({ sessionId, run: { ...run, runId: "h0" } }),
          },
        }),
    }),
  },
  {
    what: "opens a second Subscription beside the first",
    ids: "[R2] [S2]",
    rules: ["one-subscription", "rest"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          sessions: {
            open: async (sessionId, services) => {
              const close = () => Promise.resolve();
              return subscriptionWith(await host.sessions.open(sessionId, services), { close });
            },
          },
        }),
    }),
  },
  {
    what: "asks the Host about a Session that is not owned",
    ids: "[S4]",
    rules: ["owned"],
    plant: () => {
      let asked: RuntimeHost | undefined;
      return {
        host: (host) => asked = host,
        sessions: (sessions) =>
          sessionsWith(sessions, {
            prompt: async (sessionId, draft, signal) => {
              if (sessionId === "nobody") await asked?.sessions.get(sessionId).catch(() => {});
              return await sessions.prompt(sessionId, draft, signal);
            },
          }),
      };
    },
  },
  {
    what: "answers before the transport has flushed",
    ids: "[P3]",
    rules: ["flushed"],
    plant: () => ({ client: (client) => clientWith(client, { flushed: () => Promise.resolve() }) }),
  },
  {
    what: "lets a fenced Turn speak",
    ids: "[C5]",
    rules: ["fence"],
    plant: () => {
      let port: ClientPort | undefined;
      return {
        client: (client) => port = client,
        host: (host) =>
          hostWith(host, {
            turns: {
              stop: ({ sessionId, run }) => {
                const content = { type: "text", text: "more" };
                const messageId = `${run.turnId}.m1`;
                port?.update(
                  sessionId,
                  JSON.stringify({ sessionUpdate: "agent_message_chunk", messageId, content }),
                );
                return host.turns.stop({ sessionId, run });
              },
            },
          }),
      };
    },
  },
  {
    what: "shows text twice",
    ids: "[T1] [R1]",
    rules: ["prefix", "whole"],
    plant: () => {
      let count = 0;
      return updates((update, send) => {
        if (text(update) && ++count % 7 === 0) send(update);
        return true;
      });
    },
  },
  {
    what: "leaves text out",
    ids: "[T1] [P4]",
    rules: ["prefix", "whole"],
    plant: () => {
      let count = 0;
      return updates((update) => !text(update) || ++count % 7 !== 0);
    },
  },
  {
    what: "parts a surrogate pair",
    ids: "[T5]",
    rules: ["text"],
    plant: () =>
      updates((update, send) => {
        const { content } = update as { content?: { text?: string } };
        if (!text(update) || !content?.text?.includes("\ud83d")) return true;
        send({ ...update, content: { type: "text", text: content.text.replace("\ud83d", "") } });
        return false;
      }),
  },
  {
    what: "shows something of a prompt after its answer",
    ids: "[A9]",
    rules: ["belongs", "after-close"],
    plant: () => {
      let count = 0;
      return updates((update, send, world) => {
        if (!text(update) || ++count % 5 !== 0) return true;
        const late = world.clock.domain("late");
        late.sleep(4000).then(() => send(update)).catch(() => {});
        return false;
      });
    },
  },
  {
    what: "opens an ended card again",
    ids: "[K4]",
    rules: ["card-end"],
    plant: () =>
      updates((update, send) => {
        if (update.sessionUpdate !== "tool_call_update" || update.status !== "completed") return true;
        send(update);
        send({ sessionUpdate: "tool_call_update", toolCallId: update.toolCallId, status: "in_progress" });
        return false;
      }),
  },
  {
    what: "announces a tool twice",
    ids: "[K1]",
    rules: ["card-once"],
    plant: () =>
      updates((update, send) => {
        if (update.sessionUpdate === "tool_call") send(update);
        return true;
      }),
  },
  {
    what: "leaves a card open behind the answer",
    ids: "[K9]",
    rules: ["card-over", "whole"],
    plant: () =>
      updates((update) => update.sessionUpdate !== "tool_call_update" || update.status !== "failed"),
  },
  {
    what: "writes a line that is too long",
    ids: "[A1]",
    rules: ["line"],
    plant: () =>
      updates((update, send) => {
        if (update.sessionUpdate === "tool_call") send({ ...update, title: "x".repeat(50_000) });
        return update.sessionUpdate !== "tool_call";
      }),
  },
  {
    what: "leaves a dialog open behind the answer",
    ids: "[C4]",
    rules: ["dialog-over", "rest"],
    plant: () => ({
      client: (client) =>
        clientWith(client, {
          request: (method, params) => client.request(method, params, new AbortController().signal),
        }),
    }),
  },
  {
    what: "gives the Host an answer that nobody gave",
    ids: "[I3]",
    rules: ["answer"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          interactions: {
            answer: (request) =>
              host.interactions.answer({ ...request, answer: { kind: "option", optionId: "yes" } }),
          },
        }),
    }),
  },
  {
    what: "does not answer a prompt",
    ids: "[P6]",
    rules: ["bounded"],
    plant: () => {
      let count = 0;
      return {
        sessions: (sessions) =>
          sessionsWith(sessions, {
            prompt: (sessionId, draft, signal) => {
              const answer = sessions.prompt(sessionId, draft, signal);
              return ++count % 3 === 0 ? new Promise(() => {}) : answer;
            },
          }),
      };
    },
  },
  {
    what: "lets a prompt overtake another",
    ids: "[P6]",
    rules: ["order"],
    plant: () => ({
      sessions: (sessions, world) =>
        sessionsWith(sessions, {
          prompt: async (sessionId, draft, signal) => {
            const [part] = draft.parts;
            const odd = part?.kind === "text" && /[13579]$/.test(part.text);
            if (odd) await world.clock.domain("front").sleep(50);
            return await sessions.prompt(sessionId, draft, signal);
          },
        }),
    }),
  },
  {
    what: "takes its time to cancel",
    ids: "[C7]",
    rules: ["cancel-time"],
    plant: () => ({
      sessions: (sessions, world) =>
        sessionsWith(sessions, {
          prompt: async (sessionId, draft, signal) => {
            const answer = await sessions.prompt(sessionId, draft, signal);
            if (answer.stopReason === "cancelled") await world.clock.domain("front").sleep(1500);
            return answer;
          },
        }),
    }),
  },
  {
    what: "says that a prompt was cancelled which nobody cancelled",
    ids: "[C6]",
    rules: ["cancelled"],
    plant: () => ({
      sessions: (sessions) =>
        sessionsWith(sessions, {
          prompt: async (sessionId, draft, signal) => ({
            ...await sessions.prompt(sessionId, draft, signal),
            stopReason: "cancelled",
          }),
        }),
    }),
  },
  {
    what: "says that a failed Turn ended well",
    ids: "[P5]",
    rules: ["true-end"],
    plant: () => ({
      sessions: (sessions) =>
        sessionsWith(sessions, {
          prompt: async (sessionId, draft, signal) => {
            try {
              return await sessions.prompt(sessionId, draft, signal);
            } catch (error) {
              if (error instanceof Error && "code" in error && error.code === "turn_failed") {
                return { stopReason: "end_turn" };
              }
              throw error;
            }
          },
        }),
    }),
  },
  {
    what: "leaves a timer behind",
    ids: "[S3]",
    rules: ["rest"],
    plant: () => ({
      clock: (clock): Clock => ({
        now: () => clock.now(),
        turn: () => clock.turn(),
        sleep: (ms, signal) => {
          clock.sleep(60_000).catch(() => {});
          return clock.sleep(ms, signal);
        },
      }),
    }),
  },
  {
    what: "leaves a failure to nobody",
    ids: "[A8]",
    rules: ["unhandled"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          turns: {
            query: (request) => {
              void host.turns.query(request).then(() => Promise.reject(new Error("Nobody waits for this")));
              return host.turns.query(request);
            },
          },
        }),
    }),
  },
];
