import { assert, assertEquals } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import type { Frame } from "../../src/model/frame.ts";
import { settle } from "./manual_clock.ts";
import { Stage } from "./stage.ts";

const gone = () => new HostError("unavailable", "The connection was lost", { dispatch: "not_sent" });

for (const reason of ["slow_consumer", "lost", "draining", "gap"] as const) {
  Deno.test(`[R1] a prompt goes on after ${reason}: no text twice, none missing`, async () => {
    const stage = new Stage();
    const sessionId = await stage.create();
    const asked = await stage.prompt(sessionId);
    const { turnId } = stage;
    stage.host.say(turnId, "m", 0, "one ");
    await settle();
    if (reason === "gap") stage.host.subscriptions[0]!.lose();
    else stage.host.evict(reason);
    // What the Host did meanwhile is only in the transcript.
    stage.host.row(turnId, "m", { kind: "text", text: "one two three " }, { complete: false });
    await stage.clock.advance(100);
    stage.host.say(turnId, "m", 14, "four");
    stage.host.end(turnId);
    await stage.clock.advance(100);
    assertEquals(await asked.done, { stop: "end_turn" });
    assertEquals(stage.client.text(), "one two three four");
    assertEquals(stage.host.ops("start", "open").length, 3);
    await stage.sessions.shutdown();
  });
}

Deno.test("[R2] a read that loses its Subscription begins again at the cut of the prompt, on one Subscription", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  stage.host.message(turnId, "m", "text");
  let reads = 0;
  stage.host.script.read = (request) => {
    if (request.through === undefined || reads++ > 0) return Promise.resolve(stage.host.page(request));
    stage.host.evict("lost");
    return Promise.reject(gone());
  };
  stage.host.end(turnId);
  await stage.clock.advance(100);
  assertEquals(await asked.done, { stop: "end_turn" });
  assertEquals(stage.host.ops("read").filter((read) => !read.includes(".. ")), [
    `read ${turnId} 0..2 held 1`,
    `read ${turnId} 0..2 held 1`,
  ]);
  assertEquals(stage.host.subscriptions.length, 1);
  await stage.sessions.shutdown();
});

Deno.test("[R1] [R2] a page that never comes is a Subscription lost: the end is read on the next one, and settings arrive", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  stage.host.message(turnId, "m", "text");
  let reads = 0;
  stage.host.script.read = (request) =>
    reads++ === 0 ? new Promise(() => {}) : Promise.resolve(stage.host.page(request));
  stage.host.end(turnId);
  await stage.clock.advance(LIMITS.readMs - 1);
  assertEquals([asked.ending, stage.host.subscriptions.length], [undefined, 1]);
  await stage.clock.advance(100);
  assertEquals(await asked.done, { stop: "end_turn" });
  assertEquals([stage.client.text(), stage.host.ops("open").length], ["text", 2]);
  await stage.sessions.shutdown();
});

Deno.test("[R1] [P3] a Host that opens and never shows a page fails the prompt after a minute", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  stage.host.script.read = () => new Promise(() => {});
  stage.host.end(stage.turnId);
  await stage.clock.advance(LIMITS.recoveryMs - LIMITS.readMs);
  assertEquals(asked.ending, undefined);
  await stage.clock.advance(2 * LIMITS.readMs);
  assertEquals(asked.ending, { error: "host_unavailable" });
  await stage.sessions.shutdown();
});

Deno.test("[R3] another store is not the same Session", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  stage.host.storeId = "another";
  stage.host.evict("lost");
  await stage.clock.advance(LIMITS.cancelMs);
  assertEquals(await asked.done, { error: "host_unavailable" });
  await stage.sessions.shutdown();
});

Deno.test("[R1] without an opening for a minute the prompt fails, and the next one tries again", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  stage.host.script.open = () => Promise.reject(gone());
  stage.host.evict("lost");
  await stage.clock.advance(LIMITS.recoveryMs - 1000);
  assertEquals(asked.ending, undefined);
  await stage.clock.advance(5000);
  assertEquals(asked.ending, { error: "host_unavailable" });
  stage.host.script.open = () => Promise.resolve();
  stage.host.live.delete(turnId);
  const next = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  assertEquals(await next.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[A8] [R1] a Host that cannot be reached fails the request at once, the next one tries again", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.open = () => Promise.reject(gone());
  assertEquals(await (await stage.prompt(sessionId)).done, { error: "host_unavailable" });
  stage.host.script.open = () => Promise.resolve();
  const next = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  assertEquals(await next.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});

Deno.test("[P2] [R1] a Run that the new snapshot lacks is asked for; its end counts", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  stage.host.say(turnId, "m", 0, "one ");
  await settle();
  const opening = Promise.withResolvers<void>();
  stage.host.script.open = () => opening.promise;
  stage.host.evict("lost");
  await settle();
  stage.host.message(turnId, "m", "one two");
  stage.host.end(turnId);
  opening.resolve();
  await stage.clock.advance(100);
  assertEquals(await asked.done, { stop: "end_turn" });
  assertEquals(stage.client.text(), "one two");
  assertEquals(stage.host.ops("query"), [`query ${turnId}`]);
  await stage.sessions.shutdown();
});

Deno.test("[P2] [R1] a Turn that ended between two Subscriptions is found, though the start is answered late and a query is lost", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const reply = Promise.withResolvers<void>();
  stage.host.script.start = async ({ turnId }) => {
    await reply.promise;
    return { kind: "done", value: { kind: "admitted", run: stage.host.run(turnId) } };
  };
  const asked = await stage.prompt(sessionId);
  const { turnId } = stage;
  let queries = 0;
  const lost = Promise.withResolvers<never>();
  stage.host.script.query = () =>
    queries++ === 0 ? lost.promise : Promise.resolve(stage.host.ended.get(turnId)!);
  stage.host.evict("lost");
  stage.host.begin(turnId);
  stage.host.message(turnId, "m", "all of it");
  stage.host.end(turnId);
  await stage.clock.advance(100);
  reply.resolve();
  await settle();
  lost.reject(gone());
  await stage.clock.advance(LIMITS.queryMs);
  assertEquals(asked.ending, { stop: "end_turn" });
  assertEquals([stage.client.text(), queries], ["all of it", 2]);
  await stage.sessions.shutdown();
});

for (const lost of [false, true]) {
  const how = lost ? "rows that a new Subscription counts as missed" : "frames that come late";
  Deno.test(`[R1] [K1] a Turn whose end a query told is not shown again because of ${how}`, async () => {
    const stage = new Stage();
    const { host } = stage;
    const sessionId = await stage.create();
    host.script.start = () => new Promise(() => {});
    const asked = await stage.prompt(sessionId);
    const { turnId } = stage;
    // The frames are still on their way.
    const late: Frame[] = [];
    const frame = host.frame;
    host.frame = (each) => void late.push(each);
    host.begin(turnId);
    host.message(turnId, "m", "once");
    host.end(turnId);
    host.frame = frame;
    await stage.clock.advance(LIMITS.startMs + 100);
    assertEquals(asked.ending, { stop: "end_turn" });
    if (lost) host.evict("lost");
    else for (const each of late) host.frame(each);
    await stage.clock.advance(100);
    host.script.start = undefined;
    const next = await stage.prompt(sessionId);
    host.end(stage.turnId);
    await next.done;
    assertEquals([stage.client.text(), stage.client.updates("user_message_chunk")], ["once", []]);
    await stage.sessions.shutdown();
  });
}

Deno.test("[R1] [K3] a Run beside the prompt whose end cannot be read for a minute leaves no card open", async () => {
  const stage = new Stage();
  const { host } = stage;
  const sessionId = await stage.create();
  const asked = await stage.prompt(sessionId);
  const parent = host.run(stage.turnId);
  const run = host.begin("beside", { foreground: false, origin: { kind: "engine", parent } });
  host.frame({ type: "tool_start", run, toolCallId: "tool" });
  host.end(stage.turnId);
  await asked.done;
  host.script.read = () => new Promise(() => {});
  host.end("beside");
  await stage.clock.advance(LIMITS.recoveryMs + LIMITS.readMs);
  assertEquals(stage.client.updates("tool_call_update").at(-1)?.status, "failed");
  await stage.sessions.shutdown();
});

Deno.test("[T2] text that was rewritten while the connection was lost fails the prompt and stops its Run", async () => {
  const rewrites = ["other words", "one", ""];
  for (const text of rewrites) {
    const stage = new Stage();
    const sessionId = await stage.create();
    const asked = await stage.prompt(sessionId);
    const { turnId } = stage;
    stage.host.say(turnId, "m", 0, "one thing");
    await settle();
    stage.host.evict("lost");
    stage.host.row(turnId, "m", { kind: "text", text });
    await stage.clock.advance(1000);
    assertEquals(asked.ending, { error: "unsupported_stream_revision" }, `rewritten as "${text}"`);
    assertEquals(stage.host.ops("stop"), [`stop ${turnId}`]);
    assertEquals(stage.client.text(), "one thing");
    await stage.sessions.shutdown();
  }
});

Deno.test("[C9] shutdown ends an Attachment that waits for the Host", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  stage.host.script.open = () => new Promise(() => {});
  const asked = await stage.prompt(sessionId);
  await stage.sessions.shutdown();
  await settle();
  assert(asked.ending !== undefined);
  assertEquals(stage.clock.sleepers, 0);
});

Deno.test("Turns of others that ended meanwhile are shown at the start of the next prompt", async () => {
  const stage = new Stage();
  const sessionId = await stage.create();
  const first = await stage.prompt(sessionId);
  stage.host.end(stage.turnId);
  await first.done;
  stage.host.begin("foreign", {
    origin: { kind: "connection", connectionId: "elsewhere" },
    presenter: "elsewhere",
  });
  stage.host.message("foreign", "f", "from elsewhere");
  stage.host.end("foreign");
  await settle();
  assertEquals(stage.client.text(), "");
  const second = await stage.prompt(sessionId);
  assertEquals(stage.client.text(), "from elsewhere");
  stage.host.end(stage.turnId);
  assertEquals(await second.done, { stop: "end_turn" });
  await stage.sessions.shutdown();
});
