import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { RuntimeHost, SessionInfo } from "../../../src/host/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import { LIMITS } from "../../../src/limits.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import type { Store } from "../../../src/host/store/contract.ts";
import { kept, ScriptedArchive } from "./scripted_archive.ts";
import { done, ended, keptLog, NO_SERVICES, started, until, type World, worldOf } from "./world.ts";

/** A Host whose Engine keeps Sessions. */
function keeping(archive: ScriptedArchive, store?: Store): World {
  const world = worldOf(() => Promise.resolve(), store === undefined ? {} : { store });
  world.engine.archive = archive;
  return world;
}

/** Creates own Sessions, each at its time. */
async function create(world: World, connection: RuntimeHost, ...times: readonly number[]): Promise<void> {
  for (const time of times) {
    world.calendar.now = time;
    done(
      await connection.sessions.create({ sessionId: `own${time}`, cwd: "/w", roots: [], mcpServers: [] }),
    );
  }
}

/** All pages of a list. */
async function pages(connection: RuntimeHost, limit: number, cwd?: string): Promise<SessionInfo[][]> {
  const all: SessionInfo[][] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await connection.sessions.list({ limit, cursor, cwd });
    all.push([...page.sessions]);
    assert(all.length < 50, "The list has no end");
    if (page.cursor === undefined) return all;
    cursor = page.cursor;
  }
}

const ids = (sessions: readonly SessionInfo[]) => sessions.map(({ sessionId }) => sessionId);

const STORES: readonly { name: string; open: (folder: string) => Promise<Store> }[] = [
  { name: "memory", open: () => Promise.resolve(new MemoryStore()) },
  { name: "folder", open: (folder) => openFolderStore({ folder, log: keptLog([]) }) },
];

for (const { name, open } of STORES) {
  for (const limit of [1, 2, 3, 7, 100]) {
    Deno.test(`[E4] the Engine's Sessions and those of a ${name} are listed newest first, in pages of ${limit}, none twice`, async () => {
      const folder = await Deno.makeTempDir();
      try {
        const archive = new ScriptedArchive(
          ...[10, 25, 30, 55, 70].map((at) => kept(`agent${at}`, at)),
          kept("undated"),
        );
        await using world = keeping(archive, await open(folder));
        const connection = world.host.connect("c1");
        await create(world, connection, 20, 30, 40, 50, 60);
        const all = await pages(connection, limit);
        assertEquals(all.flatMap(ids), [
          "agent70",
          "own60",
          "agent55",
          "own50",
          "own40",
          "own30",
          "agent30",
          "agent25",
          "own20",
          "agent10",
          "undated",
        ]);
        for (const page of all.slice(0, -1)) assertEquals(page.length, limit);
        const [first] = all.flat();
        assertEquals([first?.title, first?.updatedAt, first?.engineId], ["Title of agent70", 70, "scripted"]);
        assertEquals(archive.asked, ["list"], "one answer serves all pages");
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    });
  }
}

Deno.test("[E4] [S6] a list of one folder has the Engine's Sessions of that folder only", async () => {
  const archive = new ScriptedArchive(kept("a", 1), kept("b", 2, { cwd: "/other" }));
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  assertEquals((await pages(connection, 10, "/w")).map(ids), [["a"]]);
  assertEquals((await pages(connection, 10, "/other")).map(ids), [["b"]]);
  assertEquals((await pages(connection, 10)).map(ids), [["b", "a"]]);
  assertEquals(archive.asked, ["list /w", "list /other", "list"]);
});

Deno.test("[E4] an id that the Host cannot have is shown by another, which stays the same", async () => {
  const archive = new ScriptedArchive(kept("../a/b", 2), kept("x".repeat(65), 1), kept("fits-1", 3));
  await using world = keeping(archive);
  const [shown = []] = (await pages(world.host.connect("c1"), 10)).map(ids);
  assertEquals(shown[0], "fits-1");
  for (const id of shown.slice(1)) assertMatch(id, /^kept-[0-9a-f]{40}$/);
  assertEquals(new Set(shown).size, 3);
  await using other = keeping(archive);
  assertEquals((await pages(other.host.connect("c1"), 10)).map(ids), [shown]);
});

Deno.test("[E4] an Engine that hangs leaves the list to the Host's own, and has its Sessions in a later one", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  const answer = Promise.withResolvers<void>();
  archive.telling = () => answer.promise;
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  await create(world, connection, 10, 20, 30);
  const listing = connection.sessions.list({ limit: 2 });
  while (world.clock.waiting < 2) await world.clock.turn();
  await world.clock.advance(LIMITS.archiveMs);
  const first = await listing;
  assertEquals(ids(first.sessions), ["own30", "own20"]);
  answer.resolve();
  while ((await connection.sessions.list({})).sessions.length < 4) await world.clock.turn();
  const second = await connection.sessions.list({ limit: 2, cursor: first.cursor });
  assertEquals(ids(second.sessions), ["own10"], "a list that began without the Engine's goes on without");
  assertEquals(archive.asked, ["list"], "what came late is there for the next list");
  assertEquals(world.log.filter((line) => line.includes("slow to tell")).length, 1);
});

Deno.test("[E4] an Engine that never answers is given up, and asked anew by a later list", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  archive.telling = () => new Promise(() => {});
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  const listing = connection.sessions.list({});
  while (world.clock.waiting < 2) await world.clock.turn();
  await world.clock.advance(LIMITS.takeoverMs);
  assertEquals((await listing).sessions, []);
  archive.telling = () => Promise.resolve();
  await world.clock.turn();
  assertEquals(ids((await connection.sessions.list({})).sessions), ["a"]);
  assertEquals(archive.asked, ["list", "gave up", "list"]);
});

Deno.test("[E4] an Engine that fails breaks no list, and what failed is in the log", async () => {
  const archive = new ScriptedArchive(kept("a", 25));
  archive.telling = () => Promise.reject(new Error("no such program"));
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  await create(world, connection, 10, 20);
  assertEquals((await pages(connection, 1)).map(ids), [["own20"], ["own10"]]);
  assertEquals(world.log.filter((line) => line.includes("no such program")).length, 1);
  archive.telling = () => Promise.resolve();
  assertEquals(ids((await connection.sessions.list({})).sessions), ["a", "own20", "own10"]);
});

Deno.test("[E4] [S6] broken and foreign cursors are told from good ones", async () => {
  const archive = new ScriptedArchive(kept("a", 25), kept("b", 35));
  await using world = keeping(archive);
  await using plain = worldOf(() => Promise.resolve());
  const connection = world.host.connect("c1");
  const other = plain.host.connect("c1");
  await create(world, connection, 10, 20);
  await create(plain, other, 10, 20);
  const good = (await connection.sessions.list({ limit: 1 })).cursor ?? "";
  const stores = (await other.sessions.list({ limit: 1 })).cursor ?? "";
  const wrong = [
    "",
    "k.",
    "k..",
    good.slice(1),
    good.slice(0, -1),
    `${good}x`,
    good.replace("k.", "k.A"),
    stores,
  ];
  for (const cursor of [...wrong, `k.${"A".repeat(5000)}`]) {
    const error = await assertRejects(() => connection.sessions.list({ cursor }), HostError);
    assertEquals([error.code, /first page/.test(error.message)], ["invalid", true], cursor);
  }
  await assertRejects(() => connection.sessions.list({ cursor: good, cwd: "/w" }), HostError, "first page");
  await assertRejects(() => other.sessions.list({ cursor: good }), HostError, "first page");
  assertEquals(ids((await connection.sessions.list({ cursor: good })).sessions), ["a", "own20", "own10"]);
});

Deno.test("[E4] a Session of the Engine that an own one stands for is listed once, and is found under that one only", async () => {
  const archive = new ScriptedArchive(kept("agent-a", 25), kept("b", 5));
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  world.engine.script = async () => {
    await world.engine.contexts[0]?.state({ any: 1 }, "agent-a");
  };
  await create(world, connection, 10);
  assertEquals(ids((await connection.sessions.list({})).sessions), ["agent-a", "own10", "b"]);
  const subscription = await connection.sessions.open("own10", NO_SERVICES);
  await started(connection, "t1", "own10");
  await until(subscription, ended);
  assertEquals(ids((await connection.sessions.list({})).sessions), ["own10", "b"]);
  assertEquals((await assertRejects(() => connection.sessions.get("agent-a"), HostError)).code, "not_found");
});

Deno.test("[E4] only the Engine of new Sessions is asked, and only when something of it is wanted", async () => {
  const archive = new ScriptedArchive();
  await using world = keeping(archive);
  const connection = world.host.connect("c1");
  await create(world, connection, 10);
  await connection.sessions.get("own10");
  await connection.sessions.bind({ sessionId: "own10", roots: [], mcpServers: [] });
  assertEquals(archive.asked, []);
});

Deno.test("[E4] close of the Host gives up what an Engine was asked", async () => {
  const archive = new ScriptedArchive(kept("a", 1));
  archive.telling = () => new Promise(() => {});
  const world = keeping(archive);
  const asked = world.host.connect("c1").sessions.get("a");
  asked.catch(() => {});
  while (archive.asked.length === 0) await world.clock.turn();
  await world.host.close();
  assertEquals((await assertRejects(() => asked, HostError)).code, "unavailable");
  assertEquals(archive.asked, ["list", "gave up"]);
});
