/**
 * The floor that Gangway is measured against: the thinnest agent on the same SDK, with a writer that gathers what is queued.
 * A prompt whose text is `/emit COUNT BYTES` streams that many chunks of that size, each awaited; other text is answered
 * with nothing.
 *
 * Usage: `deno run scripts/floor.ts`
 */
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";

/** Bytes that wait above which a write is not done before they have left. */
const HIGH_WATER = 256 * 1024;

/** Gathers the chunks of one turn into one write. */
function gathering(output: WritableStream<Uint8Array>): WritableStream<Uint8Array> {
  const writer = output.getWriter();
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    await Promise.resolve();
    while (chunks.length > 0) {
      const gathered = new Uint8Array(bytes);
      let at = 0;
      for (const chunk of chunks) {
        gathered.set(chunk, at);
        at += chunk.length;
      }
      chunks = [];
      bytes = 0;
      await writer.write(gathered);
    }
    flushing = undefined;
  }

  return new WritableStream({
    write(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      flushing ??= flush();
      return bytes > HIGH_WATER ? flushing : undefined;
    },
    close: async () => await flushing,
  });
}

const running = new Map<string, AbortController>();
let sessions = 0;

const connection = agent({ name: "floor" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const cancel = new AbortController();
    running.set(sessionId, cancel);
    const first = prompt[0];
    const [, count, bytes] = /^\/emit (\d+) (\d+)/.exec(first?.type === "text" ? first.text : "") ?? [];
    const text = "x".repeat(Number(bytes ?? 0));
    for (let sent = 0; sent < Number(count ?? 0) && !cancel.signal.aborted; sent++) {
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
