/**
 * The front on real stdin and stdout with fake Sessions behind it. A prompt says what to do: `/emit COUNT BYTES`, `/wait` until
 * it is cancelled, `/print` what a careless library prints.
 */
import { FakeHost, FakeSessions, NO_FILES, profile } from "./fakes.ts";
import type { Log } from "../../src/model/log.ts";
import { randomIds, systemClock } from "../../src/system.ts";
import type { SessionParts } from "../../src/acp/mod.ts";
import { serveStdio } from "../../src/acp/stdio.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

async function emit(
  { client }: SessionParts,
  sessionId: string,
  count: number,
  bytes: number,
): Promise<void> {
  const content = JSON.stringify({ type: "text", text: "x".repeat(bytes) });
  const update = `{"sessionUpdate":"agent_message_chunk","content":${content},"messageId":"1"}`;
  for (let sent = 0; sent < count; sent++) {
    client.update(sessionId, update);
    const room = client.room();
    if (room !== undefined) await room;
  }
}

function sessions(parts: SessionParts): FakeSessions {
  const made = new FakeSessions(parts);
  made.prompted = async (_, sessionId, draft, signal) => {
    const first = draft.parts[0];
    const [command, ...words] = (first?.kind === "text" ? first.text : "").split(" ");
    if (command === "/emit") await emit(parts, sessionId, Number(words[0]), Number(words[1]));
    // deno-lint-ignore no-console
    if (command === "/print") console.log("a line that would break the protocol"), console.table([{ a: 1 }]);
    if (command === "/wait") return await made.untilCancelled(sessionId, signal);
    return { stopReason: "end_turn" };
  };
  return made;
}

Deno.exit(
  await serveStdio({
    host: new FakeHost(profile()),
    files: NO_FILES,
    clock: systemClock,
    ids: randomIds,
    log: SILENT,
    sessions,
  }),
);
