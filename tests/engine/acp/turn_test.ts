import { assertEquals } from "@std/assert";
import type { EngineOutcome } from "../../../src/engine/contract.ts";
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
  assertEquals(visit.host.titles, ["T"]);
  assertEquals(visit.host.commands, [[{ name: "x", description: "d", hint: "h" }]]);
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

Deno.test("[E1] what is no text in a message is named in its place", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const block = (content: unknown) =>
    `update ${JSON.stringify({ sessionUpdate: "agent_message_chunk", content })}`;
  const { sink } = await visit.run([
    block({ type: "resource_link", uri: "file:///a", name: "a" }),
    block({ type: "image", mimeType: "image/png", data: "AAAA" }),
    block({ type: "resource", resource: { uri: "note://1", text: "noted" } }),
  ].join("\n"));
  assertEquals(sink.said(), "[a](file:///a)[image, image/png, 3 bytes][note://1]\nnoted");
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
      raw: { input: "plain" },
      shown,
    }],
    ["toolResult", "t", { status: "failed", ...shown, exitCode: 2, raw: { exitCode: 2 } }],
  ]);
});
