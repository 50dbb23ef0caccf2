import { assert, assertEquals, assertObjectMatch, assertStringIncludes } from "@std/assert";
import { openFolderStore, type StorePoint } from "../../../src/host/store/folder.ts";
import { StoreProcess } from "./process.ts";
import { infoOf, keptLog, numbersOf, refusalOf, withFolder } from "./support.ts";

Deno.test("[S8] two processes on one folder create, list and hold; a held Session is busy and says by whom", () =>
  withFolder(async (folder) => {
    await using one = new StoreProcess(folder);
    await using two = new StoreProcess(folder);
    // Both make the folder's files at the same moment.
    assertEquals(await Promise.all([one.ask("create", "a"), two.ask("create", "b")]), [null, null]);
    assertEquals(await Promise.all([one.ask("create", "c"), two.ask("create", "d")]), [null, null]);
    assertEquals(await one.ask("list"), ["d", "c", "b", "a"]);
    assertEquals(await two.ask("list"), ["d", "c", "b", "a"]);
    for (const command of ["hold", "remove"]) {
      const busy = await two.ask(command, "a");
      assertObjectMatch(Object(busy), {
        code: "busy",
        data: { pid: one.pid, program: "child", sessionId: "a" },
      });
      assertStringIncludes(String(Object(busy).message), `child (process ${one.pid})`);
    }
    assertObjectMatch(Object(await two.ask("create", "a")), { code: "conflict" });
    assertEquals(await one.ask("release", "a"), null);
    assertEquals(await two.ask("hold", "a"), null);
    assertObjectMatch(Object(await one.ask("hold", "a")), { code: "busy", data: { pid: two.pid } });
    assertEquals(await two.ask("release", "a"), null);
    assertEquals(await two.ask("remove", "a"), null);
    assertEquals(await one.ask("list"), ["d", "c", "b"]);
  }));

Deno.test("[S8] a killed process holds nothing any more", () =>
  withFolder(async (folder) => {
    await using one = new StoreProcess(folder);
    assertEquals(await one.ask("create", "a"), null);
    assertEquals(await one.ask("row", "a", 1, 10), null);
    await one.kill();
    await using two = new StoreProcess(folder);
    assertEquals(await two.ask("hold", "a"), null);
    assertEquals(await two.ask("row", "a", 2, 10), null);
  }));

interface Outcome {
  readonly acknowledged: boolean;
  readonly present: boolean;
}

/** How the child is told to do each durable step. */
const COMMANDS: Readonly<
  Record<"create" | "commit" | "seal" | "remove", readonly [string, ...(string | number)[]]>
> = {
  create: ["create", "new"],
  commit: ["row", "old", 2, 5000],
  seal: ["seal", "old", "up"],
  remove: ["remove", "old"],
};

/** Ends a process at a moment of its store and tells what it had said and what is there. */
async function endAt(
  folder: string,
  operation: keyof typeof COMMANDS,
  stage: "begun" | "done",
  early: boolean,
): Promise<Outcome> {
  const point: StorePoint = `${operation}_${stage}`;
  await using child = new StoreProcess(folder, early ? [point, "early"] : [point]);
  assertEquals(await child.ask("create", "old"), null);
  assertEquals(await child.ask("row", "old", 1, 100), null);
  assertEquals(await child.ask("upload", "old", "up"), null);
  if (operation === "remove") assertEquals(await child.ask("release", "old"), null);
  await child.tell("arm");
  if (!early) await child.next();
  await child.tell(...COMMANDS[operation]);
  const acknowledged = await child.next() !== undefined;
  await child.kill();
  const sealed = await exists(`${folder}/sessions/old/up.artifact`);
  const store = await openFolderStore({ folder, log: keptLog() });
  try {
    const ids = (await store.list({ limit: 9 })).sessions.map((info) => info.sessionId);
    const target = operation === "create" ? "new" : "old";
    const session = ids.includes(target) ? await store.hold(target) : undefined;
    // What was acknowledged before is there in any case.
    if (operation !== "remove") assert(ids.includes("old"));
    if (operation === "commit" || operation === "seal") {
      assertEquals(await session?.body(1, 0, 200), "1".repeat(100));
    }
    const present = {
      create: session !== undefined,
      commit: (await session?.heads({ after: 1, limit: 9 }))?.length === 1,
      // A sealed Artifact without its row is out of reach, but its bytes were in the folder.
      seal: sealed,
      remove: session === undefined,
    };
    return { acknowledged, present: present[operation] };
  } finally {
    await store.close();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return false;
    throw cause;
  }
}

for (const operation of ["create", "commit", "seal", "remove"] as const) {
  Deno.test(`[durability] a process that ends around "${operation}" has acknowledged nothing that is not there`, () =>
    withFolder(async (folder) => {
      assertEquals(await endAt(`${folder}/begun`, operation, "begun", false), {
        acknowledged: false,
        present: false,
      });
      assertEquals(await endAt(`${folder}/done`, operation, "done", false), {
        acknowledged: false,
        present: true,
      });
    }));

  Deno.test(`[durability] an acknowledgement of "${operation}" before its time is caught`, () =>
    withFolder(async (folder) => {
      assertEquals(await endAt(folder, operation, "begun", true), { acknowledged: true, present: false });
    }));
}

Deno.test("[durability] [S8] no acknowledged row is lost by kill -9 at any moment, with two processes on one folder", () =>
  withFolder(async (folder) => {
    const next = numbersOf(11);
    const acknowledged = new Map<string, Set<number>>();
    for (let round = 0; round < 4; round++) {
      const rows = [new Set<number>(), new Set<number>()] as const;
      await Promise.all([0, 1].map(async (at) => {
        const id = `r${round}-${at}`;
        const seen = rows[at] ?? new Set();
        acknowledged.set(id, seen);
        await using child = new StoreProcess(folder);
        assertEquals(await child.ask("create", id), null);
        // From a few rows to a few checkpoints of the log.
        const enough = 1 + next(200);
        const length = [10, 300, 20_000][next(3)] ?? 10;
        await child.tell("flood", id, length);
        while (seen.size < enough) seen.add(Number(await child.next()));
        for (const late of await child.kill()) seen.add(Number(late));
      }));
    }
    const store = await openFolderStore({ folder, log: keptLog() });
    try {
      assertEquals((await store.list({ limit: 100 })).sessions.length, acknowledged.size);
      for (const [id, rows] of acknowledged) {
        const session = await store.hold(id);
        const heads = await session.heads({ after: 0, limit: 1e6 });
        const there = new Set(heads.map((head) => head.seq));
        for (const seq of rows) assert(there.has(seq), `row ${seq} of ${id} was acknowledged`);
        // Whole or not at all: a row never comes without its body.
        for (const { seq, length } of heads) {
          assertEquals(await session.body(seq, 0, 1e6), String(seq % 10).repeat(length));
        }
      }
    } finally {
      await store.close();
    }
  }));

Deno.test("[S8] a lock that is left behind by nobody is no obstacle, whatever stands in it", () =>
  withFolder(async (folder) => {
    const store = await openFolderStore({ folder, log: keptLog() });
    await (await store.create(infoOf("a"))).close();
    for (const text of ["", "nonsense", "null", "[1]", '{"pid":"x"}', '{"pid":1,"program":"other"}']) {
      await Deno.writeTextFile(`${folder}/sessions/a/lock`, text);
      const session = await store.hold("a");
      const busy = await refusalOf(store.hold("a"));
      assertEquals(busy.data.pid, Deno.pid);
      await session.close();
    }
    await using other = new StoreProcess(folder);
    assertEquals(await other.ask("hold", "a"), null);
    for (const text of ["", "nonsense", "null", '{"pid":"x"}']) {
      await Deno.writeTextFile(`${folder}/sessions/a/lock`, text);
      const busy = await refusalOf(store.hold("a"));
      assertEquals([busy.code, busy.data.pid], ["busy", undefined]);
      assertStringIncludes(busy.message, "another process");
    }
    await store.close();
  }));
