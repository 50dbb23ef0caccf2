import { assert, assertEquals } from "@std/assert";
import { Front, type FrontOptions } from "./front.ts";
import { LIMITS } from "../../src/limits.ts";

const place = { cwd: "/work", mcpServers: [] };
const said = [{ type: "text", text: "x" }];
const waiting: FrontOptions = {
  prepare: (sessions) => sessions.prompted = (_, id, __, signal) => sessions.untilCancelled(id, signal),
};

/** A front in the middle of a prompt, whose id is returned. */
async function midTurn(options: FrontOptions = {}): Promise<{ front: Front; id: number }> {
  const front = new Front({ ...waiting, ...options });
  const sessionId = await front.open();
  const prompt = front.message("session/prompt", { sessionId, prompt: said });
  await front.send(prompt);
  await front.request("session/list", {});
  return { front, id: prompt.id };
}

Deno.test("[A5] requests that are written and followed by the end of input at once are all answered", async () => {
  const front = new Front();
  await front.send(
    front.message("initialize", { protocolVersion: 1 }),
    front.message("session/new", place),
    front.message("session/prompt", { sessionId: "s1", prompt: said }),
    front.message("session/list", {}),
  );
  const lines = await front.end();
  assertEquals(lines.map(({ id, error }) => [id, error]).sort(), [1, 2, 3, 4].map((id) => [id, undefined]));
  assertEquals(front.clock.now(), 0, "nobody waited for time to pass");
});

Deno.test("[A5] [A7] the last request is answered although the input ends without a line feed", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  await front.bytes(JSON.stringify(front.message("session/list", {})));
  const lines = await front.end();
  assertEquals(lines.map(({ id, error }) => [id, error]), [[2, undefined]]);
});

Deno.test("[A5] a request at hand gets its time at the end of input, and what it is answered by then goes out", async () => {
  const late = Promise.withResolvers<void>();
  const front = new Front({
    prepare: (sessions) =>
      sessions.prompted = async () => {
        await late.promise;
        return { stopReason: "end_turn" };
      },
  });
  const sessionId = await front.open();
  const prompt = front.message("session/prompt", { sessionId, prompt: said });
  await front.send(prompt);
  await front.endInput();
  await front.clock.pass(LIMITS.drainMs, LIMITS.drainMs - 1);
  late.resolve();
  assertEquals((await front.answer(prompt.id)).result, { stopReason: "end_turn" });
  await front.end();
  assertEquals(front.sessions.calls.at(-1), "shutdown");
});

Deno.test("[A5] past that time a prompt in mid-Turn is given up: Sessions are released, no answer is made up", async () => {
  const { front, id } = await midTurn();
  await front.endInput();
  await front.clock.pass(LIMITS.drainMs);
  assertEquals((await front.end()).filter((line) => line.id === id), []);
  assertEquals(front.sessions.calls.at(-1), "shutdown");
  assertEquals(front.clock.now(), LIMITS.drainMs);
});

Deno.test("[A5] the signal ends the connection as the end of input does", async () => {
  const ending = new AbortController();
  const { front } = await midTurn({ signal: ending.signal });
  ending.abort();
  await front.clock.pass(LIMITS.drainMs);
  await front.served;
  assertEquals(front.sessions.calls.at(-1), "shutdown");
  await front.end();
});

Deno.test("[A5] a signal that came before the first byte ends it too", async () => {
  const front = new Front({ signal: AbortSignal.abort() });
  await front.served;
  assertEquals(await front.end(), []);
});

Deno.test("[A5] [C9] Sessions that do not let go are not waited for", async () => {
  const front = new Front({ prepare: (sessions) => sessions.shutdown = () => new Promise(() => {}) });
  await front.open();
  await front.endInput();
  await front.clock.pass(200);
  await front.end();
});

Deno.test("[A5] a Client that stops reading ends the connection at once, also in mid-Turn", async () => {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const front = new Front({ ...waiting, output: pipe.writable });
  const reader = pipe.readable.getReader();
  await front.send(
    front.message("initialize", { protocolVersion: 1 }),
    front.message("session/new", place),
    front.message("session/prompt", { sessionId: "s1", prompt: said }),
    front.message("session/list", {}),
  );
  let seen = "";
  while (!seen.includes('"sessions"')) seen += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  await front.served;
  assertEquals(front.sessions.calls.at(-1), "shutdown");
  assertEquals(front.clock.now(), 0);
});

Deno.test("[A5] a Client that does not read while the input ends is not waited for", async () => {
  const stuck = Promise.withResolvers<void>();
  const front = new Front({ output: new WritableStream({ write: () => stuck.promise }) });
  await front.send(front.message("initialize", { protocolVersion: 1 }));
  await front.endInput();
  await front.clock.pass(200);
  await front.served;
  stuck.resolve();
});

/** A front whose Client sends requests for ever and reads none of the answers, when it is read from no further. */
async function flooded(signal?: AbortSignal): Promise<{ front: Front; sent: number; read(): void }> {
  let written = 0;
  const stuck = Promise.withResolvers<void>();
  const front = new Front({
    signal,
    prepare: (sessions) => sessions.page = () => ({ sessions: [], cursor: "c".repeat(40_000) }),
    output: new WritableStream({
      write(chunk) {
        written += chunk.length;
        return written > 1000 ? stuck.promise : undefined;
      },
    }),
  });
  await front.send(front.message("initialize", { protocolVersion: 1 }));
  let sent = 0;
  (async () => {
    for (; sent < 1000; sent++) await front.send(front.message("session/list", {}));
  })();
  // The pipe takes no more once the front does not: every turn that moves nothing is the end of it.
  for (let before = -1; before !== sent;) {
    before = sent;
    for (let turn = 0; turn < 50; turn++) await front.clock.turn();
  }
  return { front, sent, read: stuck.resolve };
}

Deno.test("a Client that sends and does not read is read from no further, and further when it reads", async () => {
  const { front, sent, read } = await flooded();
  assert(sent > 10 && sent < 60, `${sent} requests were read`);
  read();
  for (let turn = 0; front.sessions.calls.length < 1000 && turn < 100_000; turn++) await front.clock.turn();
  await front.end();
  assertEquals(front.sessions.calls.length, 1001);
});

Deno.test("[A5] the signal also ends a connection that waits for a Client that does not read", async () => {
  const ending = new AbortController();
  const { front, read } = await flooded(ending.signal);
  ending.abort();
  await front.clock.pass(200);
  await front.served;
  read();
});

Deno.test("a slow Client holds back who asks for room, and gets everything in order", async () => {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const sent = { updates: 0, most: 0 };
  const update = JSON.stringify({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text: "x".repeat(1000) },
    messageId: "m",
  });
  const front = new Front({
    output: pipe.writable,
    prepare: (sessions) =>
      sessions.prompted = async ({ client }, sessionId) => {
        for (; sent.updates < 2000; sent.updates++) {
          client.update(sessionId, update);
          const room = client.room();
          if (room !== undefined) await room;
        }
        return { stopReason: "end_turn" };
      },
  });
  await front.send(
    front.message("initialize", { protocolVersion: 1 }),
    front.message("session/new", place),
    front.message("session/prompt", { sessionId: "s1", prompt: said }),
  );
  const reader = pipe.readable.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let held = 0;
  while (!text.includes("stopReason")) {
    const { value } = await reader.read();
    const waiting = sent.updates * update.length - text.length;
    held = Math.max(held, waiting);
    text += value;
  }
  assertEquals(text.split("\n").filter((line) => line.includes("agent_message_chunk")).length, 2000);
  assert(held < 3 * LIMITS.writerHighWater, `${held} were held`);
  reader.releaseLock();
  await front.endInput();
  await front.served;
});

Deno.test("[A5] an input that breaks off is an input that ends", async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("EIO")) });
  const front = new Front({ input: broken });
  await front.served;
  assertEquals(front.log.lines, ["warn The input broke off {}"]);
});
