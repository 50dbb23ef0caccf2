import { assertEquals, assertRejects } from "@std/assert";
import { infoOf, keptLog, withFolder } from "./support.ts";
import { Blank } from "../../../src/host/store/blank.ts";
import { HostError } from "../../../src/host/errors.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { SESSION_SCHEMA } from "../../../src/host/store/session_schema.ts";
import type { Store } from "../../../src/host/store/contract.ts";

async function removes(store: Store): Promise<void> {
  for (const id of ["a", "b"]) await (await store.create(infoOf(id))).close();
  await store.remove("a");
  assertEquals([await store.get("a"), (await store.get("b"))?.sessionId], [undefined, "b"]);
  await store.close();
}

Deno.test("[H4] a removed Session is known to nobody from then on, without a list being made (memory)", () =>
  removes(new MemoryStore()));

Deno.test("[H4] a removed Session is known to nobody from then on, without a list being made (folder)", () =>
  withFolder(async (folder) => await removes(await openFolderStore({ folder, log: keptLog() }))));

Deno.test("[F4] what a killed process left of an upload, or of an Artifact without a row, is gone with the next hold", () =>
  withFolder(async (folder) => {
    const store = await openFolderStore({ folder, log: keptLog() });
    await (await store.create(infoOf("a"))).close();
    for (const name of ["begun.upload", "orphan.artifact"]) {
      await Deno.writeTextFile(`${folder}/sessions/a/${name}`, "bytes");
    }
    await (await store.hold("a")).close();
    const names = await Array.fromAsync(Deno.readDir(`${folder}/sessions/a`), ({ name }) => name);
    assertEquals(names.filter((name) => name.endsWith(".upload") || name.endsWith(".artifact")), []);
    await store.close();
  }));

Deno.test("[S8] a Session whose maker was killed is no Session, however far he came, and goes away in time", async (t) => {
  const blank = new Blank(SESSION_SCHEMA);
  const stages: readonly (readonly [how: string, make: (path: string) => void])[] = [
    ["an empty folder", () => {}],
    ["a file without its name", (path) => Deno.writeTextFileSync(`${path}/session.db.new`, "SQLite for")],
    ["tables with nothing in them, made by SQLite", (path) => blank.put(`${path}/session.db`)],
    ["tables with nothing in them, as bytes", (path) => blank.put(`${path}/session.db`)],
  ];
  for (const [how, make] of stages) {
    await t.step(how, () =>
      withFolder(async (folder) => {
        const log = keptLog();
        const store = await openFolderStore({ folder, log });
        const path = `${folder}/sessions/half`;
        await Deno.mkdir(path);
        make(path);
        await assertRejects(() => store.hold("half"), HostError, "half");
        assertEquals((await store.list({ limit: 10 })).sessions, []);
        await Deno.utime(path, 1, 1);
        await store.close();
        const later = await openFolderStore({ folder, log });
        assertEquals((await later.list({ limit: 10 })).sessions, []);
        assertEquals([await Array.fromAsync(Deno.readDir(`${folder}/sessions`)), log.warnings], [[], []]);
        await later.close();
      }));
  }
});
