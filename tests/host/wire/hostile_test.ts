import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import { RemoteHost } from "../../../src/host/wire/mod.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { silentLog } from "../../../src/model/log.ts";
import { gate } from "../local/faulty_store.ts";
import {
  type ManualClock,
  NO_SERVICES,
  opened,
  PROFILE,
  until,
  type World,
  worldOf,
} from "../local/world.ts";
import { Wire, type WireOptions } from "./line.ts";
import { pair } from "./pair.ts";
import { helloOf, Raw } from "./raw.ts";
import { watched } from "./watched.ts";

const nothing = () => Promise.resolve();

function wireOf(world: World, limits: WireOptions["limits"] = {}): Wire {
  return new Wire({ host: world.host, clock: world.clock, limits: { steadyMs: 0, ...limits } });
}

async function settle(clock: ManualClock): Promise<void> {
  for (let turns = 0; turns < 12; turns++) await clock.turn();
}

/** A peer that was welcomed. */
async function welcomed(wire: Wire, change: JsonObject = {}): Promise<Raw> {
  const raw = new Raw(await wire.dial());
  await raw.say(helloOf(change));
  await raw.until("welcome");
  return raw;
}

const SESSION = { sessionId: "s1", cwd: "/w", roots: [], mcpServers: [] };

/** Bad lines, and what is said about them. */
const BAD: readonly [string, string | JsonObject, JsonObject, RegExp][] = [
  ["what is no JSON", "{nonsense\n", { type: "fault" }, /not JSON/],
  ["a message of no known type", { type: "dance" }, { type: "fault" }, /"type" is none of/],
  ["a list", "[1]\n", { type: "fault" }, /expected an object/],
  ["a request without an id", { type: "ask", op: "sessions.list", of: {} }, { type: "fault" }, /"id"/],
  ["a request without an operation", { type: "ask", id: 7, of: {} }, {
    type: "reply",
    id: 7,
    code: "invalid",
  }, /"op"/],
  [
    "an operation that there is not",
    { type: "ask", id: 7, op: "sessions.burn", of: {} },
    { type: "reply", id: 7, code: "invalid" },
    /no operation "sessions\.burn"/,
  ],
  [
    "a name from the prototype",
    { type: "ask", id: 7, op: "constructor", of: {} },
    { type: "reply", id: 7, code: "invalid" },
    /no operation "constructor"/,
  ],
  [
    "an operation of a feature that was not agreed on",
    { type: "ask", id: 7, op: "extensions.call", of: { method: "x", params: {} } },
    { type: "reply", id: 7, code: "invalid" },
    /no operation/,
  ],
  [
    "an operation with half of what it needs",
    { type: "ask", id: 7, op: "turns.query", of: { sessionId: "s1", settle: true } },
    { type: "reply", id: 7, code: "invalid" },
    /Cannot do "turns\.query": "turnId"/,
  ],
  [
    "a path in the place of an id",
    { type: "ask", id: 7, op: "sessions.get", of: { sessionId: "../../etc" } },
    { type: "reply", id: 7, code: "invalid" },
    /1 to 64 of A-Z/,
  ],
  [
    "bytes that are not base64",
    {
      type: "ask",
      id: 7,
      op: "artifacts.append",
      of: { sessionId: "s1", uploadId: "u", offset: 0, bytes: "%%" },
    },
    { type: "reply", id: 7, code: "invalid" },
    /"bytes"/,
  ],
  [
    "a stream that there is not",
    { type: "ask", id: 7, op: "streams.read", of: { stream: 9, request: { after: 0, maxLength: 1 } } },
    { type: "reply", id: 7, code: "unavailable" },
    /has ended/,
  ],
  [
    "a line that is too long",
    { type: "ask", id: 7, op: "sessions.get", of: { sessionId: "x".repeat(100_000) } },
    { type: "reply", id: 7, code: "capacity" },
    /at most 90000 bytes/,
  ],
  ["a long line without an id", `"${"x".repeat(100_000)}"\n`, { type: "fault" }, /at most 90000 bytes/],
];
for (const [what, line, want, says] of BAD) {
  Deno.test(`[W2] ${what} gets a reply, and the connection goes on`, async () => {
    await using world = worldOf(nothing);
    await using wire = wireOf(world, { lineBytes: 90_000 });
    const raw = await welcomed(wire);
    await raw.say(line);
    const { type = "", id, error, message = "" } = await raw.hear() ?? {};
    const failure = error as { readonly code: string; readonly message: string } | undefined;
    const got: JsonObject = failure === undefined ? { type } : { type, id: id ?? null, code: failure.code };
    assertEquals(got, want);
    assertMatch(failure?.message ?? String(message), says);
    assertEquals((await raw.ask(8, "sessions.list", {})).value, { sessions: [] });
    raw.close();
  });
}

Deno.test("[W2] fields that are not known are ignored, and reach the Host's own vocabulary unharmed", async () => {
  await using world = worldOf(nothing);
  await using wire = wireOf(world);
  const raw = await welcomed(wire, { colour: "red", features: ["resume", "teleport"] });
  await raw.say({
    type: "ask",
    id: 1,
    op: "sessions.create",
    of: { ...SESSION, mood: "good" },
    colour: "red",
  });
  const { value } = await raw.until("reply");
  assertEquals((value as { sessionId?: string }).sessionId, "s1");
  raw.close();
});

/** Greetings that are refused. */
const REFUSED: readonly [string, string | JsonObject, string, RegExp][] = [
  [
    "versions that it does not speak",
    helloOf({ versions: { from: 7, to: 9 } }),
    "version",
    /speaks version 1 of the protocol, its client versions 7 to 9/,
  ],
  ["no greeting at all", { type: "ask", id: 1, op: "sessions.list", of: {} }, "malformed", /malformed/],
  ["no JSON", "GET / HTTP/1.1\r\n", "malformed", /not JSON/],
  ["a greeting that is too long", helloOf({ noise: "x".repeat(100_000) }), "malformed", /too long/],
  [
    "an empty connection id",
    helloOf({ connection: { id: "", key: "k", attempt: 1 } }),
    "malformed",
    /malformed/,
  ],
  [
    "another client's connection",
    helloOf({ connection: { id: "mine", key: "guessed", attempt: 99 } }),
    "unauthorized",
    /another client/,
  ],
  [
    "a greeting that was overtaken",
    helloOf({ connection: { id: "mine", key: "secret", attempt: 2 } }),
    "stale",
    /newer stream/,
  ],
];
for (const [what, line, reason, says] of REFUSED) {
  Deno.test(`[W2] a client that comes with ${what} is refused with a sentence, and nobody else notices`, async () => {
    await using world = worldOf(nothing);
    await using wire = wireOf(world);
    const mine = await welcomed(wire, { connection: { id: "mine", key: "secret", attempt: 2 } });
    const raw = new Raw(await wire.dial());
    await raw.say(line);
    const refusal = await raw.hear();
    assertEquals([refusal?.type, refusal?.reason, refusal?.versions], ["refused", reason, {
      from: 1,
      to: 1,
    }]);
    assertMatch(String(refusal?.message), says);
    assertEquals(await raw.hear(), undefined);
    assertEquals((await mine.ask(1, "sessions.list", {})).value, { sessions: [] });
    mine.close();
    raw.close();
  });
}

Deno.test("[W2] whoever does not greet, or speaks before the welcome, is cut", async () => {
  await using world = worldOf(nothing);
  await using wire = wireOf(world);
  const silent = new Raw(await wire.dial());
  await settle(world.clock);
  await world.clock.advance(5000);
  assertEquals(await silent.hear(), undefined);
  const hasty = new Raw(await wire.dial());
  await hasty.say(`${JSON.stringify(helloOf())}\n${JSON.stringify({ type: "ping" })}\n`);
  await hasty.say({ type: "ping" }).catch(() => {});
  assertEquals((await hasty.hear())?.type, undefined);
  hasty.close();
  silent.close();
});

Deno.test("[W2] a peer that is half open is asked for a sign of life, and cut without one", async () => {
  await using world = worldOf(nothing);
  await using wire = wireOf(world);
  const raw = await welcomed(wire);
  await world.clock.advance(10_000);
  assertEquals(await raw.hear(), { type: "ping" });
  await raw.say({ type: "pong" });
  await settle(world.clock);
  for (let second = 0; second < 40; second += 10) await world.clock.advance(10_000);
  const rest: unknown[] = [];
  for (let message = await raw.hear(); message !== undefined; message = await raw.hear()) {
    rest.push(message.type);
  }
  assertEquals(rest.every((type) => type === "ping"), true);
  assertEquals(wire.server.connections.map(({ state }) => state), ["lost"]);
});

Deno.test("[W2] a peer that asks without reading is not read any more, and others are served", async () => {
  await using world = worldOf(nothing);
  await using wire = wireOf(world, { outboxLength: 10_000 });
  const raw = await welcomed(wire);
  let taken = 0;
  const flood = (async () => {
    try {
      for (; taken < 5000; taken++) await raw.say("nonsense\n");
    } catch {
      // It was cut.
    }
  })();
  await settle(world.clock);
  for (let turns = 0; turns < 2000; turns++) await world.clock.turn();
  const before = taken;
  for (let turns = 0; turns < 200; turns++) await world.clock.turn();
  assertEquals([taken, taken < 1000], [before, true], `${taken} lines were taken`);
  const other = await wire.connect("c2");
  assertEquals((await other.sessions.list({})).sessions, []);
  raw.close();
  await flood;
});

Deno.test("[W2] more requests and streams than a connection may have are refused, and the others go on", async () => {
  await using world = worldOf(nothing);
  const go = gate();
  await using wire = new Wire({
    host: world.host,
    clock: world.clock,
    limits: { requests: 2, streams: 1 },
    connect: (id) =>
      watched(world.host.connect(id), (operation) => operation === "grants.list" ? go.promise : undefined),
  });
  const raw = await welcomed(wire);
  await raw.ask(1, "sessions.create", SESSION);
  for (const id of [2, 3]) await raw.say({ type: "ask", id, op: "grants.list", of: { sessionId: "s1" } });
  const refused = await raw.ask(4, "sessions.list", {});
  assertEquals([refused.id, (refused.error as { code?: string }).code], [4, "capacity"]);
  go.open();
  assertEquals([(await raw.until("reply")).id, (await raw.until("reply")).id], [2, 3]);
  const open = { sessionId: "s1", services: { ...NO_SERVICES } };
  assertEquals("value" in await raw.ask(5, "sessions.open", { ...open, stream: 1 }), true);
  const second = await raw.ask(6, "sessions.open", { ...open, stream: 2 });
  assertEquals((second.error as { code?: string }).code, "capacity");
  const again = await raw.ask(7, "watch", { stream: 1 });
  assertEquals((again.error as { code?: string }).code, "conflict");
  raw.close();
});

/** A Host that a test plays, and the client that reaches it. */
async function played(world: World): Promise<{ readonly raw: Raw; readonly remote: Promise<RemoteHost> }> {
  const [here, there] = pair();
  const raw = new Raw(there);
  let dialed = 0;
  const remote = RemoteHost.connect({
    dial: () => dialed++ === 0 ? Promise.resolve(here) : Promise.reject(new Error("connection refused")),
    clock: world.clock,
    ids: { next: () => "k" },
    log: silentLog,
  });
  remote.catch(() => {});
  await raw.until("hello");
  return { raw, remote };
}

function welcomeOf(change: JsonObject = {}): JsonObject {
  return {
    type: "welcome",
    version: 1,
    features: ["resume"],
    instance: "i",
    resumed: false,
    streams: [],
    host: { version: "1" },
    engines: [JSON.parse(JSON.stringify(PROFILE))],
    defaultEngine: "scripted",
    limits: { lineBytes: 10_000, requests: 10, windowLength: 1000, partBytes: 1000, graceMs: 1000 },
    ...change,
  };
}

/** Answers to a greeting that a client cannot work with. */
const ANSWERS: readonly [string, string | JsonObject, RegExp][] = [
  ["no JSON", "HTTP/1.1 400 Bad Request\r\n", /not JSON/],
  ["a welcome without engines", welcomeOf({ engines: 1 }), /"engines"/],
  ["a version that was not offered", welcomeOf({ version: 3 }), /version 3/],
  [
    "a refusal of all its versions",
    { type: "refused", reason: "version", message: "This Host is newer.", versions: { from: 4, to: 5 } },
    /This Host is newer\..*this program speaks version 1, the Host versions 4 to 5/,
  ],
];
for (const [what, answer, says] of ANSWERS) {
  Deno.test(`[W2] a client that gets ${what} cannot connect, and says why`, async () => {
    await using world = worldOf(nothing);
    const { raw, remote } = await played(world);
    await raw.say(answer);
    const error = await assertRejects(() => remote, HostError);
    assertEquals([error.code, error.dispatch], ["unavailable", "not_sent"]);
    assertMatch(error.message, says);
    raw.close();
  });
}

const SNAPSHOT = {
  storeId: "st",
  hostEpoch: "e",
  runs: [],
  config: { revision: 1, options: [] },
  commands: [],
  interactions: [],
  watermark: 0,
  last: 0,
  messages: [],
};
const RUN = { turnId: "t", runId: "r" };
const TITLE = { type: "title", title: "A" };

Deno.test("[W3] items that come twice are taken once, also where only some of a line were there before", async () => {
  await using world = worldOf(nothing);
  const { raw, remote } = await played(world);
  await raw.say(welcomeOf());
  const host = await remote;
  const opening = host.sessions.open("s1", NO_SERVICES);
  const { id } = await raw.until("ask");
  const title = (text: string) => ({ type: "title", title: text }) as const;
  for (const items of [["a", "b"], ["a", "b"], ["a", "b", "c"]]) {
    await raw.say({ type: "items", stream: 1, first: 1, items: items.map(title) });
  }
  await raw.say({ type: "reply", id: id ?? 0, value: { snapshot: SNAPSHOT } });
  const subscription = await opening;
  await settle(world.clock);
  assertEquals(await subscription.next(), { first: 1, frames: ["a", "b", "c"].map(title) });
  raw.close();
  await host.close();
});

/** Items that a Host should not send, and what a consumer gets of the stream. */
const ITEMS: readonly [string, number, readonly unknown[], readonly string[]][] = [
  ["a frame of a type to come", 1, [TITLE, { type: "hologram", depth: 3 }, TITLE], ["title", "title"]],
  ["a frame that is malformed", 1, [TITLE, { type: "title", title: 3 }], ["title", "closed lost"]],
  ["a gap", 3, [TITLE], ["closed lost"]],
  ["text that goes on with nothing", 1, ["words"], ["closed lost"]],
  [
    "text that goes on",
    1,
    [{ type: "message", run: RUN, messageId: "m", channel: "text", offset: 3, text: "ab" }, "cd"],
    ["3 ab", "5 cd"],
  ],
];
for (const [what, first, items, want] of ITEMS) {
  Deno.test(`[W2] ${what} in a stream is that stream's own affair`, async () => {
    await using world = worldOf(nothing);
    const { raw, remote } = await played(world);
    await raw.say(welcomeOf());
    const host = await remote;
    const opening = host.sessions.open("s1", NO_SERVICES);
    const { id } = await raw.until("ask");
    await raw.say({ type: "reply", id: id ?? 0, value: { snapshot: SNAPSHOT } });
    const subscription = await opening;
    await raw.say(`${JSON.stringify({ type: "items", stream: 1, first, items })}\n`);
    await settle(world.clock);
    const got: string[] = [];
    while (got.length < want.length) {
      const { frames } = await subscription.next();
      for (const frame of frames) {
        if (frame.type === "message") got.push(`${frame.offset} ${frame.text}`);
        else got.push(frame.type === "closed" ? `closed ${frame.reason}` : frame.type);
      }
    }
    assertEquals(got, want);
    await raw.say({ type: "ping" });
    assertEquals((await raw.until("pong")).type, "pong");
    raw.close();
    await host.close();
  });
}

Deno.test("[R3] [W3] a client does not believe another process that its streams go on", async () => {
  await using world = worldOf(nothing);
  const ends = [pair(), pair()];
  const raws = ends.map(([, there]) => new Raw(there));
  let dialed = 0;
  const connecting = RemoteHost.connect({
    dial: () => Promise.resolve(ends[dialed++]![0]),
    clock: world.clock,
    ids: { next: () => "k" },
    log: silentLog,
    limits: { steadyMs: 0 },
  });
  const [first, second] = raws as [Raw, Raw];
  await first.until("hello");
  await first.say(welcomeOf());
  const host = await connecting;
  const opening = host.sessions.open("s1", NO_SERVICES);
  const { id } = await first.until("ask");
  await first.say({ type: "reply", id: id ?? 0, value: { snapshot: SNAPSHOT } });
  const subscription = await opening;
  first.close();
  const hello = await second.until("hello");
  assertEquals(hello.resume, { instance: "i", streams: [{ stream: 1, have: 0 }] });
  await second.say(welcomeOf({ instance: "j", resumed: true, streams: [1] }));
  const frames = await until(subscription, (frame) => frame.type === "closed");
  assertEquals(frames, [{ type: "closed", reason: "lost" }]);
  second.close();
  await host.close();
});

Deno.test("[W2] [W3] a request that is too large for the Host is refused here, and none of it is sent", async () => {
  await using world = worldOf(nothing);
  await using wire = wireOf(world, { lineBytes: 20_000 });
  const remote = await wire.connect("c1");
  await opened(remote);
  const text = "x".repeat(30_000);
  const reply = await remote.turns.start({
    sessionId: "s1",
    turnId: "t1",
    input: { parts: [{ kind: "text", text }] },
  });
  assertEquals([reply.kind, reply.kind !== "done" && reply.error.code], ["not_sent", "capacity"]);
  assertEquals((await remote.sessions.get("s1")).sessionId, "s1");
});
