import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { SessionChange } from "../../../src/host/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { FaultyStore, gate, unclosed } from "./faulty_store.ts";
import { done, embedded, ended, NO_SERVICES, opened, started, until, worldOf } from "./world.ts";

const nothing = () => Promise.resolve();

function creation(sessionId: string, cwd = "/w") {
  return { sessionId, cwd, roots: ["/r"], mcpServers: [] };
}

Deno.test("[A8] a store that cannot be opened fails that request, and the next one tries again", async () => {
  const store = new MemoryStore();
  let tries = 0;
  await using world = worldOf(nothing, {
    open: () => ++tries < 3 ? Promise.reject(new Error("no such disk")) : Promise.resolve(store),
  });
  const connection = world.host.connect("c1");
  assertEquals(connection.describe().engineId, "scripted");
  assertEquals(tries, 0, "describing opens nothing");
  const error = await assertRejects(() => connection.sessions.list({}), HostError);
  assertEquals([error.code, error.dispatch, error.message], [
    "unavailable",
    "not_sent",
    "Cannot open the store of Sessions",
  ]);
  const reply = await connection.sessions.create(creation("s1"));
  assertEquals(reply.kind, "not_sent");
  assertEquals(done(await connection.sessions.create(creation("s1"))).sessionId, "s1");
  await connection.sessions.list({});
  assertEquals(tries, 3);
});

Deno.test("a new Session has the Engine's options with the wanted values, and its id is used once", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  const info = done(
    await connection.sessions.create({ ...creation("s1"), options: [{ id: "fast", value: true }] }),
  );
  assertEquals(info.config.revision, 1);
  assertEquals(info.config.options.map((option) => option.value), ["ask", true]);
  assertEquals(info.commands, [{ name: "say", description: "Says it" }]);
  assertEquals([info.createdAt, info.updatedAt, info.cwd, info.roots], [1000, 1000, "/w", ["/r"]]);
  assertEquals(await connection.sessions.get("s1"), info);
  const again = await connection.sessions.create(creation("s1"));
  assertEquals(again.kind === "answered" && again.error.code, "conflict");
});

const REFUSED_CREATIONS: readonly [string, Record<string, unknown>, RegExp][] = [
  ["an unknown agent", { engineId: "other" }, /no agent "other"; there are "scripted"/],
  ["an unknown option", { options: [{ id: "x", value: "y" }] }, /no option "x"; there are "mode", "fast"/],
  ["an unknown value", { options: [{ id: "mode", value: "y" }] }, /"mode" is one of "ask", "write"/],
  ["a value of another type", { options: [{ id: "fast", value: "y" }] }, /"fast" is either true or false/],
  ["a path as an id", { sessionId: "../x" }, /1 to 64 of A-Z/],
];
for (const [what, change, says] of REFUSED_CREATIONS) {
  Deno.test(`creation refuses ${what} and does nothing`, async () => {
    const store = new FaultyStore();
    await using world = worldOf(nothing, { store });
    const reply = await world.host.connect("c1").sessions.create({ ...creation("s1"), ...change });
    if (reply.kind !== "answered") throw new Error(`It was ${reply.kind}`);
    assertEquals(reply.error.code, "invalid");
    assertMatch(reply.error.message, says);
    assertEquals(store.asked, []);
  });
}

Deno.test("an id that does not match is invalid before anything is opened", async () => {
  const store = new FaultyStore();
  let openings = 0;
  await using world = worldOf(nothing, {
    open: () => {
      openings++;
      return Promise.resolve(store);
    },
  });
  const connection = world.host.connect("c1");
  const bad = "../../etc";
  const run = { turnId: bad, runId: "r" };
  const key = { sessionId: "s1", uploadId: bad };
  const calls: readonly (() => Promise<unknown>)[] = [
    () => connection.sessions.get(bad),
    () => connection.sessions.remove(bad),
    () => connection.sessions.bind({ sessionId: bad, roots: [], mcpServers: [] }),
    () => connection.sessions.open(bad, NO_SERVICES),
    () => connection.sessions.release(bad),
    () => connection.sessions.configure({ sessionId: "s1", expectedRevision: 1, changeId: bad, changes: [] }),
    async () => done(await connection.turns.start({ sessionId: "s1", turnId: bad, input: { parts: [] } })),
    () => connection.turns.query({ sessionId: "s1", turnId: bad, settle: true }),
    () => connection.turns.stop({ sessionId: "s1", run }),
    () => connection.turns.adopt({ sessionId: "s1", run }),
    () => connection.turns.steer({ sessionId: "s1", run, steerId: "s", input: { parts: [] } }),
    () => connection.interactions.query({ sessionId: "s1", interactionId: bad }),
    () => connection.interactions.answer({ sessionId: "s1", interactionId: bad, answer: { kind: "cancel" } }),
    () => connection.calls.settle({ sessionId: "s1", callId: bad, result: null }),
    () => connection.calls.fail({ sessionId: "s1", callId: bad, code: 1, message: "" }),
    () => connection.artifacts.begin({ ...key, name: "n", mimeType: "t" }),
    () => connection.artifacts.append({ ...key, offset: 0, bytes: new Uint8Array() }),
    () => connection.artifacts.commit({ ...key, size: 0, sha256: "" }),
    () => connection.artifacts.abort(key),
    () => connection.artifacts.read({ sessionId: "s1", artifactId: bad, offset: 0, length: 1 }),
    () => connection.artifacts.list(bad),
    () => connection.grants.list(bad),
    () => connection.grants.revoke({ sessionId: "s1", grantId: bad }),
  ];
  for (const call of calls) {
    const error = await assertRejects(call, HostError);
    assertEquals(error.code, "invalid");
    assertEquals(error.message.includes(bad), false);
  }
  assertEquals(openings, 0);
});

Deno.test("what there is not is not_found", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  done(await connection.sessions.create(creation("s1")));
  const calls: readonly (() => Promise<unknown>)[] = [
    () => connection.sessions.get("s2"),
    () => connection.sessions.bind({ sessionId: "s2", roots: [], mcpServers: [] }),
    () => connection.sessions.open("s2", NO_SERVICES),
    () => connection.turns.stop({ sessionId: "s1", run: { turnId: "t", runId: "r" } }),
    () => connection.turns.adopt({ sessionId: "s1", run: { turnId: "t", runId: "r" } }),
    () => connection.interactions.query({ sessionId: "s1", interactionId: "x" }),
    () => connection.interactions.answer({ sessionId: "s1", interactionId: "x", answer: { kind: "cancel" } }),
    () => connection.calls.settle({ sessionId: "s1", callId: "x", result: null }),
    () => connection.artifacts.read({ sessionId: "s1", artifactId: "x", offset: 0, length: 1 }),
  ];
  for (const call of calls) assertEquals((await assertRejects(call, HostError)).code, "not_found");
});

Deno.test("[S2] a Session that is created, listed or looked at has no Subscription, and only some take hold", async () => {
  const store = new FaultyStore();
  {
    await using world = worldOf(nothing, { store: unclosed(store) });
    const connection = world.host.connect("c1");
    for (const id of ["s1", "s2", "s3"]) done(await connection.sessions.create(creation(id)));
  }
  store.asked.length = 0;
  await using world = worldOf(nothing, { store });
  const connection = world.host.connect("c1");
  assertEquals((await connection.sessions.list({})).sessions.length, 3);
  await connection.sessions.get("s2");
  assertEquals(store.asked, ["list", "get s2"], "looking does not take hold");
  await Promise.all([
    connection.sessions.bind({ sessionId: "s2", roots: [], mcpServers: [] }),
    connection.sessions.open("s2", NO_SERVICES),
    connection.sessions.bind({ sessionId: "s2", roots: [], mcpServers: [] }),
  ]);
  assertEquals(store.asked, ["list", "get s2", "hold s2"], "one hold for all that came at once");
});

embedded("[S8] a hold is let go when no connection uses the Session and no Run is live", async () => {
  const store = new FaultyStore();
  const finish = gate();
  await using world = worldOf(() => finish.promise, { store });
  const one = world.host.connect("c1");
  const two = world.host.connect("c2");
  const watching = await opened(two);
  await started(one, "t1");
  await one.sessions.release("s1");
  await two.close();
  assertEquals(store.asked, ["create s1"], "the Run still needs it");
  assertEquals((await watching.next()).frames.at(-1)?.type, "closed");
  finish.open();
  while (!store.asked.includes("close s1")) await world.clock.turn();
  assertEquals((await store.get("s1"))?.sessionId, "s1");
  // Another operation that arrives while it leaves waits, then takes hold anew.
  const state = await one.turns.query({ sessionId: "s1", turnId: "t1", settle: false });
  assertEquals(state.kind, "ended");
  assertEquals(store.asked, ["create s1", "close s1", "get s1", "hold s1"]);
  while (store.asked.length < 5) await world.clock.turn();
  assertEquals(store.asked.at(-1), "close s1", "a question alone does not keep it");
  assertEquals(world.engine.asked, ["open", "run t1", "close"]);
});

Deno.test("[S8] a Session that another process holds is busy, and is listed all the same", async () => {
  const store = new MemoryStore();
  await using other = worldOf(nothing, { store: unclosed(store) });
  done(await other.host.connect("c9").sessions.create(creation("s1")));
  await using world = worldOf(nothing, { store: unclosed(store) });
  const connection = world.host.connect("c1");
  const calls: readonly (() => Promise<unknown>)[] = [
    () => connection.sessions.bind({ sessionId: "s1", roots: [], mcpServers: [] }),
    () => connection.sessions.open("s1", NO_SERVICES),
    () => connection.sessions.remove("s1"),
    async () => done(await connection.turns.start({ sessionId: "s1", turnId: "t", input: { parts: [] } })),
  ];
  for (const call of calls) {
    const error = await assertRejects(call, HostError);
    assertEquals([error.code, error.data.pid], ["busy", Deno.pid]);
  }
  assertEquals((await connection.sessions.list({})).sessions.length, 1);
  assertEquals((await connection.sessions.get("s1")).cwd, "/w");
  await other.host.connect("c9").close();
  await other.host.close();
  assertEquals(
    (await connection.sessions.bind({ sessionId: "s1", roots: [], mcpServers: [] })).sessionId,
    "s1",
  );
});

Deno.test("[S3] release ends what the connection has of the Session at once; the Session stays and is listed", async () => {
  const going = gate();
  await using world = worldOf(() => going.promise);
  const one = world.host.connect("c1");
  const two = world.host.connect("c2");
  const mine = await opened(one);
  const other = await two.sessions.open("s1", NO_SERVICES);
  const run = await started(one, "t1");
  await until(other, (frame) => frame.type === "run" && frame.live.phase === "running");
  await one.sessions.release("s1");
  await one.sessions.release("s1");
  const frames = await until(mine, (frame) => frame.type === "closed");
  assertEquals(frames.at(-1), { type: "closed", reason: "released" });
  assertEquals((await mine.next()).frames, []);
  const error = await assertRejects(() => mine.read({ after: 0, maxLength: 10 }), HostError);
  assertEquals(error.code, "unavailable");
  const [gone] = (await other.next()).frames;
  assertEquals(gone?.type === "run" && [gone.live.run, gone.live.presenter], [run, undefined]);
  assertEquals((await one.sessions.list({})).sessions.map((each) => each.sessionId), ["s1"]);
  going.open();
  await until(other, ended);
});

Deno.test("[S6] lists are newest first by real path in opaque pages, and a broken cursor is invalid", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  for (const [index, cwd] of ["/a", "/b", "/a", "/a"].entries()) {
    world.calendar.now = 1000 + index;
    done(await connection.sessions.create(creation(`s${index}`, cwd)));
  }
  const first = await connection.sessions.list({ cwd: "/a", limit: 2 });
  assertEquals(first.sessions.map((each) => each.sessionId), ["s3", "s2"]);
  const second = await connection.sessions.list({ cwd: "/a", limit: 2, cursor: first.cursor });
  assertEquals([second.sessions.map((each) => each.sessionId), second.cursor], [["s0"], undefined]);
  for (const cursor of ["", "x", `${first.cursor}x`]) {
    const error = await assertRejects(() => connection.sessions.list({ cwd: "/a", cursor }), HostError);
    assertEquals(error.code, "invalid");
  }
  // A Turn moves its Session to the front.
  world.calendar.now = 2000;
  const subscription = await connection.sessions.open("s0", NO_SERVICES);
  await started(connection, "t1", "s0");
  await until(subscription, ended);
  const [newest] = (await connection.sessions.list({ limit: 0 })).sessions;
  assertEquals([newest?.sessionId, newest?.updatedAt, newest?.createdAt], ["s0", 2000, 1000]);
});

Deno.test("a list has at most listPage Sessions", async () => {
  await using world = worldOf(nothing, { limits: { listPage: 2 } });
  const connection = world.host.connect("c1");
  for (const id of ["s1", "s2", "s3"]) done(await connection.sessions.create(creation(id)));
  assertEquals((await connection.sessions.list({ limit: 100 })).sessions.length, 2);
});

Deno.test("[H4] remove ends Subscriptions and Runs, frees the Session, and may be repeated", async () => {
  const store = new FaultyStore();
  const going = gate();
  let aborted = false;
  await using world = worldOf(async (_turn, _sink, signal) => {
    signal.addEventListener("abort", () => aborted = true);
    await going.promise;
  }, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, (frame) => frame.type === "run" && frame.live.phase === "running");
  const removed = connection.sessions.remove("s1");
  const late = assertRejects(
    () => connection.turns.query({ sessionId: "s1", turnId: "t1", settle: false }),
    HostError,
  );
  await removed;
  assertEquals((await late).code, "not_found");
  assertEquals(aborted, true);
  assertEquals((await until(subscription, (frame) => frame.type === "closed")).at(-1), {
    type: "closed",
    reason: "removed",
  });
  assertEquals((await connection.sessions.list({})).sessions, []);
  await connection.sessions.remove("s1");
  assertEquals(store.asked.filter((each) => each.startsWith("remove")), ["remove s1", "remove s1"]);
  done(await connection.sessions.create(creation("s1")));
  going.open();
});

Deno.test("bind replaces roots and servers; the Engine's Session is opened anew with them", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const turn = async (turnId: string) => {
    await started(connection, turnId);
    await until(subscription, ended);
  };
  await turn("t1");
  await connection.sessions.bind({ sessionId: "s1", roots: [], mcpServers: [] });
  await turn("t2");
  assertEquals(world.engine.contexts.length, 1, "equal lists change nothing");
  const server = { name: "files", command: "/bin/files", args: [], env: [{ name: "KEY", value: "s3cret" }] };
  const info = await connection.sessions.bind({ sessionId: "s1", roots: ["/x"], mcpServers: [server] });
  assertEquals(info.roots, ["/x"]);
  await turn("t3");
  assertEquals(world.engine.asked.filter((each) => !each.startsWith("run")), ["open", "close", "open"]);
  assertEquals(world.engine.contexts.at(-1)?.roots, ["/x"]);
  assertEquals(world.engine.contexts.at(-1)?.mcpServers, [server]);
});

Deno.test("[S9] values of MCP servers never reach the store, and their digest cannot be used to test guesses", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const connection = world.host.connect("c1");
  const serverWith = (secret: string) => ({
    name: "files",
    command: "/bin/files",
    args: [`--token=${secret}`],
    env: [{ name: "KEY", value: secret }],
  });
  done(await connection.sessions.create({ ...creation("s1"), mcpServers: [serverWith("hunter2")] }));
  await connection.sessions.bind({ sessionId: "s1", roots: [], mcpServers: [serverWith("other")] });
  const digests = store.batches.flat().flatMap((write) => write.op === "mcp" ? [write.digest] : []);
  assertEquals(digests.length, 2);
  assertEquals(digests[0], digests[1], "only names count");
  assertEquals(/hunter2|other/.test(JSON.stringify(store.batches)), false);
  assertEquals(world.log.join().includes("hunter2"), false);
});

Deno.test("what came with the creation reaches the Engine unread, within bounds", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  for (const [sessionId, meta] of [["s1", { a: 1 }], ["s2", { a: "x".repeat(20_000) }]] as const) {
    done(await connection.sessions.create({ ...creation(sessionId), meta }));
    const subscription = await connection.sessions.open(sessionId, NO_SERVICES);
    await started(connection, "t1", sessionId);
    await until(subscription, ended);
  }
  assertEquals(world.engine.contexts.map((context) => context.meta), [{ a: 1 }, undefined]);
});

embedded("watch gives the newest change of each Session until its signal aborts", async () => {
  await using world = worldOf(nothing);
  const connection = world.host.connect("c1");
  const stop = new AbortController();
  const seen: SessionChange[] = [];
  const watching = (async () => {
    for await (const change of connection.watch(stop.signal)) seen.push(change);
  })();
  done(await connection.sessions.create(creation("s1")));
  await connection.sessions.configure({
    sessionId: "s1",
    expectedRevision: 1,
    changeId: "a",
    changes: [{ id: "fast", value: true }],
  });
  await connection.sessions.remove("s1");
  await world.clock.turn();
  assertEquals(seen.map((each) => each.type === "changed" ? each.info.config.revision : each.sessionId), [
    1,
    2,
    "s1",
  ]);
  stop.abort();
  await watching;
  // A watcher that was slow sees where it ended, not every step.
  const slow = connection.watch(new AbortController().signal)[Symbol.asyncIterator]();
  for (const id of ["s1", "s2"]) done(await connection.sessions.create(creation(id)));
  await connection.sessions.remove("s1");
  const changes = [(await slow.next()).value, (await slow.next()).value];
  assertEquals(changes.map((each) => each.type), ["changed", "removed"]);
  await connection.close();
  assertEquals((await slow.next()).done, true);
});

embedded("a closed connection and a closed Host refuse, saying that nothing was sent", async () => {
  const world = worldOf(nothing);
  const connection = world.host.connect("c1");
  await connection.close();
  await connection.close();
  const error = await assertRejects(() => connection.sessions.list({}), HostError);
  assertEquals([error.code, error.dispatch], ["unavailable", "not_sent"]);
  const late = world.host.connect("c2");
  await world.host.close();
  await world.host.close();
  assertEquals((await late.sessions.create(creation("s1"))).kind, "not_sent");
  assertEquals(world.engine.asked, ["close all"]);
});

Deno.test("[S8] what a connection asks for while it closes does not keep the Session", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store: unclosed(store) });
  done(await world.host.connect("c0").sessions.create(creation("s1")));
  await world.host.connect("c0").sessions.release("s1");
  assertEquals(store.asked, ["create s1", "close s1"], "who releases last, lets go of it");
  const connection = world.host.connect("c1");
  const asked = Promise.allSettled([
    connection.sessions.open("s1", NO_SERVICES),
    connection.sessions.create(creation("s2")),
  ]);
  await connection.close();
  await asked;
  while (store.asked.filter((each) => each.startsWith("close")).length < 3) await world.clock.turn();
  await store.close();
});

embedded("what is asked for while the Host closes is refused and cannot hold it up", async () => {
  const store = new FaultyStore();
  const world = worldOf(nothing, { store });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const commit = gate();
  store.onCommit = () => commit.promise;
  const start = (turnId: string) => connection.turns.start({ sessionId: "s1", turnId, input: { parts: [] } });
  const first = start("t1");
  await world.clock.turn();
  const closing = world.host.close();
  await world.clock.turn();
  const queued = start("t2");
  commit.open();
  assertEquals((await first).kind, "done");
  const refused = await queued;
  assertEquals(refused.kind === "not_sent" && refused.error.code, "unavailable");
  await closing;
  assertEquals((await until(subscription, ended)).some((frame) => frame.type === "closed"), true);
  assertEquals(store.asked, ["create s1", "close s1", "close"]);
});

Deno.test("close of the Host ends Runs as interrupted, and no Engine holds it up", async () => {
  const store = new FaultyStore();
  const world = worldOf(() => new Promise(() => {}), { store: unclosed(store) });
  world.engine.opening = () => Promise.resolve({ close: () => new Promise(() => {}) });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  await until(subscription, (frame) => frame.type === "run" && frame.live.phase === "running");
  const closing = world.host.close();
  const frames = await until(subscription, (frame) => frame.type === "closed");
  const end = frames.find((frame) => frame.type === "run_ended");
  assertEquals(end?.type === "run_ended" && [end.run, end.end], [run, { how: "interrupted" }]);
  assertEquals(frames.at(-1), { type: "closed", reason: "draining" });
  while (world.clock.waiting === 0) await world.clock.turn();
  await world.clock.advance(500);
  await closing;
  assertEquals(store.asked, ["create s1", "close s1"]);
  const saved = store.batches.flat().filter((write) => write.op === "turn").at(-1);
  assertEquals(saved?.op === "turn" && saved.turn.state, "ended");
  await store.close();
});
