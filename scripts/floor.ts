/**
 * The floor that Gangway is measured against: the thinnest agent on the same SDK, with a writer that gathers what is queued.
 * A prompt whose text is `/emit COUNT BYTES` streams that many chunks of that size, each awaited; `/tick COUNT MS` streams that many
 * so far apart, each of them the moment at which it left, in milliseconds; other text is answered with nothing.
 *
 * Usage: `deno run scripts/floor.ts`
 */
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";
import { gathering } from "./bench/gathering.ts";

const running = new Map<string, AbortController>();
let sessions = 0;

const connection = agent({ name: "floor" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const cancel = new AbortController();
    running.set(sessionId, cancel);
    const first = prompt[0];
    const [, step, count, size] = /^\/(emit|tick) (\d+) (\d+)/.exec(
      first?.type === "text" ? first.text : "",
    ) ?? [];
    const filling = "x".repeat(step === "emit" ? Number(size) : 0);
    for (let sent = 0; sent < Number(count ?? 0) && !cancel.signal.aborted; sent++) {
      if (step === "tick") await new Promise((resolve) => setTimeout(resolve, Number(size)));
      const text = step === "tick" ? `${performance.timeOrigin + performance.now()} ` : filling;
      await client.notify("session/update", {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId: "1" },
      });
    }
    running.delete(sessionId);
    return { stopReason: cancel.signal.aborted ? "cancelled" : "end_turn" };
  })
  .onRequest("session/new", () => ({ sessionId: `floor-${++sessions}` }))
  .onNotification("session/cancel", ({ params }) => running.get(params.sessionId)?.abort())
  .connect(ndJsonStream(gathering(Deno.stdout.writable), Deno.stdin.readable));

await connection.closed;
