import { assertEquals } from "@std/assert";
import type { EngineOutcome } from "../../../src/engine/contract.ts";
import { partId } from "../../../src/model/message.ts";
import { Stage } from "./stage.ts";

const END: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

Deno.test("[E1] text, thinking and tools reach the Host in order", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink, outcome } = await visit.run([
    `say Hello`,
    `say , world`,
    `update {"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
    `update {"sessionUpdate":"tool_call","toolCallId":"t","title":"Read","kind":"read","rawInput":{"path":"/a"}}`,
    `update {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}]}`,
    `say after`,
  ].join("\n"));
  assertEquals(outcome, END);
  assertEquals(sink.order(), [
    "message",
    "messageComplete",
    "message",
    "messageComplete",
    "toolStart",
    "toolInput",
    "toolResult",
    "message",
  ]);
  assertEquals(sink.said(), "Hello, worldafter");
  assertEquals(sink.said("thinking"), "hm");
});

Deno.test("[E1] plans, usage, titles, commands and notices reach the Host, usage also between prompts", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const usage = '{"sessionUpdate":"usage_update","used":5,"size":10}';
  const { sink } = await visit.run([
    `update {"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"completed"},{"content":"b"},{}]}`,
    `update {"sessionUpdate":"usage_update","used":1,"size":10,"cost":{"amount":2,"currency":"EUR"}}`,
    `update {"sessionUpdate":"session_info_update","title":"T"}`,
    `update {"sessionUpdate":"session_info_update","title":null}`,
    `update {"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"d","input":{"hint":"h"}}]}`,
    `update {"sessionUpdate":"notice","severity":"warning","title":"N","description":"D"}`,
    `update {"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"echo"}}`,
    `after ${usage}`,
  ].join("\n"));
  assertEquals(sink.entries, [
    ["plan", [
      { content: "a", priority: "high", status: "completed" },
      { content: "b", priority: "medium", status: "pending" },
    ]],
    ["usage", { used: 1, size: 10, cost: { amount: 2, currency: "EUR" } }],
    ["notice", "warning", "N", "D"],
  ]);
  await visit.host.when(() => visit.host.usage.length > 0);
  assertEquals(visit.host.usage, [{ used: 5, size: 10 }]);
  assertEquals(visit.host.titles, ["T"]);
  assertEquals(visit.host.commands, [[{ name: "x", description: "d", hint: "h" }]]);
});

Deno.test("[E1] news of a tool that is shown does not break what is said", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink } = await visit.run([
    "say a",
    `update {"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}`,
    "say b",
    `update {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}`,
    "say c",
  ].join("\n"));
  const texts = new Map<string, string>();
  for (const [, id, , text] of sink.all("message")) texts.set(id, (texts.get(id) ?? "") + text);
  assertEquals([...texts.values()], ["a", "bc"]);
});

Deno.test("[E1] a card's metadata is what all its updates said", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const card = (meta: unknown, more = {}) =>
    `update ${
      JSON.stringify({ sessionUpdate: "tool_call_update", toolCallId: "t", title: "x", _meta: meta, ...more })
    }`;
  const { sink } = await visit.run([
    card({ agent: { tool: "Read" } }),
    card({ agent: { response: { lines: 1 } }, other: 1 }),
    card({ agent: { response: "x".repeat(20_000) } }),
    card({ agent: { tool: "Read" } }, { status: "completed" }),
  ].join("\n"));
  assertEquals(sink.all("toolInput").at(-1)?.[2].meta, {
    agent: { tool: "Read", response: { lines: 1 } },
    other: 1,
  });
});

Deno.test("[E1] [E2] metadata of a card that is too much, or none, takes nothing from what its other updates said", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const card = (toolCallId: string, _meta: unknown) =>
    `update ${JSON.stringify({ sessionUpdate: "tool_call_update", toolCallId, title: "x", _meta })}`;
  const huge = { x: "x".repeat(20_000) };
  const { sink } = await visit.run([
    card("first", huge),
    card("first", { a: 1 }),
    card("later", { a: 1 }),
    card("later", huge),
    ...[[1], "x", 7, {}].map((none) => card("later", none)),
    card("later", { b: 2 }),
  ].join("\n"));
  const last = (id: string) => sink.all("toolInput").findLast(([, each]) => each === id)?.[2].meta;
  assertEquals([last("first"), last("later")], [{ a: 1 }, { a: 1, b: 2 }]);
});

Deno.test("[E1] chunks without an id are one message until something else comes", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink } = await visit.run([
    "say a",
    "say b",
    `update {"sessionUpdate":"usage_update","used":1,"size":10}`,
    "say c",
    `update {"sessionUpdate":"tool_call","toolCallId":"t","title":"x","status":"completed"}`,
    "say d",
  ].join("\n"));
  const texts = new Map<string, string>();
  for (const [, id, , text] of sink.all("message")) texts.set(id, (texts.get(id) ?? "") + text);
  assertEquals([...texts.values()], ["abc", "d"]);
});

const chunk = (content: unknown, more: Record<string, unknown> = {}) =>
  `update ${JSON.stringify({ sessionUpdate: "agent_message_chunk", content, ...more })}`;

Deno.test("[E1] what is no text in a message is a part of it, in its place and as it was said", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink } = await visit.run([
    chunk({ type: "text", text: "see " }, { messageId: "m" }),
    chunk({ type: "resource_link", uri: "file:///a", name: "a", size: 3 }, {
      messageId: "m",
      _meta: { a: 1 },
    }),
    chunk({ type: "image", mimeType: "image/png", data: "AAAA", _meta: { b: 2 } }, { messageId: "m" }),
    chunk({ type: "audio", mimeType: "audio/wav", data: "BBBB" }, { messageId: "m" }),
    chunk({ type: "resource", resource: { uri: "note://1", text: "noted", _meta: { c: 3 } } }, {
      messageId: "m",
    }),
    chunk({ type: "resource", resource: { uri: "note://2", blob: "CCCC" } }, { messageId: "m" }),
    chunk({ type: "text", text: "!", annotations: { priority: 1 } }, { messageId: "m" }),
    chunk({ type: "text", text: " end" }, { messageId: "m" }),
  ].join("\n"));
  const part = (at: number) => partId("m", at);
  assertEquals(sink.entries, [
    ["message", "m", "text", "see "],
    ["messageComplete", "m"],
    ["content", part(1), "text", { kind: "link", uri: "file:///a", name: "a", size: 3 }, { a: 1 }],
    ["content", part(2), "text", { kind: "image", mimeType: "image/png", data: "AAAA", meta: { b: 2 } }],
    ["content", part(3), "text", { kind: "audio", mimeType: "audio/wav", data: "BBBB" }],
    ["content", part(4), "text", { kind: "resource", uri: "note://1", text: "noted", contentMeta: { c: 3 } }],
    ["content", part(5), "text", { kind: "resource", uri: "note://2", blob: "CCCC" }],
    ["content", part(6), "text", { kind: "text", text: "!", annotations: { priority: 1 } }],
    ["message", part(7), "text", " end"],
  ]);
});

Deno.test("[E1] text with other metadata than its neighbour is a part of its own, and equal metadata goes on", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const say = (text: string, _meta?: Record<string, unknown>) =>
    chunk({ type: "text", text }, { messageId: "m", ...(_meta && { _meta }) });
  const { sink } = await visit.run([
    say("a"),
    say("b", { x: 1 }),
    say("c", { x: 1 }),
    say("d", { x: 2 }),
    say("e", {}),
    say("f", { big: "x".repeat(20_000) }),
  ].join("\n"));
  const part = (at: number) => partId("m", at);
  assertEquals(sink.all("message"), [
    ["message", "m", "text", "a"],
    ["message", part(1), "text", "b", { x: 1 }],
    ["message", part(1), "text", "c", { x: 1 }],
    ["message", part(2), "text", "d", { x: 2 }],
    ["message", part(3), "text", "e"],
    ["message", part(3), "text", "f"],
  ]);
});

Deno.test("[E1] metadata of plans, usage, commands, titles and notices reaches the Host", async () => {
  await using stage = new Stage({ opened: { modes: MODES } });
  const visit = await stage.open();
  const update = (sessionUpdate: string, more: Record<string, unknown>) =>
    `update ${JSON.stringify({ sessionUpdate, ...more, _meta: { of: sessionUpdate } })}`;
  const { sink } = await visit.run([
    update("plan", { entries: [{ content: "a", priority: "low", status: "pending", _meta: { e: 1 } }] }),
    update("usage_update", { used: 1, size: 2 }),
    update("notice", { severity: "info", title: "N" }),
    update("available_commands_update", {
      availableCommands: [{ name: "x", description: "d", _meta: { c: 1 } }],
    }),
    update("session_info_update", { title: "T" }),
    update("current_mode_update", { currentModeId: "code" }),
  ].join("\n"));
  const of = (name: string) => ({ of: name });
  assertEquals(sink.entries, [
    ["plan", [{ content: "a", priority: "low", status: "pending", meta: { e: 1 } }], of("plan")],
    ["usage", { used: 1, size: 2, meta: of("usage_update") }],
    ["notice", "info", "N", undefined, of("notice")],
  ]);
  assertEquals(visit.host.commands, [[{ name: "x", description: "d", meta: { c: 1 } }]]);
  assertEquals(visit.host.metas, [
    ["commands", of("available_commands_update")],
    ["title", of("session_info_update")],
    ["mode", of("current_mode_update")],
  ]);
});

const MODES = {
  currentModeId: "ask",
  availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }],
};

Deno.test("[E1] a compaction and what is added to its summary reach the Host, its end with the whole of it", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const update = (more: Record<string, unknown>) =>
    `update ${JSON.stringify({ compactionId: "c", ...more })}`;
  const text = (words: string) => ({ type: "text", text: words });
  const { sink } = await visit.run([
    update({ sessionUpdate: "compaction_update", status: "in_progress", _meta: { x: 1 } }),
    update({ sessionUpdate: "compaction_summary_chunk", content: text("so ") }),
    update({ sessionUpdate: "compaction_summary_chunk", content: text("far") }),
    update({ sessionUpdate: "compaction_update", status: "completed" }),
    update({ sessionUpdate: "compaction_update", status: "dancing" }),
  ].join("\n"));
  const going = { compactionId: "c", status: "in_progress" } as const;
  assertEquals(sink.entries, [
    ["compaction", { ...going, meta: { x: 1 } }],
    ["compaction", going, { kind: "text", text: "so " }],
    ["compaction", going, { kind: "text", text: "far" }],
    ["compaction", { compactionId: "c", status: "completed", summary: [{ kind: "text", text: "so far" }] }],
  ]);
  assertEquals(stage.log.faults(), ["malformed"]);
});

Deno.test("[E1] a tool's content, exit code and raw values reach the Host", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const call = {
    sessionUpdate: "tool_call",
    toolCallId: "t",
    title: "x",
    kind: "dance",
    rawInput: "plain",
    content: [
      { type: "content", content: { type: "text", text: "out" } },
      { type: "content", content: { type: "image", mimeType: "image/png", data: "AAAA" } },
      { type: "content", content: { type: "resource_link", uri: "file:///a", name: "a" } },
      { type: "terminal", terminalId: "term" },
      { type: "diff", path: "/a", newText: "n" },
      { type: "unheard of" },
    ],
  };
  const { sink } = await visit.run([
    `update ${JSON.stringify(call)}`,
    `update {"sessionUpdate":"tool_call_update","toolCallId":"t","title":null,"status":"failed","rawOutput":{"exitCode":2}}`,
  ].join("\n"));
  const shown = {
    content: [
      { kind: "text", text: "out" },
      { kind: "image", mimeType: "image/png", data: "AAAA" },
      { kind: "link", uri: "file:///a", name: "a" },
      { kind: "terminal", terminalId: "term" },
    ],
    diffs: [{ path: "/a", oldText: null, newText: "n" }],
  } as const;
  assertEquals(sink.entries, [
    ["toolStart", "t", {
      complete: true,
      sensitive: false,
      title: "x",
      kind: "other",
      locations: [],
      raw: "plain",
      shown,
    }],
    ["toolResult", "t", { status: "failed", ...shown, exitCode: 2, raw: { exitCode: 2 } }],
  ]);
});
