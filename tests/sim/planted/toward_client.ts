import type { ClientPort } from "../../../src/session/ports.ts";
import type { Update } from "../tape.ts";
import { clientWith, hostWith, type Planted, subscriptionWith, updates } from "./planted.ts";

const text = ({ sessionUpdate }: Update) => sessionUpdate === "agent_message_chunk";

/** What a careless Session layer shows and asks. */
export const TOWARD_CLIENT: readonly Planted[] = [
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
    what: "keeps what others did to itself",
    ids: "[H1] [P4]",
    rules: ["whole"],
    plant: () => ({
      host: (host) =>
        hostWith(host, {
          sessions: {
            open: async (sessionId, services) => {
              const subscription = await host.sessions.open(sessionId, services);
              return subscriptionWith(subscription, {
                read: async (request) => {
                  const page = await subscription.read(request);
                  const own = request.turnId?.startsWith(host.connectionId) ?? true;
                  return own ? page : { ...page, rows: [] };
                },
              });
            },
          },
        }),
    }),
  },
  {
    what: "forgets the terminals of an Engine",
    ids: "[K10]",
    rules: ["rest"],
    plant: () => ({
      client: (client) =>
        clientWith(client, {
          request: (method, params, signal) =>
            method === "terminal/release" ? Promise.resolve({}) : client.request(method, params, signal),
        }),
    }),
  },
];
