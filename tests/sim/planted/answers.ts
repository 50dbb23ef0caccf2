import { type Planted, sessionsWith } from "./planted.ts";

/** How a careless Session layer answers prompts. */
export const ANSWERS: readonly Planted[] = [
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
];
