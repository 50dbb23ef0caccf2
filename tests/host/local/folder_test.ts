import { assertEquals, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { HostError } from "../../../src/host/errors.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { digestOf } from "../../../src/model/digest.ts";
import { gate } from "./faulty_store.ts";
import {
  done,
  ended,
  keptLog,
  NO_SERVICES,
  opened,
  type Script,
  started,
  until,
  type World,
  worldOf,
} from "./world.ts";

/** Worlds over one state folder, each as good as a process of its own. */
async function inFolder(act: (world: (script: Script) => World) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await act((script) => worldOf(script, { open: () => openFolderStore({ folder, log: keptLog([]) }) }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const nothing = () => Promise.resolve();

Deno.test("[H3] in a folder: a Session is whole in the next process, what was interrupted included", async () => {
  await inFolder(async (world) => {
    const text = "Zeile \u{1f600}\n".repeat(5000);
    const bytes = new TextEncoder().encode("bytes");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const key = { sessionId: "s1", uploadId: "u1" };
    {
      const spoke = gate();
      await using first = world(async (turn, sink) => {
        await sink.message(`m-${turn.turnId}`, "text", text);
        if (turn.turnId === "t1") return;
        spoke.open();
        await new Promise(() => {});
      });
      const connection = first.host.connect("c1");
      const subscription = await opened(connection);
      await connection.artifacts.begin({ ...key, name: "b", mimeType: "x/y" });
      await connection.artifacts.append({ ...key, offset: 0, bytes });
      const artifact = await connection.artifacts.commit({ ...key, size: 5, sha256 });
      const input = { parts: [{ kind: "image", mimeType: "x/y", artifact } as const] };
      done(await connection.turns.start({ sessionId: "s1", turnId: "t1", input }));
      await until(subscription, ended);
      await started(connection, "t2");
      await spoke.promise;
    }
    await using second = world(nothing);
    const connection = second.host.connect("c2");
    const subscription = await connection.sessions.open("s1", NO_SERVICES);
    const { rows } = await subscription.read({ after: 0, maxLength: 1_000_000 });
    assertEquals(rows.map((row) => row.kind), ["user", "text", "end", "user", "text", "end"]);
    for (const row of rows) {
      assertEquals([row.complete, row.length, row.sha256], [
        true,
        row.body?.text.length,
        digestOf(row.body?.text ?? ""),
      ]);
    }
    assertEquals([rows[1]?.body?.text, rows[4]?.body?.text], [text, text]);
    const states = await Promise.all(
      ["t1", "t2"].map((turnId) => connection.turns.query({ sessionId: "s1", turnId, settle: true })),
    );
    assertEquals(states.map((state) => state.kind === "ended" && state.end.how), [
      "completed",
      "interrupted",
    ]);
    const [artifact] = await connection.artifacts.list("s1");
    const read = { sessionId: "s1", artifactId: artifact?.artifactId ?? "", offset: 0, length: 9 };
    assertEquals(await connection.artifacts.read(read), bytes);
    await started(connection, "t3");
    await until(subscription, ended);
  });
});

Deno.test("[S8] two processes on one folder each list all and hold their own; a held Session is busy until it is let go", async () => {
  await inFolder(async (world) => {
    await using one = world(nothing);
    await using two = world(nothing);
    const [here, there] = [one.host.connect("c1"), two.host.connect("c2")];
    await opened(here);
    await opened(there, "s2");
    for (const host of [here, there]) {
      assertEquals((await host.sessions.list({})).sessions.map((each) => each.sessionId).toSorted(), [
        "s1",
        "s2",
      ]);
    }
    const busy = await assertRejects(() => there.sessions.open("s1", NO_SERVICES), HostError);
    assertEquals([busy.code, typeof busy.data.pid], ["busy", "number"]);
    await here.sessions.release("s1");
    await there.sessions.open("s1", NO_SERVICES);
    assertEquals((await assertRejects(() => here.sessions.open("s1", NO_SERVICES), HostError)).code, "busy");
    await there.sessions.remove("s1");
    assertEquals((await here.sessions.list({})).sessions.map((each) => each.sessionId), ["s2"]);
  });
});
