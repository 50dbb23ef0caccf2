import { assertEquals, assertRejects } from "@std/assert";
import { ClientGone, ClientRefused } from "../../src/session/ports.ts";
import { Front, type Seen } from "./front.ts";

const CHUNK = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"messageId":"m"}';
const ask = (sessionId: string) => ({
  sessionId,
  toolCall: { toolCallId: "t" },
  options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
});
const never = new AbortController().signal;
const brief = ({ method, params }: Seen) => method === "session/update" ? params?.sessionId : method;

/** A front with two Sessions and a prompt at work in each, so that both may be spoken of. */
async function working(): Promise<Front> {
  const front = new Front({
    prepare: (sessions) => sessions.prompted = (_, id, __, signal) => sessions.untilCancelled(id, signal),
  });
  await front.open();
  await front.request("session/new", { cwd: "/work", mcpServers: [] });
  for (const sessionId of ["s1", "s2"]) {
    await front.send(front.message("session/prompt", { sessionId, prompt: [{ type: "text", text: "x" }] }));
  }
  await front.request("session/list", {});
  return front;
}

/** Answers both prompts and ends. */
async function done(front: Front): Promise<void> {
  for (const sessionId of ["s1", "s2"]) {
    await front.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
  }
  await front.end();
}

Deno.test("[T4] updates of several Sessions and requests leave in the order of the calls", async () => {
  const front = await working();
  const { client } = front.parts;
  client.update("s1", '{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}');
  client.update("s2", CHUNK);
  const answer = client.request("session/request_permission", ask("s1"), never);
  client.update("s2", CHUNK);
  client.update("s1", CHUNK);
  const asked = await front.take((line) => line.method === "session/request_permission");
  await front.send({ jsonrpc: "2.0", id: asked.id, result: { outcome: { outcome: "cancelled" } } });
  assertEquals(await answer, { outcome: { outcome: "cancelled" } });
  const order = front.wire.entries.flatMap(({ from, text }) => from === "agent" ? [JSON.parse(text)] : []);
  assertEquals(order.map(brief).filter((each) => each !== undefined), [
    "s1",
    "s2",
    "session/request_permission",
    "s2",
    "s1",
  ]);
  front.parts.client.update(
    "s1",
    '{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}',
  );
  await done(front);
});

Deno.test("[C4] a request whose signal aborts ends at once, is withdrawn once, and its late answer is dropped", async () => {
  const front = await working();
  const abort = new AbortController();
  const reason = new Error("The prompt was cancelled");
  front.parts.client.update(
    "s1",
    '{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","status":"failed"}',
  );
  const answer = assertRejects(
    () => front.parts.client.request("session/request_permission", ask("s1"), abort.signal),
    Error,
    reason.message,
  );
  const asked = await front.take((line) => line.method === "session/request_permission");
  abort.abort(reason);
  await answer;
  const withdrawn = await front.take((line) => line.method === "$/cancel_request");
  assertEquals(withdrawn.params, { requestId: asked.id });
  await front.send({ jsonrpc: "2.0", id: asked.id, result: { outcome: { outcome: "cancelled" } } });
  await done(front);
});

Deno.test("[C4] a request whose signal is aborted already never leaves", async () => {
  const front = await working();
  await assertRejects(
    () =>
      front.parts.client.request(
        "session/request_permission",
        ask("s1"),
        AbortSignal.abort(new Error("over")),
      ),
    Error,
    "over",
  );
  assertEquals(front.wire.entries.filter(({ text }) => text.includes("request_permission")), []);
  await done(front);
});

Deno.test("[I5] an error answer is ClientRefused with its code; an answer that is none as well", async () => {
  const front = new Front({ judged: false });
  await front.open();
  const answers: [answer: object, code: number, message: string][] = [
    [{ error: { code: -32601, message: "no such method" } }, -32601, "no such method"],
    [{ error: { code: 1, message: "x".repeat(9999) } }, 1, "x".repeat(500)],
    [{ error: { code: "1", message: "x" } }, -32600, "The editor's answer has neither a result nor an error"],
    [{ result: null, error: { code: 2, message: "both" } }, 2, "both"],
    [{ error: null }, -32600, "The editor's answer has neither a result nor an error"],
    [
      { result: 1, error: { code: 1, message: "x" } },
      -32600,
      "The editor's answer has neither a result nor an error",
    ],
    [{}, -32600, "The editor's answer has neither a result nor an error"],
  ];
  for (const [answer, code, message] of answers) {
    const refused = assertRejects(
      () => front.parts.client.request("fs/read_text_file", {}, never),
      ClientRefused,
    );
    const { id } = await front.take((line) => line.method !== undefined);
    await front.send({ jsonrpc: "2.0", id, ...answer });
    const error = await refused;
    assertEquals([error.code, error.message], [code, message]);
  }
  const raw = front.parts.client.request("fs/read_text_file", {}, never);
  const { id } = await front.take((line) => line.method !== undefined);
  await front.send({ jsonrpc: "2.0", id, result: null, error: null });
  assertEquals(await raw, null, "a result goes through unread, also one of null");
  await front.end();
});

Deno.test("[C9] what waits for the Client ends when the connection does", async () => {
  const front = new Front({ judged: false });
  await front.open();
  const answer = assertRejects(() => front.parts.client.request("fs/read_text_file", {}, never), ClientGone);
  await front.end();
  await answer;
  await assertRejects(() => front.parts.client.request("fs/read_text_file", {}, never), ClientGone);
});

Deno.test("what the Client can do is read from the handshake", async () => {
  const none = {
    readTextFile: false,
    writeTextFile: false,
    terminal: false,
    forms: false,
    urls: false,
    booleanOptions: false,
    notices: false,
    compaction: false,
  };
  const table: [capabilities: unknown, able: object][] = [
    [undefined, {}],
    [null, {}],
    ["zzz", {}],
    [[], {}],
    [{ fs: 5, terminal: "yes", session: [], elicitation: true }, {}],
    [{ fs: { readTextFile: true } }, { readTextFile: true }],
    [{ fs: { readTextFile: "true", writeTextFile: true }, terminal: true }, {
      writeTextFile: true,
      terminal: true,
    }],
    [{ elicitation: {} }, {}],
    [{ elicitation: { url: {} } }, { urls: true }],
    [{ elicitation: { form: null } }, {}],
    [{ elicitation: { form: {} } }, { forms: true }],
    [{ session: { configOptions: {} } }, {}],
    [{ session: { configOptions: { boolean: {} }, notices: {}, compaction: {} } }, {
      booleanOptions: true,
      notices: true,
      compaction: true,
    }],
  ];
  for (const [capabilities, able] of table) {
    const front = new Front({ capabilities, judged: false });
    await front.open();
    assertEquals(front.parts.client.abilities, { ...none, ...able }, JSON.stringify(capabilities));
    await front.end();
  }
});
