import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { StoreProcess } from "./process.ts";
import { infoOf, keptLog, refusalOf, rowOf, withFolder } from "./support.ts";

/** Whether this machine lets us mount a small disk of our own. */
async function mount(folder: string, options: string): Promise<boolean> {
  try {
    const done = await new Deno.Command("mount", {
      args: ["-t", "tmpfs", "-o", options, "tmpfs", folder],
      stderr: "null",
    }).output();
    return done.success;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return false;
    throw cause;
  }
}

/** Lazily: a check that failed may have left files open. */
async function unmount(folder: string): Promise<void> {
  await new Deno.Command("umount", { args: ["-l", folder] }).output();
}

const windows = Deno.build.os === "windows";

Deno.test({
  name: "[durability] on a full disk a commit leaves nothing, what was there stays, and deleting helps",
  ignore: windows,
  fn: () =>
    withFolder(async (parent) => {
      const folder = `${parent}/disk`;
      await Deno.mkdir(folder, { mode: 0o700 });
      if (!await mount(folder, "size=2m,mode=700")) return;
      try {
        const log = keptLog();
        const store = await openFolderStore({ folder, log });
        const session = await store.create(infoOf("a"));
        await (await store.create(infoOf("b"))).close();
        await Deno.writeFile(`${folder}/sessions/reserve`, new Uint8Array(100 * 1024));
        let rows = 0;
        let refusal: unknown;
        while (refusal === undefined) {
          // The small batch does not go down with the large one.
          const results = await Promise.allSettled([
            session.commit(rowOf(rows + 1, "x".repeat(60_000))),
            session.commit([{ op: "watermark", seq: 0 }]),
          ]);
          if (results[0].status === "rejected") refusal = results[0].reason;
          else rows++;
        }
        const error = await refusalOf(Promise.reject(refusal));
        assertEquals([error.code, error.data.reason], ["persistence_failed", "full"]);
        assertStringIncludes(error.message, folder);
        assertStringIncludes(error.message, `"a"`);
        assertEquals((await session.heads({ after: 0, limit: 1000 })).length, rows);
        assertEquals((await session.load()).last, rows);
        // Room for a piece and a half.
        await Deno.remove(`${folder}/sessions/reserve`);
        await session.artifacts.begin("up");
        const upload = await refusalOf((async () => {
          for (;;) await session.artifacts.append("up", new Uint8Array(64 * 1024));
        })());
        assertEquals([upload.code, upload.data.reason], ["persistence_failed", "full"]);
        // What came through is whole pieces only.
        assertEquals((await session.artifacts.measure("up"))?.size, 64 * 1024);
        assertEquals((await Deno.stat(`${folder}/sessions/a/up.upload`)).size, 64 * 1024);
        assertEquals((await refusalOf(store.create(infoOf("c")))).code, "persistence_failed");
        assertEquals((await store.list({ limit: 9 })).sessions.map((info) => info.sessionId), ["b", "a"]);
        await session.close();
        // Nothing but deleting is possible, and possible it is.
        await store.remove("a");
        assertEquals((await store.list({ limit: 9 })).sessions.map((info) => info.sessionId), ["b"]);
        const other = await store.hold("b");
        await other.commit(rowOf(1, "y".repeat(60_000)));
        await store.close();
      } finally {
        await unmount(folder);
      }
    }),
});

Deno.test({
  name: "[durability] past a file size limit a commit leaves nothing and what was there stays",
  ignore: windows,
  fn: () =>
    withFolder(async (folder) => {
      // In blocks of 512 bytes; the signal is ignored so that the write itself fails.
      const limit = ["sh", "-c", `trap "" XFSZ; ulimit -f 2000; exec "$0" "$@"`];
      let rows = 0;
      {
        await using child = new StoreProcess(folder, [], limit);
        assertEquals(await child.ask("create", "a"), null);
        let answer: unknown = null;
        for (; answer === null; rows++) answer = await child.ask("row", "a", rows + 1, 50_000);
        assert(rows > 1);
        assertEquals(Object(answer).code, "persistence_failed");
        assertStringIncludes(String(Object(answer).message), `"a"`);
        assertEquals(await child.ask("list"), ["a"]);
      }
      const store = await openFolderStore({ folder, log: keptLog() });
      const session = await store.hold("a");
      assertEquals((await session.heads({ after: 0, limit: 1000 })).length, rows - 1);
      await session.commit(rowOf(rows, "fits again"));
      await store.close();
    }),
});

Deno.test({
  name: "[durability] a folder that cannot be written is refused, naming it and the flag",
  ignore: windows,
  fn: () =>
    withFolder(async (parent) => {
      const folder = `${parent}/state`;
      await Deno.mkdir(folder, { mode: 0o700 });
      // Root may write whatever the mode says, but not on a disk that is mounted for reading.
      const mounted = Deno.uid() === 0 && await mount(folder, "ro,size=1m,mode=700");
      if (Deno.uid() === 0 && !mounted) return;
      if (!mounted) await Deno.chmod(folder, 0o500);
      try {
        const error = await refusalOf(openFolderStore({ folder, log: keptLog() }));
        assertEquals([error.code, error.data.reason], ["persistence_failed", "read_only"]);
        for (const part of [folder, "--state", "--memory"]) assertStringIncludes(error.message, part);
      } finally {
        if (mounted) await unmount(folder);
      }
    }),
});
