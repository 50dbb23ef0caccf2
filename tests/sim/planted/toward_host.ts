import type { RuntimeHost } from "../../../src/host/contract.ts";
import type { Clock } from "../../../src/model/clock.ts";
import type { FrameBatch } from "../../../src/model/frame.ts";
import { hostWith, type Planted, sessionsWith, subscriptionWith } from "./planted.ts";

/** What a careless Session layer does to its Host. */
export const TOWARD_HOST: readonly Planted[] = [
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
