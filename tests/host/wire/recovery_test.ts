import { assertEquals, assertRejects } from "@std/assert";
import type { RuntimeHost } from "../../../src/host/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import type { Frame } from "../../../src/model/frame.ts";
import type { EngineSink } from "../../../src/engine/contract.ts";
import { gate } from "../local/faulty_store.ts";
import {
  done,
  ended,
  type ManualClock,
  NO_SERVICES,
  opened,
  type Script,
  started,
  until,
  type World,
  worldOf,
} from "../local/world.ts";
import { Wire, type WireOptions } from "./line.ts";
import { helloOf, Raw } from "./raw.ts";
import { watched } from "./watched.ts";

/** A wire whose clients dial again at once. */
function wireOf(world: World, options: Partial<WireOptions> = {}): Wire {
  return new Wire({
    host: world.host,
    clock: world.clock,
    ...options,
    limits: { steadyMs: 0, ...options.limits },
  });
}

/** Lets everything happen that needs no time. */
async function settle(clock: ManualClock): Promise<void> {
  for (let turns = 0; turns < 12; turns++) await clock.turn();
}

/** Operations that reached the Host, in order. */
function noting(world: World, asked: string[]): WireOptions["connect"] {
  return (id) => watched(world.host.connect(id), (operation) => void asked.push(operation));
}

function textOf(frames: readonly Frame[]): string {
  return frames.flatMap((frame) => frame.type === "message" ? [frame.text] : []).join("");
}

/** An Engine that says a letter each time that it is let. */
function speaking(): { readonly script: Script; say(letter: string): Promise<void>; end(): void } {
  const over = gate();
  const begun = Promise.withResolvers<EngineSink>();
  return {
    script: async (_turn, sink) => {
      begun.resolve(sink);
      await over.promise;
    },
    say: async (letter) => await (await begun.promise).message("m", "text", letter),
    end: () => over.open(),
  };
}

/** Where the stream breaks: what the client still hears of it. */
const CUTS: readonly [string, (wire: Wire) => void][] = [
  ["after what was sent", () => {}],
  ["before what was sent", (wire) => wire.tap.deafen()],
];
for (const [where, before] of CUTS) {
  Deno.test(`[R1] [R2] [W3] a Subscription goes on behind a cut ${where}: nothing twice, nothing missing, no second one`, async () => {
    const engine = speaking();
    await using world = worldOf(engine.script);
    const asked: string[] = [];
    await using wire = wireOf(world, { connect: noting(world, asked) });
    const remote = await wire.connect("c1");
    const subscription = await opened(remote);
    await started(remote, "t1");
    const numbers: number[] = [];
    const frames: Frame[] = [];
    const fetch = async (fits: (frame: Frame) => boolean) => {
      for (;;) {
        const batch = await subscription.next();
        numbers.push(...batch.frames.map((_, at) => batch.first + at));
        frames.push(...batch.frames);
        if (batch.frames.some(fits)) return;
        if (batch.frames.length === 0) throw new Error("The Subscription ended");
      }
    };
    await engine.say("a");
    await fetch((frame) => frame.type === "message");
    for (const letter of ["b", "c"]) {
      before(wire);
      await engine.say(letter);
      await settle(world.clock);
      wire.tap.cut();
      await engine.say(letter.toUpperCase());
      await settle(world.clock);
    }
    engine.end();
    await fetch(ended);
    assertEquals(textOf(frames), "abBcC");
    assertEquals(numbers, numbers.map((_, at) => at + 1));
    assertEquals(asked.filter((operation) => operation === "sessions.open").length, 1);
    assertEquals(wire.taps.length, 3);
  });
}

Deno.test("[R2] [W3] an opening whose answer was lost is found again, and not done twice", async () => {
  const engine = speaking();
  await using world = worldOf(engine.script);
  const asked: string[] = [];
  await using wire = wireOf(world, { connect: noting(world, asked) });
  const remote = await wire.connect("c1");
  done(await remote.sessions.create({ sessionId: "s1", cwd: "/w", roots: [], mcpServers: [] }));
  wire.tap.deafen();
  const opening = remote.sessions.open("s1", NO_SERVICES);
  await settle(world.clock);
  wire.tap.cut();
  const subscription = await opening;
  await started(remote, "t1");
  await engine.say("once");
  engine.end();
  assertEquals(textOf(await until(subscription, ended)), "once");
  assertEquals(asked.filter((operation) => operation === "sessions.open").length, 1);
});

Deno.test("[W3] a once operation whose answer is lost is unknown and never sent again; operations by key are", async () => {
  await using world = worldOf(() => Promise.resolve());
  const asked: string[] = [];
  await using wire = wireOf(world, { connect: noting(world, asked) });
  const remote = await wire.connect("c1");
  await opened(remote);
  wire.tap.deafen();
  const start = remote.turns.start({ sessionId: "s1", turnId: "t1", input: { parts: [] } });
  const query = remote.turns.query({ sessionId: "s1", turnId: "t1", settle: false });
  await settle(world.clock);
  wire.tap.cut();
  const reply = await start;
  assertEquals([reply.kind, reply.kind !== "done" && reply.error.code], ["unknown", "unavailable"]);
  assertEquals((await query).kind === "not_found", false, "it was admitted");
  const turns = asked.filter((operation) => operation.startsWith("turns."));
  assertEquals(turns, ["turns.start", "turns.query", "turns.query"]);
});

Deno.test("[W3] what has not left waits for the next stream and is sent once, and in time it is not_sent", async () => {
  await using world = worldOf(() => Promise.resolve());
  const asked: string[] = [];
  await using wire = wireOf(world, { connect: noting(world, asked) });
  const remote = await wire.connect("c1");
  await opened(remote);
  const start = (turnId: string) => remote.turns.start({ sessionId: "s1", turnId, input: { parts: [] } });
  wire.refuse(1);
  wire.tap.cut();
  await settle(world.clock);
  const waiting = start("t1");
  await settle(world.clock);
  assertEquals(asked.includes("turns.start"), false);
  await world.clock.advance(50);
  assertEquals((await waiting).kind, "done");
  assertEquals(asked.filter((operation) => operation === "turns.start").length, 1);
  wire.refuse(Infinity);
  wire.tap.cut();
  await settle(world.clock);
  const never = start("t2");
  for (let second = 0; second < 7; second++) await world.clock.advance(1000);
  const reply = await never;
  assertEquals([reply.kind, reply.kind !== "done" && reply.error.code], ["not_sent", "unavailable"]);
  assertEquals(asked.filter((operation) => operation === "turns.start").length, 1);
  wire.refuse(0);
});

Deno.test("[W3] a request that gets no answer is settled as unknown, and its late answer is left alone", async () => {
  await using world = worldOf(() => Promise.resolve());
  const go = gate();
  await using wire = wireOf(world, {
    connect: (id) =>
      watched(world.host.connect(id), (operation) => operation === "grants.list" ? go.promise : undefined),
    limits: { deadMs: 1e9, quietMs: 1e9 },
  });
  const remote = await wire.connect("c1");
  await opened(remote);
  const failed = assertRejects(() => remote.grants.list("s1"), HostError);
  await settle(world.clock);
  for (let second = 0; second < 17; second++) await world.clock.advance(1000);
  const { code, dispatch } = await failed;
  assertEquals([code, dispatch], ["unavailable", "unknown"]);
  go.open();
  await settle(world.clock);
  assertEquals((await remote.sessions.get("s1")).sessionId, "s1");
  assertEquals(wire.taps.length, 1);
});

Deno.test("[W3] a request that may wait for an agent is waited for, and not for long where its Host is gone", async () => {
  await using world = worldOf(() => Promise.resolve());
  const gates = [gate(), gate()] as const;
  const slow = gates.values();
  await using wire = wireOf(world, {
    connect: (id) =>
      watched(
        world.host.connect(id),
        (operation) => operation === "sessions.bind" ? slow.next().value?.promise : undefined,
      ),
    limits: { deadMs: 1e9, quietMs: 1e9 },
  });
  const remote = await wire.connect("c1");
  await opened(remote);
  const binding = { sessionId: "s1", roots: [], mcpServers: [] };
  const bound = remote.sessions.bind(binding);
  await settle(world.clock);
  for (let second = 0; second < 100; second++) await world.clock.advance(1000);
  gates[0].open();
  assertEquals((await bound).sessionId, "s1");
  const failed = assertRejects(() => remote.sessions.bind(binding), HostError);
  await settle(world.clock);
  wire.refuse(1e9);
  wire.tap.cut();
  for (let second = 0; second < 20; second++) await world.clock.advance(1000);
  const { code, dispatch } = await failed;
  assertEquals([code, dispatch], ["unavailable", "unknown"]);
  wire.refuse(0);
  gates[1].open();
});

Deno.test("[R2] [R3] a Host that starts anew ends Subscriptions as lost, their reads fail, and the next one is another", async () => {
  await using world = worldOf(() => Promise.resolve());
  const wires = [wireOf(world, { instance: "first" }), wireOf(world, { instance: "second" })];
  const [first, second] = wires as [Wire, Wire];
  await using _first = first;
  await using _second = second;
  let at = first;
  const remote = await first.connect("c1", { dial: () => at.dial() });
  const subscription = await opened(remote);
  at = second;
  first.tap.deafen();
  const reading = assertRejects(() => subscription.read({ after: 0, maxLength: 10 }), HostError);
  await settle(world.clock);
  first.tap.cut();
  assertEquals((await reading).code, "unavailable");
  const frames = await until(subscription, (frame) => frame.type === "closed");
  assertEquals(frames.at(-1), { type: "closed", reason: "lost" });
  assertEquals((await subscription.next()).frames, []);
  const error = await assertRejects(() => subscription.read({ after: 0, maxLength: 10 }), HostError);
  assertEquals(error.code, "unavailable");
  const next = await remote.sessions.open("s1", NO_SERVICES);
  assertEquals(next.snapshot.storeId, subscription.snapshot.storeId);
  assertEquals((await next.read({ after: 0, maxLength: 10 })).rows, []);
});

Deno.test("[W3] a Host that has forgotten the connection is told what a Session is bound to before anything else about it", async () => {
  await using world = worldOf(() => Promise.resolve());
  const asked: [string, unknown][] = [];
  const connect = (id: string): RuntimeHost =>
    watched(world.host.connect(id), (operation, request) => void asked.push([operation, request]));
  await using first = wireOf(world, { instance: "first" });
  await using second = wireOf(world, { instance: "second", connect });
  let at = first;
  const remote = await first.connect("c1", { dial: () => at.dial() });
  const mcpServers = [{ name: "tools", command: "tool", args: [], env: [] }];
  done(await remote.sessions.create({ sessionId: "s1", cwd: "/w", roots: ["/r"], mcpServers }));
  at = second;
  first.tap.cut();
  await settle(world.clock);
  await remote.sessions.open("s1", NO_SERVICES);
  assertEquals(asked.map(([operation]) => operation), ["sessions.bind", "sessions.open"]);
  assertEquals(asked[0]?.[1], { sessionId: "s1", roots: ["/r"], mcpServers });
});

Deno.test("[W1] [W3] a lost connection presents for as long as it may come back; then it is released, and its Run goes on", async () => {
  const engine = speaking();
  await using world = worldOf(engine.script);
  await using wire = wireOf(world, { limits: { graceMs: 5000, quietMs: 1e9 } });
  const remote = await wire.connect("c1");
  await opened(remote);
  const run = await started(remote, "t1");
  const presenter = async () =>
    (await world.host.connect("c2").sessions.open("s1", NO_SERVICES)).snapshot.runs.map((live) =>
      live.presenter
    );
  wire.refuse(Infinity);
  wire.tap.cut();
  await settle(world.clock);
  assertEquals(wire.server.connections.map(({ state }) => state), ["lost"]);
  await world.clock.advance(4999);
  assertEquals(await presenter(), ["c1"]);
  await world.clock.advance(1);
  await settle(world.clock);
  assertEquals(await presenter(), [undefined]);
  assertEquals(wire.server.connections, []);
  const other = world.host.connect("c3");
  await other.turns.adopt({ sessionId: "s1", run });
  const joined = await other.sessions.open("s1", NO_SERVICES);
  await engine.say("still here");
  engine.end();
  assertEquals(textOf(await until(joined, ended)), "still here");
});

Deno.test("[W3] a connection that comes back too late is a new one: nothing of it goes on, and Sessions are bound again", async () => {
  await using world = worldOf(() => Promise.resolve());
  const asked: string[] = [];
  await using wire = wireOf(world, {
    connect: noting(world, asked),
    limits: { graceMs: 3000, quietMs: 1e9 },
  });
  const remote = await wire.connect("c1");
  const subscription = await opened(remote);
  wire.refuse(Infinity);
  wire.tap.cut();
  await settle(world.clock);
  for (let second = 0; second < 7; second++) await world.clock.advance(1000);
  assertEquals(wire.server.connections, []);
  const frames = await until(subscription, (frame) => frame.type === "closed");
  assertEquals(frames.at(-1), { type: "closed", reason: "lost" });
  wire.refuse(0);
  asked.length = 0;
  await remote.sessions.open("s1", NO_SERVICES);
  assertEquals(asked, ["sessions.bind", "sessions.open"]);
});

Deno.test("[W1] a client that says goodbye is released at once", async () => {
  const engine = speaking();
  await using world = worldOf(engine.script);
  await using wire = wireOf(world);
  const remote = await wire.connect("c1");
  await opened(remote);
  await started(remote, "t1");
  await remote.close();
  await remote.close();
  assertEquals(wire.server.connections, []);
  const { snapshot } = await world.host.connect("c2").sessions.open("s1", NO_SERVICES);
  assertEquals(snapshot.runs.map((live) => [live.phase, live.presenter]), [["running", undefined]]);
  const refused = await assertRejects(() => remote.sessions.list({}), HostError);
  assertEquals([refused.code, refused.dispatch], ["unavailable", "not_sent"]);
  engine.end();
});

Deno.test("[R1] a consumer that does not fetch is evicted by the Host, others do not notice, and little is kept for it", async () => {
  await using world = worldOf(async (_turn, sink) => {
    for (let count = 0; count < 3000; count++) {
      await sink.message("m", "text", "x".repeat(400));
      if (count % 16 === 0) await settle(world.clock);
    }
  });
  await using wire = wireOf(world);
  const slow = await wire.connect("c1");
  const idle = await opened(slow);
  const quick = await wire.connect("c2");
  const reading = await quick.sessions.open("s1", NO_SERVICES);
  await started(quick, "t1");
  let shown = 0;
  for (let over = false; !over;) {
    const { frames } = await reading.next();
    shown += textOf(frames).length;
    over = frames.some(ended);
  }
  assertEquals(shown, 1_200_000);
  const [first] = wire.taps;
  assertEquals((first?.bytes ?? 0) < 500_000, true, `${first?.bytes} bytes for a consumer that takes none`);
  const frames = await until(idle, (frame) => frame.type === "closed");
  assertEquals(frames.at(-1), { type: "closed", reason: "slow_consumer" });
  const again = await slow.sessions.open("s1", NO_SERVICES);
  assertEquals(again.snapshot.watermark > 0, true);
});

Deno.test("[R4] pages of a long transcript stay small whatever is asked for, and all of it can be read", async () => {
  const text = "0123456789abcdef".repeat(60_000);
  await using world = worldOf(async (_turn, sink) => {
    for (let at = 0; at < text.length; at += 16_000) {
      await sink.message("m", "text", text.slice(at, at + 16_000));
    }
  });
  await using wire = wireOf(world);
  const remote = await wire.connect("c1");
  const subscription = await opened(remote);
  await started(remote, "t1");
  await until(subscription, ended);
  let whole = "";
  let cursor: string | undefined;
  do {
    const page = await subscription.read({ turnId: "t1", after: 1, cursor, maxLength: 16 * 1024 * 1024 });
    const pieces = page.rows.map((row) => row.kind === "text" ? row.body?.text ?? "" : "");
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    assertEquals(length <= 64 * 1024, true, `a page of ${length}`);
    whole += pieces.join("");
    cursor = page.cursor;
  } while (cursor !== undefined);
  assertEquals(whole === text, true, `${whole.length} of ${text.length} units`);
});

Deno.test("[R4] an Artifact is read in parts, to its very end", async () => {
  await using world = worldOf(() => Promise.resolve());
  const lengths: number[] = [];
  const connect = (id: string): RuntimeHost =>
    watched(world.host.connect(id), (operation, request) => {
      if (operation === "artifacts.read") lengths.push((request as { length: number }).length);
    });
  await using wire = wireOf(world, { connect, limits: { partBytes: 1000 } });
  const remote = await wire.connect("c1");
  await opened(remote);
  const bytes = Uint8Array.from({ length: 2500 }, (_, at) => at % 251);
  const key = { sessionId: "s1", uploadId: "u1" };
  await remote.artifacts.begin({ ...key, name: "a.bin", mimeType: "application/octet-stream" });
  await remote.artifacts.append({ ...key, offset: 0, bytes });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const { artifactId } = await remote.artifacts.commit({ ...key, size: bytes.length, sha256: digest });
  const read = (offset: number, length: number) =>
    remote.artifacts.read({ sessionId: "s1", artifactId, offset, length });
  assertEquals(await read(0, 10_000), bytes);
  assertEquals(await read(200, 1500), bytes.subarray(200, 1700));
  assertEquals(await read(2500, 10), new Uint8Array(0));
  assertEquals(Math.max(...lengths), 1000);
  const raw = new Raw(await wire.dial());
  await raw.say(helloOf());
  await raw.until("welcome");
  const { value } = await raw.ask(1, "artifacts.read", {
    sessionId: "s1",
    artifactId,
    offset: 0,
    length: 1e9,
  });
  assertEquals(Uint8Array.fromBase64((value as { readonly bytes: string }).bytes).length, 1000);
  raw.close();
});

Deno.test("[W3] a watch goes on after the Host has started anew", async () => {
  await using world = worldOf(() => Promise.resolve());
  await using first = wireOf(world, { instance: "first" });
  await using second = wireOf(world, { instance: "second" });
  let at = first;
  const remote = await first.connect("c1", { dial: () => at.dial() });
  const stop = new AbortController();
  const changes = remote.watch(stop.signal)[Symbol.asyncIterator]();
  await opened(remote, "s1");
  assertEquals((await changes.next()).value?.type, "changed");
  at = second;
  first.tap.cut();
  const waiting = changes.next();
  await settle(world.clock);
  await opened(remote, "s2");
  const { value } = await waiting;
  assertEquals(value?.type === "changed" && value.info.sessionId, "s2");
  stop.abort();
  assertEquals((await changes.next()).done, true);
});
