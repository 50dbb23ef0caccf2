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
