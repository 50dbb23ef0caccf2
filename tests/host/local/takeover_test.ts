import { assert, assertEquals, assertRejects } from "@std/assert";
import type { EnginePast } from "../../../src/engine/archive.ts";
import type { RuntimeHost, SessionInfo } from "../../../src/host/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import { LIMITS } from "../../../src/limits.ts";
import { decodeBody, type RowBody } from "../../../src/model/row.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import type { Store } from "../../../src/host/store/contract.ts";
import { FaultyStore, unclosed } from "./faulty_store.ts";
import { kept, ScriptedArchive } from "./scripted_archive.ts";
import { ended, keptLog, NO_SERVICES, started, until, type World, worldOf } from "./world.ts";

function keeping(archive: ScriptedArchive, options: Parameters<typeof worldOf>[1] = {}): World {
  const world = worldOf(() => Promise.resolve(), options);
  world.engine.archive = archive;
  return world;
}

function bind(connection: RuntimeHost, sessionId = "a"): Promise<SessionInfo> {
  return connection.sessions.bind({ sessionId, roots: ["/r"], mcpServers: [{ name: "files" }] });
}

/** Two Turns, the second one cut off. */
async function talk(past: EnginePast): Promise<void> {
  const { sink } = await past.turn({ parts: [{ kind: "text", text: "Hello" }] });
  await sink.message("m1", "thinking", "Hm");
  await sink.message("m2", "text", "Hi ");
  await sink.message("m2", "text", "there");
  await sink.usage({ used: 5, size: 10 });
  const second = await past.turn({ parts: [{ kind: "text", text: "Run" }] });
  await sink.message("m2", "text", " and never this");
  await second.sink.toolStart("t1", {
    complete: true,
    sensitive: false,
    title: "Run it",
    kind: "execute",
    locations: [],
  });
}

const TOLD = [
  "user Hello",
  "thinking Hm",
  "text Hi there",
  "end completed",
  "user Run",
  "tool Run it",
  "end completed",
];

/** The transcript in words. */
async function told(connection: RuntimeHost, sessionId = "a"): Promise<string[]> {
  const subscription = await connection.sessions.open(sessionId, NO_SERVICES);
  const { rows } = await subscription.read({ after: 0, maxLength: 1e6 });
  await subscription.close();
  return rows.map((row) => `${row.kind} ${wordsOf(decodeBody(row.kind, row.body?.text ?? ""))}`);
}

function wordsOf(body: RowBody): string {
  switch (body.kind) {
    case "user":
      return body.input.parts.map((part) => part.kind === "text" ? part.text : part.kind).join();
    case "text":
    case "thinking":
      return body.text;
    case "tool":
      return body.tool.input.title;
    case "notice":
      return body.title;
    case "end":
      return body.end.how;
    default:
      return "";
  }
}

const STORES: readonly { name: string; open: (folder: string) => Promise<Store> }[] = [
  { name: "memory", open: () => Promise.resolve(unclosed(new MemoryStore())) },
  { name: "a folder", open: (folder) => openFolderStore({ folder, log: keptLog([]) }) },
];

for (const { name, open } of STORES) {
  Deno.test(`[E4] a Session of the Engine is taken over into ${name} with its past, once, and is the Host's from then on`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const archive = new ScriptedArchive(kept("a", 25));
      archive.replay = async (past, context) => {
        await context.title("A better title");
        await context.commands([{ name: "web", description: "Searches" }]);
        await talk(past);
        await context.configured([{ id: "fast", name: "Fast", type: "boolean", value: true }]);
      };
      const store = await open(folder);
      {
        await using world = keeping(archive, { store });
        const connection = world.host.connect("c1");
        const before = await connection.sessions.get("a");
        assertEquals([before.title, before.keptAs, before.updatedAt], ["Title of a", "a", 25]);
        assertEquals(archive.asked, ["list"], "looking takes nothing over");
        const info = await bind(connection);
        assertEquals(
          [info.title, info.roots, info.cwd, info.updatedAt, info.commands.length, info.usage],
          ["A better title", ["/r"], "/w", 25, 1, { used: 5, size: 10 }],
        );
        assertEquals(info.config.options.map(({ id, value }) => [id, value]), [["fast", true]]);
        assertEquals(await told(connection), TOLD);
        await bind(connection);
        assertEquals((await connection.sessions.list({})).sessions.map(({ sessionId }) => sessionId), ["a"]);
        const subscription = await connection.sessions.open("a", NO_SERVICES);
        await started(connection, "t9", "a");
        await until(subscription, ended);
        assertEquals(archive.asked.filter((each) => !each.startsWith("list")), ["take a", "run t9"]);
        assertEquals(world.engine.asked, [], "what the Engine has open is not opened again");
      }
      const again = name === "memory" ? store : await open(folder);
      await using world = keeping(archive, { store: again });
      const connection = world.host.connect("c2");
      assertEquals(await told(connection), [...TOLD, "user t9", "end completed"]);
      await connection.sessions.bind({ sessionId: "a", roots: [], mcpServers: [] });
      world.engine.script = () => Promise.resolve();
      const subscription = await connection.sessions.open("a", NO_SERVICES);
      await started(connection, "t10", "a");
      await until(subscription, ended);
      assertEquals(world.engine.contexts[0]?.restored, { kept: "a" });
      assertEquals(archive.asked.filter((each) => each.startsWith("take")), ["take a"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

const REFUSALS: readonly { name: string; replay: ScriptedArchive["replay"]; code: string; says: string }[] = [
  {
    name: "before a word",
    replay: () => Promise.reject(new Error("overloaded")),
    code: "unavailable",
    says: "overloaded",
  },
  {
    name: "in the middle",
    replay: async (past) => {
      await talk(past);
      throw new Error("it broke");
    },
    code: "unavailable",
    says: "it broke",
  },
  {
    name: "because it is gone",
    replay: () => Promise.reject(new HostError("not_found", "There is no such Session any more")),
    code: "not_found",
    says: "no such Session",
  },
];
for (const { name, replay, code, says } of REFUSALS) {
  Deno.test(`[E4] an Engine that refuses ${name} leaves nothing half taken over, and can be asked again`, async () => {
    const store = new FaultyStore();
    const archive = new ScriptedArchive(kept("a", 25));
    archive.replay = replay;
    await using world = keeping(archive, { store });
    const connection = world.host.connect("c1");
    const error = await assertRejects(() => bind(connection), HostError, says);
    assertEquals(error.code, code);
    assertEquals(store.asked.filter((each) => /^(create|hold)/.test(each)), ["hold a"]);
    assertEquals((await connection.sessions.get("a")).keptAs, "a", "it is still the Engine's");
    archive.replay = talk;
    await bind(connection);
    assertEquals(await told(connection), TOLD);
  });
}

Deno.test("[E4] a Session that the store does not take is left by the Engine too", async () => {
  const store = new FaultyStore();
  store.create = () => Promise.reject(new HostError("persistence_failed", "Disk full"));
  const archive = new ScriptedArchive(kept("a", 25));
  await using world = keeping(archive, { store });
  const error = await assertRejects(() => bind(world.host.connect("c1")), HostError, "Disk full");
  assertEquals(error.code, "persistence_failed");
  assertEquals(archive.asked, ["list", "take a", "close a"]);
});

Deno.test("[E4] an Engine that tells and tells no end is given up, and what it told is forgotten", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  const replaying = Promise.withResolvers<void>();
  archive.replay = async (past) => {
    await talk(past);
    replaying.resolve();
    await new Promise(() => {});
  };
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  const binding = bind(connection);
  binding.catch(() => {});
  await replaying.promise;
  await world.clock.advance(LIMITS.takeoverMs);
  assertEquals((await assertRejects(() => binding, HostError, "did not answer")).code, "unavailable");
  assert(archive.asked.includes("gave up"));
  assertEquals(await world.store.get("a"), undefined);
});

Deno.test("[E4] two editors that want the same Session take it over once", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  const go = Promise.withResolvers<void>();
  archive.replay = async (past) => {
    await go.promise;
    await talk(past);
  };
  await using world = keeping(archive);
  const [one, two] = [world.host.connect("c1"), world.host.connect("c2")];
  const both = Promise.all([bind(one), bind(two)]);
  while (!archive.asked.includes("take a")) await world.clock.turn();
  await world.clock.turn();
  go.resolve();
  await both;
  assertEquals(archive.asked, ["list", "take a"]);
  assertEquals(await told(two), TOLD);
});

Deno.test("[E4] of two processes that take over the same Session one has it, and the other says so", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const archives = [new ScriptedArchive(kept("a", 25)), new ScriptedArchive(kept("a", 25))] as const;
    const slow = Promise.withResolvers<void>();
    archives[0].replay = () => slow.promise;
    const open = () => openFolderStore({ folder, log: keptLog([]) });
    await using first = keeping(archives[0], { store: await open() });
    await using second = keeping(archives[1], { store: await open() });
    const late = bind(first.host.connect("c1"));
    late.catch(() => {});
    while (!archives[0].asked.includes("take a")) await first.clock.turn();
    await bind(second.host.connect("c1"));
    slow.resolve();
    assertEquals((await assertRejects(() => late, HostError)).code, "busy");
    assertEquals(archives[0].asked.at(-1), "close a");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("[E4] what an Engine says between the past and the Session's beginning is not lost", async () => {
  const store = new FaultyStore();
  const archive = new ScriptedArchive(kept("a", 25));
  await using world = keeping(archive, { store });
  const creating = store.create.bind(store);
  store.create = async (...of) => {
    await archive.contexts[0]?.commands([{ name: "late", description: "Came late" }]);
    await archive.contexts[0]?.title("Late title");
    return await creating(...of);
  };
  const connection = world.host.connect("c1");
  await bind(connection);
  await world.clock.turn();
  const { commands, title } = await connection.sessions.get("a");
  assertEquals(title, "Late title");
  assertEquals(commands.map(({ name }) => name), ["late"]);
  await archive.contexts[0]?.title("And later");
  assertEquals((await connection.sessions.get("a")).title, "And later");
});

Deno.test("[E4] of a past that is too long the oldest Turns are left out, and that is said first", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  archive.replay = async (past) => {
    for (let at = 0; at < 40; at++) {
      const { sink } = await past.turn({ parts: [{ kind: "text", text: `Turn ${at}` }] });
      await sink.message(`m${at}`, "text", "x".repeat(1000));
    }
  };
  await using world = keeping(archive, { limits: { takeoverLength: 5000 } });
  const connection = world.host.connect("c1");
  await bind(connection);
  const rows = await told(connection);
  assertEquals(rows[0], "notice The beginning of this Session was left out");
  const turns = rows.filter((row) => row.startsWith("user"));
  assertEquals(turns.at(-1), "user Turn 39");
  assert(turns.length > 1 && turns.length <= 4, `${turns.length} Turns are left`);
});

Deno.test("[E4] a Session that was taken over and lost by the Engine is listed once, whatever the Engine calls it now", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  await bind(connection);
  await archive.contexts[0]?.state({ kept: "z" }, "z");
  assertEquals((await connection.sessions.list({})).sessions.map(({ keptAs }) => keptAs), ["z"]);
});

for (const running of [true, false]) {
  Deno.test(`[E4] [H4] deleting a Session that ${running ? "was taken over" : "only the Engine has"} has the Engine delete it too`, async () => {
    const archive = new ScriptedArchive(kept("a", 25), kept("b", 5));
    await using world = keeping(archive);
    const connection = world.host.connect("c1");
    if (running) await bind(connection);
    await connection.sessions.remove("a");
    assert(archive.asked.includes("remove a"));
    assertEquals((await connection.sessions.list({})).sessions.map(({ sessionId }) => sessionId), ["b"]);
    await connection.sessions.remove("a");
    assertEquals(archive.asked.filter((each) => each.startsWith("remove")), ["remove a"]);
  });
}

Deno.test("[E4] [H4] an Engine that refuses to delete is heard where only it has the Session, and else logged", async () => {
  const archive = new ScriptedArchive(kept("a", 25), kept("b", 5));
  archive.removing = () => Promise.reject(new Error("it is in use"));
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  const error = await assertRejects(() => connection.sessions.remove("b"), HostError, "it is in use");
  assertEquals(error.code, "unavailable");
  assertEquals((await connection.sessions.list({})).sessions.length, 2);
  await bind(connection);
  await connection.sessions.remove("a");
  assertEquals(await world.store.get("a"), undefined);
  assert(world.log.some((line) => line.includes("it is in use")));
});

for (const step of ["tells which Sessions it keeps", "tells the past"]) {
  Deno.test(`[E4] [S3] an editor that goes away while the Engine ${step} leaves no Session in use`, async () => {
    const archive = new ScriptedArchive(kept("a", 25));
    const [came, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const wait = () => {
      came.resolve();
      return go.promise;
    };
    if (step === "tells the past") archive.replay = wait;
    else archive.telling = wait;
    await using world = keeping(archive);
    const connection = world.host.connect("c1");
    const binding = bind(connection);
    binding.catch(() => {});
    await came.promise;
    const closing = connection.close();
    await world.clock.turn();
    go.resolve();
    await closing;
    await assertRejects(() => binding, HostError);
    for (let turn = 0; turn < 20; turn++) await world.clock.turn();
    const did = (what: string) => archive.asked.filter((each) => each === `${what} a`).length;
    assertEquals(did("close"), did("take"));
  });
}

Deno.test("[E4] [H4] a Session that is deleted while it is taken over is gone here and from the Engine", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  const [came, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  archive.replay = async (past) => {
    came.resolve();
    await go.promise;
    await talk(past);
  };
  await using world = keeping(archive);
  const [one, two] = [world.host.connect("c1"), world.host.connect("c2")];
  const binding = bind(one);
  binding.catch(() => {});
  await came.promise;
  const removing = two.sessions.remove("a");
  await world.clock.turn();
  go.resolve();
  await removing;
  await binding.catch(() => {});
  assertEquals(await world.store.get("a"), undefined);
  assertEquals((await two.sessions.list({})).sessions, []);
  assertEquals(archive.asked.filter((each) => each.startsWith("remove")), ["remove a"]);
});

Deno.test("[E4] a past of one Turn that is too long is not taken over, and not kept in memory", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  archive.replay = async (past) => {
    const { sink } = await past.turn({ parts: [{ kind: "text", text: "Go on" }] });
    for (let at = 0; at < 40; at++) await sink.message(`m${at}`, "text", "x".repeat(1000));
  };
  await using world = keeping(archive, { limits: { takeoverLength: 5000 } });
  const error = await assertRejects(() => bind(world.host.connect("c1")), HostError, "too long");
  assertEquals(error.code, "capacity");
  assertEquals(await world.store.get("a"), undefined);
  assertEquals(archive.asked, ["list", "take a", "close a"]);
});
