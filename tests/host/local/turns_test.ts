import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import type { EngineOutcome, EngineSink } from "../../../src/engine/contract.ts";
import type { Frame } from "../../../src/model/frame.ts";
import type { RunEnd } from "../../../src/model/run.ts";
import { decodeBody } from "../../../src/model/row.ts";
import { FaultyStore, gate } from "./faulty_store.ts";
import { done, ended, NO_SERVICES, opened, plain, type Script, started, until, worldOf } from "./world.ts";

const nothing = () => Promise.resolve();
const running = (frame: Frame): boolean => frame.type === "run" && frame.live.phase === "running";

/** The frame that says how a Run ended. */
function endOf(frames: readonly Frame[]): RunEnd | undefined {
  const frame = frames.find(ended);
  return frame?.type === "run_ended" ? frame.end : undefined;
}

/** Waits for an abort. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

Deno.test("[P1] a start is durable in one commit before its reply, and its frames may come before that", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const commit = gate();
  const committing = gate();
  store.onCommit = () => {
    committing.open();
    return commit.promise;
  };
  let replied = false;
  const start = started(connection, "t1").finally(() => replied = true);
  await committing.promise;
  await world.clock.turn();
  assertEquals([replied, world.engine.asked], [false, []]);
  commit.open();
  const run = await start;
  const [batch] = store.batches;
  assertEquals(batch?.map((write) => write.op), ["info", "row", "body", "turn", "watermark"]);
  const frames = await until(subscription, ended);
  assertEquals(frames.map((frame) => frame.type).slice(0, 3), ["run", "transcript", "run"]);
  assertEquals(frames[0]?.type === "run" && frames[0].live, {
    run,
    phase: "admitted",
    foreground: true,
    origin: { kind: "connection", connectionId: "c1" },
    presenter: "c1",
    cut: 0,
  });
});

Deno.test("one foreground slot: a second start is busy and starts nothing", async () => {
  const going = gate();
  await using world = worldOf(() => going.promise);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const other = world.host.connect("c2");
  const admission = done(
    await other.turns.start({ sessionId: "s1", turnId: "t2", input: { parts: [] } }),
  );
  assertEquals(admission, { kind: "busy", run, origin: { kind: "connection", connectionId: "c1" } });
  assertEquals(await other.turns.query({ sessionId: "s1", turnId: "t2", settle: false }), {
    kind: "not_found",
    settled: false,
  });
  going.open();
  await until(subscription, ended);
  // Not admitted is not used up: the same Turn may be started later.
  await started(connection, "t2");
  await until(subscription, ended);
  assertEquals(world.engine.asked, ["open", "run t1", "run t2"]);
});

Deno.test("[P8] a Turn is admitted once: a start that is repeated, or settled before, is a conflict", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const start = (turnId: string) => connection.turns.start({ sessionId: "s1", turnId, input: { parts: [] } });
  const query = (turnId: string, settle: boolean) =>
    connection.turns.query({ sessionId: "s1", turnId, settle });
  // Calls take effect in the order in which they were made, replies outstanding or not.
  const [first, repeated, live, tombstone, late] = await Promise.all([
    start("t1"),
    start("t1"),
    query("t1", true),
    query("t2", true),
    start("t2"),
  ]);
  assertEquals(first.kind, "done");
  assertEquals(repeated.kind === "answered" && repeated.error.code, "conflict");
  assertEquals(live.kind, "live");
  assertEquals(tombstone, { kind: "not_found", settled: true });
  assertEquals(late.kind === "answered" && late.error.code, "conflict");
  const end = (await until(subscription, ended)).find(ended);
  const state = await query("t1", true);
  assertEquals(
    state.kind === "ended" && end?.type === "run_ended" && [state.run, state.end, state.through],
    end?.type === "run_ended" && [end.run, end.end, end.through],
  );
  assertEquals(await query("t2", false), { kind: "not_found", settled: true });
  const again = await start("t1");
  assertEquals(again.kind === "answered" && again.error.code, "conflict");
});

Deno.test("a tombstone is durable before its reply", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const connection = world.host.connect("c1");
  await opened(connection);
  await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: true });
  assertEquals(store.batches.flat(), [{ op: "turn", turn: { state: "tombstone", turnId: "t1" } }]);
});

const ENDS: readonly [string, Script, RunEnd][] = [
  ["a stop reason", () => Promise.resolve({ kind: "completed", stopReason: "max_tokens" }), {
    how: "completed",
    stopReason: "max_tokens",
    meta: undefined,
  }],
  [
    "a failure",
    () => Promise.resolve({ kind: "failed", failure: { class: "authentication", message: "Log in" } }),
    { how: "failed", failure: { class: "authentication", message: "Log in", data: undefined } },
  ],
  ["a throw", () => Promise.reject(new Error("It broke")), {
    how: "failed",
    failure: { class: "engine", message: "It broke", data: undefined },
  }],
  ["a throw of nothing", () => Promise.reject(undefined), {
    how: "failed",
    failure: { class: "engine", message: "The agent failed without saying why", data: undefined },
  }],
  ["a made-up outcome", () => Promise.resolve({ kind: "completed", stopReason: "bored" } as never), {
    how: "failed",
    failure: { class: "engine", message: "The agent ended the Turn without saying how", data: undefined },
  }],
  [
    "a made-up failure class",
    () => Promise.resolve({ kind: "failed", failure: { class: "bad", message: "x" } } as never),
    {
      how: "failed",
      failure: { class: "engine", message: "x", data: undefined },
    },
  ],
];
for (const [what, script, end] of ENDS) {
  Deno.test(`an Engine that ends with ${what}`, async () => {
    await using world = worldOf(script);
    const connection = world.host.connect("c1");
    const subscription = await opened(connection);
    await started(connection, "t1");
    assertEquals(plain(endOf(await until(subscription, ended))), plain(end));
    world.engine.script = nothing;
    await started(connection, "t2");
    assertEquals(endOf(await until(subscription, ended))?.how, "completed");
  });
}

Deno.test("an Engine that cannot be opened fails the Turn, and is opened again for the next", async () => {
  await using world = worldOf(nothing);
  let tries = 0;
  world.engine.opening = () =>
    ++tries === 1 ? Promise.reject(new Error("No such program")) : Promise.resolve();
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const end = endOf(await until(subscription, ended));
  assertEquals(end?.how === "failed" && end.failure.message, "No such program");
  await started(connection, "t2");
  assertEquals(endOf(await until(subscription, ended))?.how, "completed");
});

Deno.test("[C2] a stop ends exactly the Run that it names, by key, as stopped by who asked", async () => {
  await using world = worldOf((_turn, _sink, signal) => aborted(signal));
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const stop = (wanted: { turnId: string; runId: string }) =>
    world.host.connect("c2").turns.stop({ sessionId: "s1", run: wanted });
  for (const wanted of [{ ...run, runId: "other" }, { ...run, turnId: "t0" }]) {
    assertEquals((await assertRejects(() => stop(wanted), HostError)).code, "not_found");
  }
  assertEquals((await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: false })).kind, "live");
  await Promise.all([stop(run), stop(run)]);
  assertEquals(endOf(await until(subscription, ended)), { how: "stopped", by: "c2" });
  await stop(run);
  assertEquals((await assertRejects(() => stop({ ...run, runId: "other" }), HostError)).code, "not_found");
});

Deno.test("[C3] a Run that another connection started is seen, and any connection stops it", async () => {
  await using world = worldOf((_turn, _sink, signal) => aborted(signal));
  const idle = world.host.connect("c1");
  const subscription = await opened(idle);
  const run = await started(world.host.connect("c2"), "t1");
  const [live] = (await subscription.next()).frames;
  assertEquals(live?.type === "run" && [live.live.run, live.live.presenter], [run, "c2"]);
  await idle.turns.stop({ sessionId: "s1", run });
  assertEquals(endOf(await until(subscription, ended)), { how: "stopped", by: "c1" });
});

Deno.test("[C2] after a stop the Host ignores the Engine, and ends the Run by itself after the grace", async () => {
  const spoke = gate();
  const late = gate();
  let sink: EngineSink | undefined;
  await using world = worldOf(async (_turn, given) => {
    sink = given;
    await given.message("m", "text", "before");
    spoke.open();
    await late.promise;
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  await spoke.promise;
  await connection.turns.stop({ sessionId: "s1", run });
  await sink?.message("m", "text", " after");
  await sink?.toolStart("x", { complete: true, sensitive: false, title: "x", kind: "read", locations: [] });
  await assertRejects(
    async () => await sink?.ask({ kind: "question", message: "?", options: [{ optionId: "a", name: "A" }] }),
    DOMException,
  );
  await world.clock.advance(399);
  assertEquals((await connection.turns.query({ sessionId: "s1", turnId: "t1", settle: false })).kind, "live");
  await world.clock.advance(1);
  const frames = await until(subscription, ended);
  assertEquals(endOf(frames), { how: "stopped", by: "c1" });
  await sink?.message("m", "text", " still");
  late.open();
  // The Engine's Session that hung is closed; the next Turn gets a new one.
  world.engine.script = nothing;
  await started(connection, "t2");
  frames.push(...await until(subscription, ended));
  assertEquals(world.engine.asked, ["open", "run t1", "close", "open", "run t2"]);
  assertEquals(frames.flatMap((frame) => frame.type === "message" ? [frame.text] : []), ["before"]);
  assertEquals(
    frames.filter((frame) => frame.type === "tool_start" || frame.type === "interaction_opened"),
    [],
  );
});

Deno.test("an Engine that ends in time after a stop keeps its Session", async () => {
  await using world = worldOf((_turn, _sink, signal) => aborted(signal));
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  await until(subscription, running);
  await connection.turns.stop({ sessionId: "s1", run });
  await until(subscription, ended);
  await world.clock.advance(1000);
  assertEquals([world.clock.waiting, world.engine.asked], [0, ["open", "run t1"]]);
});

Deno.test("a background Run has an own Turn, outlives a foreground stop and is stopped by its own key", async () => {
  const opened1 = gate<string>();
  const tick = gate();
  await using world = worldOf(async (_turn, sink, signal) => {
    const runId = await sink.background(async (beside, own) => {
      await tick.promise;
      await beside.message("b", "text", "beside");
      await aborted(own);
      return { kind: "completed", stopReason: "end_turn" };
    });
    opened1.open(runId);
    await aborted(signal);
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const runId = await opened1.promise;
  const { runs } = (await connection.sessions.open("s1", NO_SERVICES)).snapshot;
  const beside = runs.find((each) => each.run.runId === runId);
  assertEquals(beside && { ...beside, run: "" }, {
    run: "",
    phase: "running",
    foreground: false,
    origin: { kind: "engine", parent: run },
    presenter: "c1",
    cut: 1,
  });
  await connection.turns.stop({ sessionId: "s1", run });
  assertEquals(endOf(await until(subscription, ended)), { how: "stopped", by: "c1" });
  tick.open();
  const frames = await until(subscription, (frame) => frame.type === "message");
  assertEquals(frames.some((frame) => frame.type === "message" && frame.run.runId === runId), true);
  // It does not take the foreground slot, and a new Turn does not end it.
  world.engine.script = nothing;
  await started(connection, "t2");
  await until(subscription, ended);
  if (beside === undefined) throw new Error("There is no background Run");
  await connection.turns.stop({ sessionId: "s1", run: beside.run });
  const end = (await until(subscription, ended)).find(ended);
  assertEquals(end?.type === "run_ended" && [end.run, end.end.how], [beside.run, "stopped"]);
  assertEquals(world.engine.asked, ["open", "run t1", "run t2"]);
});

Deno.test("[I7] adoption is a compare-and-set from nobody", async () => {
  await using world = worldOf((_turn, _sink, signal) => aborted(signal));
  const [one, two, three] = ["c1", "c2", "c3"].map((id) => world.host.connect(id));
  if (one === undefined || two === undefined || three === undefined) throw new Error("There are three");
  const subscription = await opened(one);
  const seen = await two.sessions.open("s1", NO_SERVICES);
  const run = await started(one, "t1");
  const adopt = (host: typeof one) => host.turns.adopt({ sessionId: "s1", run });
  const taken = await assertRejects(() => adopt(two), HostError);
  assertEquals([taken.code, taken.data], ["conflict", { presenter: "c1" }]);
  await one.close();
  assertEquals((await subscription.next()).frames.at(-1)?.type, "closed");
  const outcomes = await Promise.allSettled([adopt(two), adopt(three)]);
  assertEquals(outcomes.map((each) => each.status), ["fulfilled", "rejected"]);
  await adopt(two);
  const presenters = (await until(seen, (frame) => frame.type === "run" && frame.live.presenter === "c2"))
    .flatMap((frame) => frame.type === "run" ? [frame.live.presenter ?? "nobody"] : []);
  assertEquals(presenters.slice(-2), ["nobody", "c2"]);
  await two.turns.stop({ sessionId: "s1", run });
  await until(seen, ended);
  assertEquals((await assertRejects(() => adopt(two), HostError)).code, "not_found");
});

Deno.test("words for a working Run are taken once for each key and recorded", async () => {
  const going = gate();
  const words: string[] = [];
  await using world = worldOf(() => going.promise);
  world.engine.opening = () =>
    Promise.resolve({
      steer: (_turnId, input) => {
        words.push(JSON.stringify(input.parts));
        return Promise.resolve(words.length !== 2);
      },
    });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const steer = (steerId: string, text: string) =>
    connection.turns.steer({ sessionId: "s1", run, steerId, input: { parts: [{ kind: "text", text }] } });
  await Promise.all([steer("a", "one"), steer("a", "one")]);
  const refused = await assertRejects(() => steer("b", "two"), HostError);
  assertEquals(refused.code, "unavailable");
  await steer("b", "two");
  assertEquals(words.length, 3);
  going.open();
  await until(subscription, ended);
  assertEquals((await assertRejects(() => steer("c", "three"), HostError)).code, "unavailable");
  const { rows } = await subscription.read({ after: 0, maxLength: 10_000 });
  const said = rows.filter((row) => row.kind === "user").map((
    row,
  ) => [row.id, decodeBody("user", row.body?.text ?? "")]);
  assertEquals(said.map(([id]) => id), ["t1", "a", "b"]);
});

Deno.test("an Engine that takes no words is unavailable for them, and is not waited for in the mailbox", async () => {
  const going = gate();
  const asked = gate();
  await using world = worldOf(() => going.promise);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const steer = { sessionId: "s1", run, steerId: "a", input: { parts: [] } };
  assertEquals((await assertRejects(() => connection.turns.steer(steer), HostError)).code, "unavailable");
  going.open();
  await until(subscription, ended);
  const hanging = gate();
  world.engine.script = () => hanging.promise;
  world.engine.opening = () =>
    Promise.resolve({
      steer: () => {
        asked.open();
        return new Promise<boolean>(() => {});
      },
    });
  await connection.sessions.bind({ sessionId: "s1", roots: ["/new"], mcpServers: [] });
  const second = await started(connection, "t2");
  void connection.turns.steer({ ...steer, run: second }).catch(() => {});
  await asked.promise;
  assertEquals((await connection.turns.query({ sessionId: "s1", turnId: "t2", settle: false })).kind, "live");
  hanging.open();
  await until(subscription, ended);
});

Deno.test("a Turn's Engine is told what the presenting Client offers, nothing where nobody presents", async () => {
  const next = gate();
  const offered: unknown[] = [];
  await using world = worldOf(async (turn) => {
    offered.push(turn.services().terminal);
    await next.promise;
    offered.push(turn.services());
  });
  const connection = world.host.connect("c1");
  done(await connection.sessions.create({ sessionId: "s1", cwd: "/w", roots: [], mcpServers: [] }));
  const other = world.host.connect("c2");
  const watching = await other.sessions.open("s1", NO_SERVICES);
  await connection.sessions.open("s1", { ...NO_SERVICES, terminal: true });
  await started(connection, "t1");
  await until(watching, running);
  await connection.sessions.release("s1");
  next.open();
  await until(watching, ended);
  assertEquals(offered, [true, NO_SERVICES]);
});

Deno.test("an agent that is not configured any more fails the Turn; its history stays readable", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const info = {
    ...done(
      await world.host.connect("c1").sessions.create({
        sessionId: "s0",
        cwd: "/w",
        roots: [],
        mcpServers: [],
      }),
    ),
  };
  await (await store.create({ ...info, sessionId: "s1", engineId: "gone" })).close();
  const connection = world.host.connect("c1");
  const subscription = await connection.sessions.open("s1", NO_SERVICES);
  await started(connection, "t1");
  const end = endOf(await until(subscription, ended));
  assertEquals(
    end?.how === "failed" && end.failure.message,
    "The agent of this Session is not configured here: name it with --agent",
  );
  assertEquals((await subscription.read({ after: 0, maxLength: 1000 })).rows.map((row) => row.kind), [
    "user",
    "end",
  ]);
});

Deno.test("engine_gone gives the Engine's Session up; the next Turn opens another", async () => {
  const gone: EngineOutcome = { kind: "failed", failure: { class: "engine_gone", message: "It died" } };
  await using world = worldOf(() => Promise.resolve(gone));
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  world.engine.script = nothing;
  await started(connection, "t2");
  await until(subscription, ended);
  assertEquals(world.engine.asked, ["open", "run t1", "close", "open", "run t2"]);
});
