import { assertEquals } from "@std/assert";
import { LIMITS } from "../../src/limits.ts";
import type { ClientCall } from "../../src/model/frame.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

/** A prompt whose Engine may call the editor. */
async function working() {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const run = stage.host.run(stage.turnId);
  const call = (callId: string, method: string, params = {}) => {
    const made: ClientCall = { callId, run, method, params };
    stage.host.frame({ type: "call", call: made });
  };
  return { stage, sessionId, asked, run, call };
}

Deno.test("[C5] a call that arrives behind the fence is refused, one that frees a terminal is served", async () => {
  const { stage, sessionId, asked, call } = await working();
  stage.host.script.stop = () => Promise.resolve();
  stage.sessions.cancel(sessionId);
  call("write", "fs/write_text_file", { path: "/work/x", content: "late" });
  call("release", "terminal/release", { terminalId: "t" });
  await settle();
  assertEquals(stage.client.requests.map(({ method }) => method), ["terminal/release"]);
  assertEquals(stage.host.ops("fail"), ["fail write -32603"]);
  stage.host.end(stage.turnId, { how: "stopped", by: "here" });
  assertEquals(await asked.done, { stop: "cancelled" });
  await stage.sessions.shutdown();
});

Deno.test("a call of a Turn that is not shown here is refused, so that its Engine does not wait for ever", async () => {
  const { stage } = await working();
  const other: ClientCall = {
    callId: "c",
    run: stage.host.run("other"),
    method: "fs/read_text_file",
    params: {},
  };
  stage.host.frame({ type: "call", call: other });
  await settle();
  assertEquals(stage.host.ops("fail"), ["fail c -32603"]);
  await stage.sessions.shutdown();
});

Deno.test("[R1] a call in a batch that is given up is served all the same", async () => {
  const { stage, run, call } = await working();
  // A gap makes the Attachment read; the Subscription is gone by then.
  stage.host.say(stage.turnId, "m", 99, "beyond");
  call("read", "fs/read_text_file", { path: "/work/x" });
  stage.host.evict("lost");
  await stage.clock.advance(100);
  assertEquals(stage.client.requests.map(({ method }) => method), ["fs/read_text_file"]);
  stage.client.requests[0]!.answer({ content: "text" });
  await settle();
  assertEquals(stage.host.ops("settle"), ['settle read {"content":"text"}']);
  stage.host.end(run.turnId);
  await stage.sessions.shutdown();
});

Deno.test("[K10] an editor that does not answer is told to kill a terminal that was left, and to release it", async () => {
  const { stage, asked, run, call } = await working();
  call("create", "terminal/create", { command: "make" });
  await settle();
  stage.client.requests[0]!.answer({ terminalId: "t" });
  await settle();
  stage.host.end(run.turnId);
  await asked.done;
  assertEquals(stage.client.requests.slice(1).map(({ method }) => method), [
    "terminal/kill",
    "terminal/release",
  ]);
  await stage.clock.advance(LIMITS.closeMs);
  await stage.sessions.shutdown();
});
