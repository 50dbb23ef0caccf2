import { assertEquals, assertMatch } from "@std/assert";
import { Wire } from "./wire.ts";

type Line = readonly ["->" | "<-", object];

const update = (value: object): Line => [
  "<-",
  { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: value } },
];
const text = (chunk: string, messageId = "m1", sessionUpdate = "agent_message_chunk"): Line =>
  update({ sessionUpdate, messageId, content: { type: "text", text: chunk } });
const card = (status: string, more: object = {}): Line =>
  update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status, ...more });
const asked = (
  id: number,
  method: string,
  params: object,
): Line => ["->", { jsonrpc: "2.0", id, method, params }];
const answer = (id: number | null, result: object): Line => ["<-", { jsonrpc: "2.0", id, result }];

const hello = asked(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
const helloAnswer = answer(0, { protocolVersion: 1, agentCapabilities: {} });
const create = asked(1, "session/new", { cwd: "/w", mcpServers: [] });
const created = answer(1, { sessionId: "s" });
const prompt = asked(2, "session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "hi" }] });
const first = text("Hello ");
const second = text("world");
const announced = update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "Run", status: "pending" });
const dialog: Line = ["<-", {
  jsonrpc: "2.0",
  id: "a1",
  method: "session/request_permission",
  params: {
    sessionId: "s",
    toolCall: { toolCallId: "t1" },
    options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
  },
}];
const chosen: Line = ["->", {
  jsonrpc: "2.0",
  id: "a1",
  result: { outcome: { outcome: "selected", optionId: "yes" } },
}];
const running = card("in_progress");
const done = card("completed");
const prompted = answer(2, { stopReason: "end_turn" });
const close = asked(3, "session/close", { sessionId: "s" });
const closed = answer(3, {});

const CLEAN: readonly Line[] = [
  hello,
  helloAnswer,
  create,
  created,
  prompt,
  first,
  second,
  announced,
  dialog,
  chosen,
  running,
  done,
  prompted,
  close,
  closed,
];

/** The clean conversation with lines put in before, after or in place of one. */
function changed(change: Change): readonly Line[] {
  return CLEAN.flatMap((line) => {
    if (line === change.before) return [...change.put, line];
    if (line === change.after) return [line, ...change.put];
    return line === change.instead ? change.put : [line];
  });
}

interface Change {
  readonly before?: Line;
  readonly after?: Line;
  readonly instead?: Line;
  readonly put: readonly Line[];
}

function judge(lines: readonly Line[]): readonly string[] {
  const wire = new Wire();
  for (const [way, value] of lines) {
    const line = JSON.stringify(value);
    wire.record(way === "->" ? "client" : "agent", line, new TextEncoder().encode(line).length);
  }
  return [...wire.faults, ...wire.rules.end()];
}

Deno.test("the checker finds nothing wrong with a clean conversation", () => {
  assertEquals(judge(CLEAN), []);
});

const planted = (id: string, toolCallId: string): Line => ["<-", {
  jsonrpc: "2.0",
  id,
  method: "session/request_permission",
  params: { sessionId: "s", toolCall: { toolCallId }, options: [] },
}];
const dismissed = (
  id: string,
): Line => ["->", { jsonrpc: "2.0", id, result: { outcome: { outcome: "cancelled" } } }];
const moody = update({
  sessionUpdate: "agent_message_chunk",
  messageId: "m1",
  mood: "fine",
  content: { type: "text", text: "Hello " },
});
const untitled = update({ sessionUpdate: "tool_call", toolCallId: "t9" });
const commands = update({ sessionUpdate: "available_commands_update", availableCommands: [] });
const oddError: Line = ["<-", { jsonrpc: "2.0", id: 3, error: { code: 7, message: "Odd" } }];
const read: Line = ["<-", {
  jsonrpc: "2.0",
  id: "a2",
  method: "fs/read_text_file",
  params: { sessionId: "s", path: "/w/a" },
}];

const PLANTED: readonly (readonly [name: string, change: Change, report: RegExp])[] = [
  ["an unknown property", { instead: first, put: [moody] }, /unevaluated properties "mood"/],
  [
    "a missing property",
    { before: prompted, put: [untitled] },
    /'title'/,
  ],
  [
    "a result of another method",
    { instead: closed, put: [answer(3, { stopReason: "end_turn" })] },
    /CloseSession/,
  ],
  ["a second answer", { before: close, put: [prompted] }, /a second time/],
  ["no answer", { instead: closed, put: [] }, /never answered/],
  ["an answer to nobody", { before: close, put: [answer(77, {})] }, /belongs to no request/],
  ["an unknown error code", { instead: closed, put: [oddError] }, /Error\/code/],
  ["an update before its Session is named", { before: created, put: [commands] }, /which is unnamed/],
  [
    "an update after the prompt's answer",
    { before: close, put: [text("late", "m2")] },
    /no prompt of it runs/,
  ],
  ["an update after close", { after: closed, put: [commands] }, /which is closed/],
  ["a tool announced twice", { before: done, put: [announced] }, /announced a second time/],
  [
    "a tool that leaves its end",
    { before: prompted, put: [card("in_progress"), done] },
    /from completed to in_progress/,
  ],
  ["a card left open", { instead: done, put: [] }, /still in_progress/],
  ["a dialog left open", { before: prompted, put: [planted("a2", "t1")] }, /still open/],
  ["a card touched during its dialog", { before: chosen, put: [running] }, /dialog is open/],
  [
    "a dialog without a card",
    { before: prompted, put: [planted("a2", "t9"), dismissed("a2")] },
    /not announced/,
  ],
  ["a method that the Client lacks", { before: prompted, put: [read] }, /does not offer/],
  [
    "a message that changes its channel",
    { before: prompted, put: [text("hm", "m1", "agent_thought_chunk")] },
    /turns/,
  ],
  ["an empty chunk", { before: prompted, put: [text("")] }, /empty/],
  ["half a character", { before: prompted, put: [text("\ud83d")] }, /half a character/],
  [
    "a relative path",
    { instead: running, put: [card("in_progress", { locations: [{ path: "a.ts" }] })] },
    /absolute/,
  ],
  ["a line too long", { before: prompted, put: [text("x".repeat(49 * 1024))] }, /more than 49152/],
  ["an array", { before: close, put: [["<-", [1]]] }, /no JSON-RPC message/],
];

Deno.test("each planted fault gives exactly one report", async (t) => {
  for (const [name, change, report] of PLANTED) {
    await t.step(name, () => {
      const faults = judge(changed(change));
      assertEquals(faults.length, 1, faults.join("\n"));
      assertMatch(faults[0] ?? "", report);
    });
  }
});
