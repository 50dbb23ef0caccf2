import { assertEquals } from "@std/assert";
import { infoOf, keptLog, withFolder } from "./support.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
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
