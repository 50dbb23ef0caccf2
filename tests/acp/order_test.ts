import { assertEquals } from "@std/assert";
import { Front, type Seen } from "./front.ts";
import { SessionError } from "../../src/session/errors.ts";
import { systemClock } from "../../src/system.ts";

const place = { cwd: "/work", mcpServers: [] };
const said = (text: string) => [{ type: "text", text }];
const cancel = (sessionId: string) => ({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
const waiting = {
  prepare: (sessions: Front["sessions"]) => {
    sessions.prompted = (_, sessionId, __, signal) => sessions.untilCancelled(sessionId, signal);
  },
};
const brief = ({ id, method, result }: Seen) => method ?? [id, result?.stopReason ?? "result"];

Deno.test("[A3] initialize and the requests behind it in one write are answered in order", async () => {
  const front = new Front();
  const messages = [
    front.message("initialize", { protocolVersion: 1 }),
    front.message("session/new", place),
    front.message("session/list", {}),
  ];
  await front.send(...messages);
  const lines = await front.end();
  assertEquals(lines.map((line) => [line.id, line.error]), messages.map(({ id }) => [id, undefined]));
});

Deno.test("[A3] a request that begins while a second handshake is at hand waits for it as well", async () => {
  const front = new Front();
  const sessionId = await front.open();
  const messages = [
    front.message("initialize", { protocolVersion: 1 }),
    front.message("session/close", { sessionId }),
  ];
  await front.send(...messages);
  assertEquals((await front.end()).map(({ id }) => id), messages.map(({ id }) => id));
});

Deno.test("[C8] a cancel in the same write as its prompt comes after it, one before a prompt comes before it", async () => {
  const front = new Front(waiting);
  const sessionId = await front.open();
  const first = front.message("session/prompt", { sessionId, prompt: said("first") });
  const second = front.message("session/prompt", { sessionId, prompt: said("second") });
  await front.send(
    cancel(sessionId),
    cancel(sessionId),
    first,
    cancel(sessionId),
    second,
    cancel(sessionId),
    cancel(sessionId),
  );
  assertEquals((await front.answer(first.id)).result, { stopReason: "cancelled" });
  assertEquals((await front.answer(second.id)).result, { stopReason: "cancelled" });
  assertEquals(front.sessions.calls.filter((call) => /^(prompt|cancel)/.test(call)), [
    "cancel s1",
    "cancel s1",
    "prompt s1 first",
    "cancel s1",
    "prompt s1 second",
    "cancel s1",
    "cancel s1",
  ]);
  await front.end();
});

Deno.test("[C8] a cancel of a Session that this connection does not have is silent", async () => {
  const front = new Front();
  await front.initialize();
  await front.send(cancel("nobody"));
  assertEquals(await front.end(), []);
});

Deno.test("[P6] prompts and everything else reach the Session in the order of the wire, however it was written", async () => {
  const front = new Front(waiting);
  const sessionId = await front.open();
  const messages = Array.from(
    { length: 60 },
    (_, index) =>
      index % 3 === 0
        ? cancel(sessionId)
        : index % 3 === 1
        ? front.message("session/prompt", { sessionId, prompt: said(`${index}`) })
        : front.message("session/list", { cursor: `${index}` }),
  );
  front.sessions.calls.length = 0;
  await front.sendInPieces(97, messages);
  await front.send(cancel(sessionId));
  await front.end();
  assertEquals(
    front.sessions.calls.slice(0, messages.length),
    messages.map((_, index) =>
      index % 3 === 0
        ? `cancel ${sessionId}`
        : index % 3 === 1
        ? `prompt ${sessionId} ${index}`
        : `list {"cursor":"${index}","limit":100}`
    ),
  );
});

Deno.test("[C8] $/cancel_request on a prompt is a cancel: the answer is a result", async () => {
  const front = new Front(waiting);
  const sessionId = await front.open();
  const prompt = front.message("session/prompt", { sessionId, prompt: said("x") });
  await front.send(prompt, { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: prompt.id } });
  assertEquals((await front.answer(prompt.id)).result, { stopReason: "cancelled" });
  await front.end();
});

Deno.test("[A9] the first update about a Session follows the answer that names it", async () => {
  const front = new Front({
    prepare: (sessions) =>
      sessions.announced = ({ client }, sessionId) =>
        client.update(sessionId, '{"sessionUpdate":"available_commands_update","availableCommands":[]}'),
  });
  await front.initialize();
  let pauses = 0;
  front.clock.paused = () => void pauses++;
  const wanted = front.message("session/new", place);
  await front.send(wanted);
  await front.take((line) => line.method === "session/update");
  assertEquals(front.lines.map(brief), [[wanted.id, "result"]]);
  assertEquals(pauses, 1, "a pause lies between the two");
  await front.end();
});

Deno.test("[A9] an announcement that fails harms nothing else", async () => {
  const failed = Promise.withResolvers<void>();
  const front = new Front({
    prepare: (sessions) =>
      sessions.announced = () => {
        failed.resolve();
        throw new Error("A fault");
      },
  });
  await front.open();
  await failed.promise;
  assertEquals((await front.request("session/list", {})).error, undefined);
  assertEquals(front.log.lines, ["warn A Session could not be announced {}"]);
  await front.end();
});

Deno.test("[A9] the last update of a prompt has left, and a pause has passed, before its answer", async () => {
  for (const outcome of ["answer", "error"]) {
    const events: string[] = [];
    const decoder = new TextDecoder();
    const announced = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const front: Front = new Front({
      prepare(sessions) {
        sessions.announced = () => announced.resolve();
        sessions.prompted = ({ client }, sessionId) => {
          client.update(sessionId, '{"sessionUpdate":"agent_message_chunk"}');
          return outcome === "answer"
            ? Promise.resolve({ stopReason: "end_turn" })
            : Promise.reject(new SessionError("turn_failed", "No"));
        };
      },
      output: new WritableStream({
        async write(chunk) {
          const text = decoder.decode(chunk);
          events.push(`write ${text.includes("chunk") ? "update" : "answer"}`);
          await systemClock.turn();
          events.push("written");
          if (text.includes('"id":3')) answered.resolve();
        },
      }),
    });
    front.clock.paused = () => void events.push("pause");
    await front.send(
      front.message("initialize", { protocolVersion: 1 }),
      front.message("session/new", place),
    );
    await announced.promise;
    events.length = 0;
    await front.send(front.message("session/prompt", { sessionId: "s1", prompt: said("x") }));
    await answered.promise;
    assertEquals(events, ["write update", "written", "pause", "write answer", "written"]);
    await front.end();
  }
});
