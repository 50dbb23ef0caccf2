import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "../../../src/host/store/contract.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { headOf, infoOf, type KeptLog, keptLog, refusalOf, rowOf, withFolder } from "./support.ts";

function checkFolder(name: string, work: (folder: string, log: KeptLog) => Promise<void>): void {
  Deno.test(name, () => withFolder((folder) => work(folder, keptLog())));
}

/** Opens the store for one piece of work. */
async function opened<T>(folder: string, work: (store: Store) => Promise<T>, log = keptLog()): Promise<T> {
  const store = await openFolderStore({ folder, log });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function listed(store: Store): Promise<string[]> {
  return (await store.list({ limit: 1000 })).sessions.map((info) => info.sessionId);
}

async function make(folder: string, ...ids: string[]): Promise<void> {
  await opened(folder, async (store) => {
    for (const id of ids) {
      const session = await store.create(infoOf(id));
      await session.commit(rowOf(1, `text of ${id}`));
    }
  });
}

function sql(path: string, text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}

async function modeOf(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

async function names(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

// The folder itself

checkFolder("the state folder is made, is ours alone, and keeps its name", async (parent) => {
  const folder = `${parent}/deep/state`;
  const first = await opened(folder, (store) => Promise.resolve(store.storeId));
  assertEquals(await modeOf(folder), 0o700);
  assertEquals(await modeOf(`${folder}/sessions`), 0o700);
  assertEquals(await opened(folder, (store) => Promise.resolve(store.storeId)), first);
  assertEquals(await opened(folder, (store) => Promise.resolve(store.folder)), folder);
  const other = await opened(`${parent}/other`, (store) => Promise.resolve(store.storeId));
  assertNotEquals(other, first);
  assertEquals(await names(folder), ["index.db", "sessions"]);
});

checkFolder(
  "a folder that is open to others is closed if it is ours, and refused if it holds more",
  async (parent) => {
    await Deno.mkdir(`${parent}/empty`, { mode: 0o755 });
    await opened(`${parent}/empty`, () => Promise.resolve());
    assertEquals(await modeOf(`${parent}/empty`), 0o700);
    await Deno.chmod(`${parent}/empty`, 0o777);
    await opened(`${parent}/empty`, () => Promise.resolve());
    assertEquals(await modeOf(`${parent}/empty`), 0o700);
    await Deno.mkdir(`${parent}/home`, { mode: 0o755 });
    await Deno.writeTextFile(`${parent}/home/notes`, "");
    const error = await refusalOf(openFolderStore({ folder: `${parent}/home`, log: keptLog() }));
    assertEquals([error.code, error.data.reason], ["persistence_failed", "foreign"]);
    assertStringIncludes(error.message, `${parent}/home`);
    assertStringIncludes(error.message, "--state");
    assertEquals([await modeOf(`${parent}/home`), await names(`${parent}/home`)], [0o755, ["notes"]]);
  },
);

checkFolder(
  "a folder with a database of something else, or a file in its place, is refused",
  async (parent) => {
    await Deno.mkdir(`${parent}/app`);
    sql(`${parent}/app/index.db`, "CREATE TABLE things (a)");
    await Deno.writeTextFile(`${parent}/file`, "");
    await Deno.mkdir(`${parent}/app2`);
    sql(`${parent}/app2/index.db`, "PRAGMA user_version = 1; CREATE TABLE things (a)");
    for (const name of ["app", "app2", "file"]) {
      const error = await refusalOf(openFolderStore({ folder: `${parent}/${name}`, log: keptLog() }));
      assertEquals([error.code, error.data.reason], ["persistence_failed", "foreign"], name);
      assertStringIncludes(error.message, `${parent}/${name}`);
    }
  },
);

Deno.test({
  name: "a folder of another user is refused",
  // Only root can give a folder away.
  ignore: Deno.build.os === "windows" || Deno.uid() !== 0,
  fn: () =>
    withFolder(async (parent) => {
      await Deno.mkdir(`${parent}/theirs`, { mode: 0o700 });
      await Deno.chown(`${parent}/theirs`, 65534, 65534);
      const error = await refusalOf(openFolderStore({ folder: `${parent}/theirs`, log: keptLog() }));
      assertEquals([error.code, error.data.reason], ["persistence_failed", "owner"]);
      assertStringIncludes(error.message, `${parent}/theirs`);
      assertStringIncludes(error.message, "--state");
      assertEquals(await names(`${parent}/theirs`), []);
    }),
});

Deno.test({
  name: "without permission the refusal names the folder and the flags",
  permissions: { read: true, write: false },
  fn: async () => {
    const error = await refusalOf(openFolderStore({ folder: "/nowhere/state", log: keptLog() }));
    assertEquals([error.code, error.data.reason], ["unavailable", "denied"]);
    for (const part of ["/nowhere/state", "--allow-read", "--allow-write", "--state", "--memory"]) {
      assertStringIncludes(error.message, part);
    }
  },
});

checkFolder("a folder of a newer version is refused, and so is one newer Session alone", async (folder) => {
  await make(folder, "old", "new");
  sql(`${folder}/sessions/new/session.db`, "PRAGMA user_version = 99");
  await opened(folder, async (store) => {
    const error = await refusalOf(store.hold("new"));
    assertEquals([error.code, error.data.reason, error.data.sessionId], [
      "persistence_failed",
      "version",
      "new",
    ]);
    assertStringIncludes(error.message, "newer");
    assertEquals((await (await store.hold("old")).load()).last, 1);
  });
  sql(`${folder}/index.db`, "PRAGMA user_version = 99");
  const error = await refusalOf(openFolderStore({ folder, log: keptLog() }));
  assertEquals([error.code, error.data.reason], ["persistence_failed", "version"]);
  assertStringIncludes(error.message, folder);
});

// Damage

const PAGE = 4096;

/** Ways to damage a database file of many pages. */
const DAMAGE: { readonly [name: string]: (bytes: Uint8Array) => Uint8Array } = {
  "nothing left": () => new Uint8Array(0),
  "only noise": (bytes) => bytes.map((_, at) => (at * 7) & 0xff),
  "its head gone": (bytes) => bytes.map((byte, at) => at < 100 ? 0 : byte),
  "its tables gone": (bytes) => bytes.map((byte, at) => at >= 100 && at < 4 * PAGE ? 0xff : byte),
  "cut in half": (bytes) => bytes.slice(0, bytes.length >> 1),
  "noise behind its tables": (bytes) => bytes.map((byte, at) => at < 11 * PAGE ? byte : 0xa5),
};

for (const [name, damage] of Object.entries(DAMAGE)) {
  checkFolder(`a damaged Session fails alone, is listed and can be removed: ${name}`, async (folder) => {
    await make(folder, "good", "bad");
    await opened(folder, async (store) => {
      const session = await store.hold("bad");
      await session.commit(Array.from({ length: 398 }, (_, at) => rowOf(at + 2, "x".repeat(900))).flat());
    });
    const path = `${folder}/sessions/bad/session.db`;
    await Deno.writeFile(path, damage(await Deno.readFile(path)));
    await opened(folder, async (store) => {
      const error = await refusalOf((async () => {
        const session = await store.hold("bad");
        try {
          await session.rows({ after: 0, limit: 1000, length: 1000, maxLength: 1e6 });
          await session.load();
        } finally {
          await session.close();
        }
      })());
      assertEquals([error.code, error.data.sessionId], ["persistence_failed", "bad"]);
      assertStringIncludes(error.message, `"bad"`);
      assertStringIncludes(error.message, "delete");
      assertEquals(await listed(store), ["good", "bad"]);
      assertEquals((await store.get("bad"))?.sessionId, "bad");
      assertEquals(await (await store.hold("good")).body(1, 0, 100), "text of good");
      await store.remove("bad");
      assertEquals(await listed(store), ["good"]);
    });
    assertEquals(await names(`${folder}/sessions`), ["good"]);
  });
}

checkFolder("a Session without its database is damaged, not forgotten", async (folder) => {
  await make(folder, "a");
  await Deno.remove(`${folder}/sessions/a/session.db`);
  await opened(folder, async (store) => {
    assertEquals((await refusalOf(store.hold("a"))).code, "persistence_failed");
    assertEquals(await listed(store), ["a"]);
  });
});

// The list heals

checkFolder("[S6] Sessions that the list does not know are listed again", async (folder) => {
  await make(folder, "a", "b", "c");
  sql(`${folder}/index.db`, "DELETE FROM sessions WHERE session_id = 'b'");
  await opened(folder, async (store) => assertEquals(await listed(store), ["c", "b", "a"]));
  for (const name of await names(folder)) if (name !== "sessions") await Deno.remove(`${folder}/${name}`);
  await opened(folder, async (store) => {
    assertEquals(await store.get("a"), infoOf("a"));
    assertEquals(await listed(store), ["c", "b", "a"]);
    assertEquals(await (await store.hold("b")).body(1, 0, 100), "text of b");
  });
});

checkFolder("[S6] an entry without a folder vanishes, also while the store is open", async (folder) => {
  await make(folder, "a", "b", "c");
  await Deno.remove(`${folder}/sessions/a`, { recursive: true });
  await opened(folder, async (store) => {
    assertEquals(await listed(store), ["c", "b"]);
    await Deno.remove(`${folder}/sessions/b`, { recursive: true });
    assertEquals((await refusalOf(store.hold("b"))).code, "not_found");
    assertEquals(await store.get("b"), undefined);
    await Deno.remove(`${folder}/sessions/c`, { recursive: true });
    assertEquals(await listed(store), []);
    assertEquals(await store.create(infoOf("a")).then((session) => session.sessionId), "a");
  });
});

checkFolder("[S6] an entry that lags behind is put right when the Session is held", async (folder) => {
  await make(folder, "a");
  const stale = JSON.stringify(infoOf("a", { title: "Stale" }));
  sql(`${folder}/index.db`, `UPDATE sessions SET updated_at = 1, info = '${stale}'`);
  await opened(folder, async (store) => {
    assertEquals((await store.get("a"))?.title, "Stale");
    await (await store.hold("a")).close();
    assertEquals(await store.get("a"), infoOf("a"));
  });
});

checkFolder("[S6] a damaged list is put aside and made anew", async (folder, log) => {
  await make(folder, "a", "b");
  const path = `${folder}/index.db`;
  await Deno.writeFile(path, (await Deno.readFile(path)).fill(0x55));
  await Promise.all([
    opened(folder, async (store) => assertEquals(await listed(store), ["b", "a"]), log),
    opened(folder, async (store) => assertEquals(await listed(store), ["b", "a"]), log),
  ]);
  assertEquals(log.warnings.length, 1);
  assertEquals((await names(folder)).filter((name) => name.includes("damaged")).length, 1);
});

checkFolder("[S6] what a crash left is cleared and what is not ours is left alone", async (folder, log) => {
  await make(folder, "a");
  const sessions = `${folder}/sessions`;
  const long = new Date(Date.now() - 3_600_000);
  for (const name of ["young", "old", ".removed-x-1", "not.ours"]) await Deno.mkdir(`${sessions}/${name}`);
  await Deno.writeTextFile(`${sessions}/.removed-x-1/session.db`, "");
  await Deno.writeTextFile(`${sessions}/stray`, "");
  await Deno.mkdir(`${sessions}/begun`);
  await Deno.writeTextFile(`${sessions}/begun/session.db`, "");
  for (const name of ["old", "begun"]) await Deno.utime(`${sessions}/${name}`, long, long);
  await opened(folder, async (store) => {
    assertEquals(await listed(store), ["a"]);
    assert((await names(sessions)).includes("young"));
    assertEquals((await refusalOf(store.hold("young"))).code, "not_found");
    assertEquals(await store.get("stray"), undefined);
  }, log);
  assertEquals((await names(sessions)).filter((name) => name !== "young"), ["a", "not.ours", "stray"]);
  assertEquals(log.warnings, []);
});

checkFolder(
  "[S6] a damaged Session that the list lost is named in the log and can be removed",
  async (folder, log) => {
    await make(folder, "a");
    await Deno.writeFile(`${folder}/sessions/a/session.db`, new Uint8Array(9999).fill(7));
    sql(`${folder}/index.db`, "DELETE FROM sessions");
    await opened(folder, async (store) => {
      assertEquals(await listed(store), []);
      assertEquals(log.warnings.length, 1);
      await store.remove("a");
    }, log);
    assertEquals(await names(`${folder}/sessions`), []);
  },
);

checkFolder("[S8] each process lists what the other one wrote last", async (folder) => {
  await opened(folder, (one) =>
    opened(folder, async (two) => {
      await (await one.create(infoOf("a"))).close();
      const session = await two.hold("a");
      await session.commit([{ op: "info", info: infoOf("a", { title: "Second" }) }]);
      assertEquals((await one.list({ limit: 1 })).sessions[0]?.title, "Second");
      assertEquals((await two.get("a"))?.title, "Second");
    }));
});

checkFolder(
  "[S8] a Session that is removed and made anew while one waits for its lock is held all the same",
  async (folder) => {
    await make(folder, "a");
    const lock = `${folder}/sessions/a/lock`;
    const taking = Deno.FsFile.prototype.tryLockSync;
    // The other process acts after our opening and before our locking.
    Deno.FsFile.prototype.tryLockSync = function (exclusive) {
      Deno.FsFile.prototype.tryLockSync = taking;
      Deno.removeSync(lock);
      Deno.writeTextFileSync(lock, "");
      return taking.call(this, exclusive);
    };
    await opened(folder, async (store) => {
      await store.hold("a");
      await opened(folder, async (other) => assertEquals((await refusalOf(other.hold("a"))).code, "busy"));
    });
  },
);

// What lies where

checkFolder(
  "[S9] file contents never reach a row, nor do they stay when their Session goes",
  async (folder) => {
    const secret = "TOP-SECRET-CONTENT";
    const bytes = new TextEncoder().encode(secret);
    const artifact = { artifactId: "art", name: "n", mimeType: "t", size: bytes.length, sha256: "0" };
    await opened(folder, async (store) => {
      const session = await store.create(infoOf("a"));
      await session.artifacts.begin("up");
      await session.artifacts.append("up", bytes);
      await session.artifacts.seal("up", "art");
      await session.commit([{ op: "artifact", artifact }, { op: "pin", turnId: "t", artifactId: "art" }]);
      const refusal = await refusalOf(session.artifacts.seal("up", "art"));
      assert(!`${refusal.message} ${JSON.stringify(refusal.data)}`.includes(secret));
    });
    const holders: string[] = [];
    for (const where of [folder, `${folder}/sessions`, `${folder}/sessions/a`]) {
      for (const name of await names(where)) {
        if (!(await Deno.stat(`${where}/${name}`)).isFile) continue;
        const text = new TextDecoder("latin1").decode(await Deno.readFile(`${where}/${name}`));
        if (text.includes(secret)) holders.push(name);
      }
    }
    assertEquals(holders, ["art.artifact"]);
    assertEquals(await modeOf(`${folder}/sessions/a/art.artifact`), 0o600);
    await opened(folder, (store) => store.remove("a"));
    assertEquals(await names(`${folder}/sessions`), []);
  },
);

checkFolder("batches of one turn of the event loop share a commit, and each is told", async (folder) => {
  const points: string[] = [];
  const store = await openFolderStore({ folder, log: keptLog(), failpoint: (point) => points.push(point) });
  const session = await store.create(infoOf("a"));
  await Promise.all([1, 2, 3].map((seq) => session.commit(rowOf(seq, "x"))));
  await session.commit([{ op: "row", head: headOf(4, "") }]);
  assertEquals(points, [
    "create_begun",
    "create_done",
    "commit_begun",
    "commit_done",
    "commit_begun",
    "commit_done",
  ]);
  await store.close();
});

checkFolder("a list that cannot be written now is written later; the commit stands", async (folder, log) => {
  const store = await openFolderStore({ folder, log });
  const session = await store.create(infoOf("a"));
  sql(
    `${folder}/index.db`,
    "CREATE TRIGGER no BEFORE UPDATE ON sessions BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  await session.commit([{ op: "info", info: infoOf("a", { title: "Later" }) }]);
  assertEquals((await session.load()).info.title, "Later");
  assertEquals((await store.get("a"))?.title, "Later");
  assert(log.warnings.length > 0);
  sql(`${folder}/index.db`, "DROP TRIGGER no");
  assertEquals((await store.list({ limit: 1 })).sessions[0]?.title, "Later");
  await store.close();
});
