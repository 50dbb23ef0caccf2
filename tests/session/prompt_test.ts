import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import { ResourceError } from "../../src/session/ports.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const lost = () => new HostError("unavailable", "The reply was lost", { dispatch: "unknown" });

Deno.test("[P1] [S2] observation and the cut come before the start, one Subscription serves all prompts", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const first = await stage.prompt(sessionId);
  stage.host.message(stage.turnId, "m1", "hello");
  stage.host.end(stage.turnId);
  assertEquals(await first.done, { stop: "end_turn" });
  const second = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  assertEquals(await second.done, { stop: "end_turn" });
  assertEquals(stage.host.operations, [
    "open",
    "start id2",
    "read id2 0..2 held 1",
    "start id3",
    "read id3 2..3 held 0",
  ]);
  await stage.sessions.shutdown();
});

Deno.test("[P1] frames before the start's reply are shown", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const reply = Promise.withResolvers<void>();
  stage.host.script.start = async ({ turnId }) => {
    const run = stage.host.begin(turnId);
    stage.host.say(turnId, "m", 0, "early");
    await reply.promise;
    return { kind: "done", value: { kind: "admitted", run } };
  };
  const asked = await stage.prompt(sessionId);
  assertEquals(stage.client.text(), "early");
  reply.resolve();
  stage.host.end(stage.turnId);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P3] end_turn waits for the transcript through the end", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const page = Promise.withResolvers<void>();
  stage.host.script.read = async (request) => {
    await page.promise;
    return stage.host.page(request);
  };
  const asked = await stage.prompt(sessionId);
  stage.host.say(stage.turnId, "m", 0, "half");
  stage.host.row(stage.turnId, "m", { kind: "text", text: "half and half" });
  stage.host.end(stage.turnId);
  await settle();
  assertEquals(asked.ending, undefined);
  page.resolve();
  assertEquals(await asked.done, { stop: "end_turn" });
  assertEquals(stage.client.text(), "half and half");
  await stage.sessions.shutdown();
});

Deno.test("[P3] end_turn waits until every notification has left", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  stage.host.message(stage.turnId, "m", "text");
  await settle();
  stage.client.linger();
  stage.host.end(stage.turnId);
  await settle();
  assertEquals(asked.ending, undefined);
  stage.client.resume();
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P4] a failed read of the transcript prevents end_turn, not the answer to a failed Turn", async () => {
  for (const how of ["completed", "failed"] as const) {
    const stage = new Stage();
    const sessionId = await stage.create();
    stage.host.script.read = () =>
      Promise.reject(new HostError("persistence_failed", "The database is damaged"));
    const asked = await stage.prompt(sessionId);
    stage.host.end(
      stage.turnId,
      how === "completed"
        ? { how, stopReason: "end_turn" }
        : { how, failure: { class: "engine", message: "The engine gave up" } },
    );
    assertEquals(await asked.done, { error: how === "completed" ? "storage_failed" : "turn_failed" });
    await stage.sessions.shutdown();
  }
});

Deno.test("[P4] [K7] an announced result without a durable row fails a completed prompt only", async () => {
  for (const how of ["completed", "stopped"] as const) {
    const stage = new Stage();
    const sessionId = await stage.create();
    const asked = await stage.prompt(sessionId);
    const run = stage.host.run(stage.turnId);
    stage.host.frame({ type: "tool_start", run, toolCallId: "tool" });
    stage.host.frame({
      type: "tool_result",
      run,
      toolCallId: "tool",
      status: "completed",
      contentOmitted: true,
      length: 3,
      sha256: "abc",
    });
    stage.host.end(
      stage.turnId,
      how === "completed" ? { how, stopReason: "end_turn" } : { how, by: "elsewhere" },
    );
    const expected = how === "completed"
      ? { error: "missing_result" }
      : { stop: "cancelled", meta: { gangway: { by: "elsewhere" } } };
    assertEquals(await asked.done, expected);
    await stage.sessions.shutdown();
  }
});

Deno.test("[P5] each end has its own answer", async () => {
  const ends = [
    [{ how: "completed", stopReason: "end_turn" }, { stop: "end_turn" }],
    [{ how: "completed", stopReason: "max_tokens" }, { stop: "max_tokens" }],
    [{ how: "completed", stopReason: "max_turn_requests" }, { stop: "max_turn_requests" }],
    [{ how: "completed", stopReason: "refusal" }, { stop: "refusal" }],
    [{ how: "failed", failure: { class: "engine", message: "No" } }, { error: "turn_failed" }],
    [{ how: "failed", failure: { class: "authentication", message: "Log in" } }, {
      error: "authentication_required",
    }],
    [{ how: "interrupted" }, { error: "turn_interrupted" }],
    [{ how: "stopped", by: "other" }, { stop: "cancelled", meta: { gangway: { by: "other" } } }],
  ] as const;
  const stage = new Stage();
  const sessionId = await stage.create();
  for (const [end, expected] of ends) {
    const asked = await stage.prompt(sessionId);
    stage.host.end(stage.turnId, end);
    assertEquals(await asked.done, expected);
  }
  await stage.sessions.shutdown();
});

Deno.test("[P6] prompts wait in order, before anything of them is uploaded, and cancel answers them all", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const bytes = {
    parts: [{
      kind: "bytes" as const,
      purpose: "image" as const,
      name: "i",
      mimeType: "image/png",
      bytes: new Uint8Array(3),
    }],
  };
  const first = await stage.prompt(sessionId);
  const second = await stage.prompt(sessionId, bytes);
  const third = await stage.prompt(sessionId);
  assertEquals(stage.host.ops("begin", "start"), ["start id2"]);
  stage.host.end(stage.turnId);
  assertEquals(await first.done, { stop: "end_turn" });
  await settle();
  assertEquals(stage.host.ops("begin", "start"), ["start id2", "begin id3", "start id4"]);
  stage.sessions.cancel(sessionId);
  assertEquals(await third.done, { stop: "cancelled" });
  assertEquals(await second.done, { stop: "cancelled" });
  assertEquals(stage.host.ops("start", "stop"), ["start id2", "start id4", "stop id4"]);
  await stage.sessions.shutdown();
});

Deno.test("[P6] the bound on waiting prompts is a clear error and loses none", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const all = [];
  for (let count = 0; count < LIMITS.waitingPrompts + 2; count++) all.push(await stage.prompt(sessionId));
  assertEquals(all.at(-1)!.ending, { error: "queue_full" });
  stage.sessions.cancel(sessionId);
  for (const asked of all.slice(0, -1)) assertEquals(await asked.done, { stop: "cancelled" });
  await stage.sessions.shutdown();
});

Deno.test("[P7] behind a Run whose Stop failed a prompt waits, then fails and names the Run", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.stop = () => Promise.reject(new HostError("internal", "The Host cannot stop it"));
  const stuck = await stage.prompt(sessionId);
  const turnId = stage.turnId;
  stage.sessions.cancel(sessionId);
  await settle();
  const diagnostic = { gangway: { stop: "the Stop was not acknowledged" } };
  assertEquals(stuck.ending, { stop: "cancelled", meta: diagnostic });
  const next = stage.sessions.prompt(sessionId, { parts: [] }, new AbortController().signal);
  const refused = next.catch((error) => error);
  await stage.clock.advance(LIMITS.busyWaitMs + 1);
  assertStringIncludes((await refused).message, turnId);
  assertEquals(stage.host.ops("start"), [`start ${turnId}`]);
  const patient = await stage.prompt(sessionId);
  stage.host.end(turnId);
  await settle();
  stage.host.end(stage.turnId);
  assertEquals(await patient.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P8] a prompt that fails stops its exact Run and leaves the Session usable", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const turnId = stage.turnId;
  stage.host.say(turnId, "m", 0, "one thing");
  stage.host.frame({ type: "message_reset", run: stage.host.run(turnId), messageId: "m", channel: "text" });
  assertEquals(await asked.done, { error: "unsupported_stream_revision" });
  assertEquals(stage.host.ops("start", "stop"), [`start ${turnId}`, `stop ${turnId}`]);
  const next = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  assertEquals(await next.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[C1] [F4] a cancel before dispatch starts nothing and takes staged uploads back", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const stuck = Promise.withResolvers<void>();
  stage.host.script.append = () => stuck.promise;
  const draft = {
    parts: [{
      kind: "bytes" as const,
      purpose: "image" as const,
      name: "i",
      mimeType: "image/png",
      bytes: new Uint8Array(3),
    }],
  };
  const asked = await stage.prompt(sessionId, draft);
  assertEquals(stage.host.operations, ["open", "begin id2", "append id2"]);
  stage.sessions.cancel(sessionId);
  assertEquals(await asked.done, { stop: "cancelled" });
  stuck.resolve();
  await settle();
  assert(stage.host.ops("abort").includes("abort id2"));
  assertEquals(stage.host.ops("start", "commit"), []);
  await stage.sessions.shutdown();
});

Deno.test("[C1] a cancel while the Session is being opened starts nothing", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const never = Promise.withResolvers<void>();
  stage.host.script.open = () => never.promise;
  const asked = await stage.prompt(sessionId);
  stage.sessions.cancel(sessionId);
  assertEquals(await asked.done, { stop: "cancelled" });
  assertEquals(stage.host.operations, ["open"]);
  await stage.sessions.shutdown();
  never.resolve();
});

Deno.test("[F1] a refused link answers before the Host hears of the prompt", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.files.link = () => Promise.reject(new ResourceError("not_found", 'No file "/work/x"'));
  const asked = await stage.prompt(sessionId, {
    parts: [{ kind: "link", uri: "file:///work/x", name: "x" }],
  });
  assertEquals(await asked.done, { error: "not_found" });
  assertEquals(stage.host.operations, []);
  await stage.sessions.shutdown();
});

Deno.test("[C6] an explicit cancel answers cancelled although admission stays unknown", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.start = () => Promise.resolve({ kind: "unknown", error: lost() });
  stage.host.script.query = () => Promise.reject(lost());
  const asked = await stage.prompt(sessionId);
  stage.sessions.cancel(sessionId);
  await stage.clock.advance(LIMITS.cancelMs);
  assertEquals((asked.ending as { stop: string }).stop, "cancelled");
  assertEquals(stage.host.ops("start").length, 1);
  await stage.sessions.shutdown();
});

Deno.test("[C7] a cancel is answered in under a second although the Run never ends", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.stop = () => Promise.resolve();
  const asked = await stage.prompt(sessionId);
  stage.host.frame({ type: "tool_start", run: stage.host.run(stage.turnId), toolCallId: "tool" });
  await settle();
  stage.sessions.cancel(sessionId);
  await stage.clock.advance(999);
  assertEquals((asked.ending as { stop: string }).stop, "cancelled");
  assertEquals(stage.client.cardStatus("tool"), "failed");
  await stage.sessions.shutdown();
});

Deno.test("[C5] the fence outlives the answer and is lifted by the observed end", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.stop = () => Promise.reject(new HostError("internal", "The Host cannot stop it"));
  const asked = await stage.prompt(sessionId);
  const turnId = stage.turnId;
  stage.sessions.cancel(sessionId);
  await asked.done;
  const before = stage.client.events.length;
  stage.host.say(turnId, "m", 0, "late words");
  stage.host.row(turnId, "m", { kind: "text", text: "late words" });
  stage.host.frame({
    type: "interaction_opened",
    interaction: {
      interactionId: "i",
      run: stage.host.run(turnId),
      kind: "permission",
      message: "May I?",
      options: [],
    },
  });
  await settle();
  assertEquals(stage.client.events.length, before);
  const next = await stage.prompt(sessionId);
  stage.host.end(turnId);
  await settle();
  const fresh = stage.turnId;
  stage.host.message(fresh, "m2", "new words");
  stage.host.end(fresh);
  assertEquals(await next.done, { stop: "end_turn" });
  const third = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  assertEquals(await third.done, { stop: "end_turn" });
  assertEquals(stage.client.text(), "new words");
  await stage.sessions.shutdown();
});

Deno.test("[C5] what a cancelled Turn says before its end is not shown", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.stop = () => Promise.resolve();
  const asked = await stage.prompt(sessionId);
  stage.sessions.cancel(sessionId);
  stage.host.say(stage.turnId, "m", 0, "late words");
  await settle();
  stage.host.end(stage.turnId, { how: "stopped", by: "here" });
  assertEquals(await asked.done, { stop: "cancelled" });
  assertEquals(stage.client.text(), "");
  await stage.sessions.shutdown();
});

Deno.test("[C1] a cancel takes back what was committed for a prompt that never started", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const stuck = Promise.withResolvers<void>();
  stage.host.script.append = ({ uploadId }) => uploadId === "id3" ? stuck.promise : Promise.resolve();
  const image = {
    kind: "bytes" as const,
    purpose: "image" as const,
    name: "i",
    mimeType: "image/png",
    bytes: new Uint8Array(3),
  };
  const asked = await stage.prompt(sessionId, { parts: [image, image] });
  stage.sessions.cancel(sessionId);
  assertEquals(await asked.done, { stop: "cancelled" });
  stuck.resolve();
  await settle();
  assertEquals(stage.host.ops("commit"), ["commit id2"]);
  assertEquals(new Set(stage.host.ops("abort")), new Set(["abort id2", "abort id3"]));
  await stage.sessions.shutdown();
});

Deno.test("[C8] a cancel with nothing running and a second cancel do nothing", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.sessions.cancel(sessionId);
  stage.sessions.cancel("unknown");
  assertEquals(stage.host.operations, []);
  const asked = await stage.prompt(sessionId);
  stage.sessions.cancel(sessionId);
  stage.sessions.cancel(sessionId);
  assertEquals(await asked.done, { stop: "cancelled" });
  assertEquals(stage.host.ops("stop").length, 1);
  await stage.sessions.shutdown();
});

Deno.test("[T4] no update follows one that failed, and there is no answer", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  stage.host.say(stage.turnId, "m", 0, "one ");
  await settle();
  stage.client.gone = true;
  stage.host.say(stage.turnId, "m", 4, "two ");
  await settle();
  stage.client.gone = false;
  stage.host.say(stage.turnId, "m", 8, "three");
  await settle();
  await stage.clock.advance(LIMITS.cancelMs);
  assertEquals(stage.client.text(), "one ");
  assert(asked.ending === undefined || "error" in asked.ending);
  await stage.sessions.shutdown();
});

Deno.test("[C1] [F3] uploads of a prompt whose Turn was refused are taken back", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const refusal = new HostError("persistence_failed", "The disk is full");
  stage.host.script.start = () => Promise.resolve({ kind: "answered", error: refusal });
  const image = {
    kind: "bytes" as const,
    purpose: "image" as const,
    name: "i",
    mimeType: "image/png",
    bytes: new Uint8Array(3),
  };
  const asked = await stage.prompt(sessionId, { parts: [image] });
  assertEquals(await asked.done, { error: "storage_failed" });
  assertEquals(stage.host.ops("commit", "abort"), ["commit id2", "abort id2"]);
  await stage.sessions.shutdown();
});
