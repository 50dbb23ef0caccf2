import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import type { ClientServices, RuntimeHost, Subscription } from "../../../src/host/contract.ts";
import type { ClientCall, Frame } from "../../../src/model/frame.ts";
import type { Json } from "../../../src/model/json.ts";
import { gate } from "./faulty_store.ts";
import { done, ended, started, until, type World, worldOf } from "./world.ts";

const SERVICES: ClientServices = { readTextFile: true, writeTextFile: false, terminal: true, forms: false };

interface Outcome {
  readonly method: string;
  readonly result?: Json;
  readonly code?: string;
  readonly message?: string;
  readonly data?: unknown;
}

/** A world whose Engine makes these calls at once and keeps what came of them. */
function calling(...methods: string[]): World & { outcomes: Outcome[] } {
  const outcomes: Outcome[] = [];
  const world = worldOf(async (_turn, sink) => {
    await Promise.all(methods.map(async (method) => {
      try {
        outcomes.push({ method, result: await sink.call(method, { path: "/a" }) });
      } catch (error) {
        const known = error instanceof HostError;
        outcomes.push({
          method,
          code: known ? error.code : String(error),
          message: known ? error.message : "",
          data: known ? error.data : undefined,
        });
      }
    }));
  });
  return Object.assign(world, { outcomes });
}

async function openedWith(
  connection: RuntimeHost,
  services: ClientServices = SERVICES,
): Promise<Subscription> {
  done(await connection.sessions.create({ sessionId: "s1", cwd: "/w", roots: [], mcpServers: [] }));
  return await connection.sessions.open("s1", services);
}

const isCall = (frame: Frame): boolean => frame.type === "call";

function callIn(frames: readonly Frame[]): ClientCall {
  const frame = frames.find(isCall);
  if (frame?.type !== "call") throw new Error("There was no call");
  return frame.call;
}

Deno.test("a call goes to the presenter alone and brings back its result, once", async () => {
  await using world = calling("fs/read_text_file");
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  const other = world.host.connect("c2");
  const watching = await other.sessions.open("s1", SERVICES);
  const run = await started(connection, "t1");
  const call = callIn(await until(subscription, isCall));
  assertEquals({ ...call, callId: "" }, {
    callId: "",
    run,
    method: "fs/read_text_file",
    params: { path: "/a" },
  });
  const { callId } = call;
  const settle = (host: RuntimeHost, id = callId) =>
    host.calls.settle({ sessionId: "s1", callId: id, result: { content: "x" } });
  assertEquals((await assertRejects(() => settle(other), HostError)).code, "unauthorized");
  await settle(connection);
  assertEquals((await assertRejects(() => settle(connection), HostError)).code, "already_resolved");
  const failing = () => connection.calls.fail({ sessionId: "s1", callId, code: 1, message: "late" });
  assertEquals((await assertRejects(failing, HostError)).code, "already_resolved");
  const unknown = callId.replace(/\d+$/, "99");
  assertEquals((await assertRejects(() => settle(connection, unknown), HostError)).code, "not_found");
  const frames = await until(watching, ended);
  assertEquals(frames.some(isCall), false);
  assertEquals(world.outcomes, [{ method: "fs/read_text_file", result: { content: "x" } }]);
});

Deno.test("an editor's refusal reaches the Engine with its code and sentence", async () => {
  await using world = calling("fs/read_text_file");
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  await started(connection, "t1");
  const { callId } = callIn(await until(subscription, isCall));
  await connection.calls.fail({ sessionId: "s1", callId, code: -32002, message: "No such file" });
  await until(subscription, ended);
  assertEquals(world.outcomes, [
    { method: "fs/read_text_file", code: "unavailable", message: "No such file", data: { code: -32002 } },
  ]);
});

Deno.test("a call that nobody can serve fails at once: no service, no such method, nobody there", async () => {
  await using world = calling("fs/write_text_file", "session/prompt");
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  assertEquals(frames.some(isCall), false);
  assertEquals(world.outcomes.map((each) => each.code), ["unavailable", "invalid"]);
});

/** How a presenter goes away while a call waits. */
const LEAVINGS: readonly [string, (connection: RuntimeHost, subscription: Subscription) => Promise<void>][] =
  [
    ["release", (connection) => connection.sessions.release("s1")],
    ["the end of the connection", (connection) => connection.close()],
  ];
for (const [how, leave] of LEAVINGS) {
  Deno.test(`calls fail as unavailable with ${how}; the Run goes on`, async () => {
    await using world = calling("terminal/wait_for_exit");
    const connection = world.host.connect("c1");
    const subscription = await openedWith(connection);
    const watching = await world.host.connect("c2").sessions.open("s1", SERVICES);
    await started(connection, "t1");
    const { callId } = callIn(await until(subscription, isCall));
    await leave(connection, subscription);
    const frames = await until(watching, ended);
    const end = frames.find(ended);
    assertEquals(end?.type === "run_ended" && end.end.how, "completed");
    assertEquals(world.outcomes.map((each) => each.code), ["unavailable"]);
    const late = () => world.host.connect("c1").calls.settle({ sessionId: "s1", callId, result: null });
    assertEquals((await assertRejects(late, HostError)).code, "already_resolved");
  });
}

Deno.test("a call that was not handed out fails when its Subscription is closed; one that was lives on", async () => {
  const second = gate();
  const outcomes: string[] = [];
  await using world = worldOf(async (_turn, sink) => {
    const ask = (name: string) =>
      sink.call("fs/read_text_file", { path: name }).then(
        () => outcomes.push(`${name} done`),
        (error) => outcomes.push(`${name} ${error.code}`),
      );
    const first = ask("/first");
    await second.promise;
    await Promise.all([first, ask("/second")]);
  });
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  await started(connection, "t1");
  const { callId } = callIn(await until(subscription, isCall));
  second.open();
  await world.clock.turn();
  await subscription.close();
  await world.clock.turn();
  assertEquals(outcomes, ["/second unavailable"]);
  await connection.calls.settle({ sessionId: "s1", callId, result: null });
  const again = await connection.sessions.open("s1", SERVICES);
  if (again.snapshot.runs.length > 0) await until(again, ended);
  assertEquals(outcomes, ["/second unavailable", "/first done"]);
});

Deno.test("without any Subscription a presenter gets no calls", async () => {
  await using world = calling("fs/read_text_file");
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  await subscription.close();
  const watching = await world.host.connect("c2").sessions.open("s1", SERVICES);
  await started(connection, "t1");
  await until(watching, ended);
  assertEquals(world.outcomes.map((each) => each.code), ["unavailable"]);
});

Deno.test("an aborted call is taken back from the editor", async () => {
  const controller = new AbortController();
  let reason: unknown;
  await using world = worldOf(async (_turn, sink) => {
    const aborted = new AbortController();
    aborted.abort("before");
    await sink.call("fs/read_text_file", {}, aborted.signal).catch((error) => reason = error);
    await sink.call("fs/read_text_file", {}, controller.signal).catch((error) =>
      reason = `${reason} ${error}`
    );
  });
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  const run = await started(connection, "t1");
  const { callId } = callIn(await until(subscription, isCall));
  controller.abort("after");
  const frames = await until(subscription, ended);
  assertEquals(frames.find((frame) => frame.type === "call_cancelled"), {
    type: "call_cancelled",
    callId,
    run,
  });
  assertEquals(reason, "before after");
});

Deno.test("[C2] a stop fails the Run's calls, but lets it release what it has at the editor until it has ended", async () => {
  const outcomes: string[] = [];
  await using world = worldOf(async (_turn, sink) => {
    const note = (what: string) => (error: unknown) =>
      void outcomes.push(`${what} ${error instanceof DOMException}`);
    await sink.call("terminal/wait_for_exit", {}).catch(note("wait"));
    await sink.call("terminal/create", {}).catch(note("create"));
    await sink.call("terminal/release", {}).then(() => outcomes.push("released"));
  });
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  const run = await started(connection, "t1");
  const waiting = callIn(await until(subscription, isCall));
  await connection.turns.stop({ sessionId: "s1", run });
  const frames = await until(subscription, isCall);
  assertEquals(frames.find((frame) => frame.type === "call_cancelled"), {
    type: "call_cancelled",
    callId: waiting.callId,
    run,
  });
  const release = callIn(frames);
  assertEquals(release.method, "terminal/release");
  await connection.calls.settle({ sessionId: "s1", callId: release.callId, result: {} });
  await until(subscription, ended);
  assertEquals(outcomes, ["wait true", "create true", "released"]);
});

Deno.test("a Run that the Host ends by itself takes its last calls back", async () => {
  let outcome = "";
  await using world = worldOf(async (_turn, sink, signal) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await sink.call("terminal/kill", {}).catch((error) => outcome = error.name);
  });
  const connection = world.host.connect("c1");
  const subscription = await openedWith(connection);
  const run = await started(connection, "t1");
  await until(subscription, (frame) => frame.type === "run" && frame.live.phase === "running");
  await connection.turns.stop({ sessionId: "s1", run });
  await until(subscription, isCall);
  await world.clock.advance(400);
  const frames = await until(subscription, ended);
  assertEquals(frames.map((frame) => frame.type).filter((type) => type === "call_cancelled"), [
    "call_cancelled",
  ]);
  assertEquals(outcome, "AbortError");
});
