import { assert, assertEquals } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import type { Interaction } from "../../src/model/question.ts";
import { LIMITS } from "../../src/limits.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const place = { cwd: "/work", roots: [], mcpServers: [] };
const never = () => new Promise<never>(() => {});
const away = (dispatch: "answered" | "unknown") => new HostError("unavailable", "Not now", { dispatch });

/** A prompt whose Turn runs and has announced a tool. */
async function working() {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  const run = stage.host.run(turnId);
  stage.host.frame({ type: "tool_start", run, toolCallId: "tool" });
  await settle();
  return { stage, sessionId, asked, run, turnId };
}

/** The same, with a question about the tool. */
async function asking() {
  const at = await working();
  const interaction: Interaction = {
    interactionId: "q",
    run: at.run,
    toolCallId: "tool",
    kind: "permission",
    message: "Run make?",
    options: [{ optionId: "yes", name: "Allow", effect: "allow" }],
  };
  at.stage.host.pending.set("q", interaction);
  at.stage.host.frame({ type: "interaction_opened", interaction });
  await settle();
  return at;
}

for (const dispatch of ["answered", "unknown"] as const) {
  Deno.test(`[R1] a read that fails (${dispatch}) on a Subscription that lives is made on the next one`, async () => {
    const { stage, asked, turnId } = await working();
    stage.host.script.read = () => {
      stage.host.script.read = undefined;
      return Promise.reject(away(dispatch));
    };
    stage.host.message(turnId, "m", "text");
    stage.host.end(turnId);
    await settle();
    assertEquals(await asked.done, { stop: "end_turn" });
    assertEquals(stage.host.ops("open", "close"), ["open", "close", "open"]);
    await stage.sessions.shutdown();
  });
}

Deno.test("[R1] an opening without an answer does not use up the time for others", async () => {
  const { stage, asked, turnId } = await working();
  stage.host.script.open = never;
  stage.host.evict();
  await settle();
  stage.host.script.open = undefined;
  stage.host.end(turnId);
  await stage.clock.advance(LIMITS.startMs);
  assertEquals(await asked.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[A8] [R1] a Host that does not answer at all is unavailable, by that name", async () => {
  const { stage, asked } = await working();
  stage.host.script.open = never;
  stage.host.evict();
  await stage.clock.advance(LIMITS.recoveryMs + LIMITS.cancelMs + LIMITS.queryMs);
  assertEquals(await asked.done, { error: "host_unavailable" });
  await stage.sessions.shutdown();
});

Deno.test("[K9] a result that came while its tool's dialog was open ends the card of a cancelled prompt", async () => {
  const { stage, sessionId, asked, run } = await asking();
  stage.host.script.stop = never;
  stage.host.frame({
    type: "tool_result",
    run,
    toolCallId: "tool",
    status: "completed",
    contentOmitted: false,
    result: { status: "completed", content: [], diffs: [] },
  });
  await settle();
  stage.sessions.cancel(sessionId);
  await stage.clock.advance(LIMITS.cancelMs);
  await asked.done;
  assertEquals(stage.client.cardStatus("tool"), "completed");
  await stage.sessions.shutdown();
});

Deno.test("[K9] [C6] a cancel while the end is being read leaves no card open behind the answer", async () => {
  const { stage, sessionId, asked, turnId } = await working();
  stage.host.script.read = never;
  stage.host.end(turnId);
  await settle();
  stage.sessions.cancel(sessionId);
  assertEquals((await asked.done as { stop: string }).stop, "cancelled");
  assertEquals(stage.client.cardStatus("tool"), "failed");
  await stage.sessions.shutdown();
});

Deno.test("[I8] a question that was answered while what was missed is read is not asked again", async () => {
  const { stage } = await asking();
  const gate = Promise.withResolvers<void>();
  stage.host.script.read = async (request) => {
    await gate.promise;
    return stage.host.page(request);
  };
  stage.host.evict();
  await settle();
  stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
  await settle();
  stage.host.pending.delete("q");
  gate.resolve();
  await settle();
  assertEquals(stage.client.requests.length, 1);
  await stage.sessions.shutdown();
});

for (const dispatch of ["answered", "unknown"] as const) {
  Deno.test(`[I2] an answer for which the Host is away (${dispatch}) is given again`, async () => {
    const { stage } = await asking();
    stage.host.script.answer = () => Promise.reject(away(dispatch));
    stage.client.requests[0]!.answer({ outcome: { outcome: "selected", optionId: "yes" } });
    await stage.clock.advance(5000);
    stage.host.script.answer = undefined;
    await stage.clock.advance(1000);
    const given = stage.host.ops("answer").length;
    assert(given > 2);
    await stage.clock.advance(5000);
    assertEquals(stage.host.ops("answer", "stop"), Array(given).fill("answer q yes"));
    await stage.sessions.shutdown();
  });
}

Deno.test("[I9] [T2] a prompt that fails takes its dialog back before it touches the card", async () => {
  const { stage, turnId } = await asking();
  stage.host.say(turnId, "m", 0, "said");
  stage.host.frame({ type: "message_reset", run: stage.host.run(turnId), messageId: "m", channel: "text" });
  await settle();
  const what = stage.client.events.map((event) =>
    event.kind === "update" ? `${event.update.sessionUpdate} ${event.update.status}` : event.kind
  );
  assertEquals(what.slice(what.indexOf("request")), [
    "request",
    "agent_message_chunk undefined",
    "cancelled",
    "tool_call_update failed",
  ]);
  await stage.sessions.shutdown();
});

Deno.test("[C7] a cancel does not wait for a Host that takes an upload back, nor for a file that opens", async () => {
  const bytes = {
    kind: "bytes" as const,
    purpose: "image" as const,
    name: "a.png",
    mimeType: "image/png",
    bytes: new Uint8Array(3),
  };
  const link = { kind: "link" as const, uri: "file:///work/a", name: "a" };
  const opened = Promise.withResolvers<never>();
  for (const part of [bytes, link]) {
    const stage = new Stage();
    const sessionId = await stage.create();
    stage.host.script.append = never;
    stage.host.script.abort = never;
    stage.files.link = () => opened.promise;
    const asked = await stage.prompt(sessionId, { parts: [part] });
    stage.sessions.cancel(sessionId);
    await settle();
    assertEquals(asked.ending, { stop: "cancelled" });
    await stage.sessions.shutdown();
  }
});

Deno.test("[S3] a close stops the Runs that begin meanwhile", async () => {
  const { stage, sessionId, turnId, run } = await working();
  const gate = Promise.withResolvers<void>();
  stage.host.script.stop = () => gate.promise;
  const close = stage.sessions.close(sessionId);
  stage.host.begin("beside", { foreground: false, origin: { kind: "engine", parent: run } });
  await settle();
  gate.resolve();
  await close;
  assertEquals(stage.host.ops("stop", "release"), [`stop ${turnId}`, "stop beside", "release"]);
  await stage.sessions.shutdown();
});

Deno.test("[S3] [C2] an opening that is answered in any moment of a close stops no Run twice", async () => {
  for (let hops = 0; hops < 40; hops++) {
    const { stage, sessionId, run } = await working();
    stage.host.begin("beside", { foreground: false, origin: { kind: "engine", parent: run } });
    await settle();
    const [opening, stopping] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    stage.host.script.open = () => opening.promise;
    stage.host.script.stop = () => stopping.promise;
    stage.host.evict("lost");
    await settle();
    const closed = stage.sessions.close(sessionId);
    await settle();
    stopping.resolve();
    for (let hop = 0; hop < hops; hop++) await Promise.resolve();
    opening.resolve();
    await closed;
    await settle();
    assertEquals(stage.host.ops("stop").filter((stop) => stop === "stop beside").length, 1, `${hops} hops`);
    await stage.sessions.shutdown();
  }
});

Deno.test("[S3] a start without an answer is settled by a close: it never begins", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.start = never;
  await stage.prompt(sessionId);
  await stage.sessions.close(sessionId);
  assertEquals(stage.host.ops("query", "release"), [`query ${stage.turnId} settle`, "release"]);
  assertEquals(stage.clock.sleepers, 0);
  await stage.sessions.shutdown();
});

Deno.test("[S3] a setting that is confirmed after the close shows nothing", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const confirmed = Promise.withResolvers<void>();
  stage.host.script.configure = async () => {
    await confirmed.promise;
    const select = { id: "mode", name: "Mode", type: "select", category: "mode" } as const;
    return { revision: 1, options: [{ ...select, value: "a", choices: [{ value: "a", name: "A" }] }] };
  };
  stage.client.events.length = 0;
  const configured = stage.sessions.configure(sessionId, { id: "mode", value: "a" });
  await stage.sessions.close(sessionId);
  confirmed.resolve();
  await configured;
  assertEquals(stage.client.events, []);
  await stage.sessions.shutdown();
});

Deno.test("[C9] a shutdown ends what is still being closed, and a load between its history and its answer", async () => {
  const { stage, sessionId } = await working();
  stage.host.script.stop = never;
  const close = stage.sessions.close(sessionId);
  const load = stage.sessions.load("s", place).catch(() => {});
  await settle();
  await stage.sessions.shutdown();
  await settle();
  assertEquals(stage.host.subscriptions.length, 0);
  await Promise.all([close, load]);

  const joining = new Stage();
  await joining.sessions.load("s", place);
  await joining.sessions.shutdown();
  await settle();
  assertEquals(joining.host.subscriptions.length, 0);
  assertEquals(joining.clock.sleepers, 0);
});
