import { assertEquals, assertRejects } from "@std/assert";
import { Blank } from "../../../src/host/store/blank.ts";
import { FolderArtifacts } from "../../../src/host/store/folder_artifacts.ts";
import { FolderSession } from "../../../src/host/store/folder_session.ts";
import { HostError } from "../../../src/host/errors.ts";
import { SessionDb } from "../../../src/host/store/session_db.ts";
import { SessionLock } from "../../../src/host/store/session_lock.ts";
import { SESSION_SCHEMA } from "../../../src/host/store/session_schema.ts";
import { infoOf, withFolder } from "./support.ts";

/** A disk whose syncs end when they are told to. */
class SlowDisk {
  readonly syncs: PromiseWithResolvers<void>[] = [];

  sync(): Promise<void> {
    const sync = Promise.withResolvers<void>();
    this.syncs.push(sync);
    return sync.promise;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A Session on a slow disk, and what its commits came to, in the order in which that was known. */
async function withSession(
  work: (session: FolderSession, disk: SlowDisk, told: string[]) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const place = { folder, sessionId: "a", path: `${folder}/a` };
    await Deno.mkdir(place.path);
    const db = SessionDb.create(place, new Blank(SESSION_SCHEMA), infoOf("a"));
    const disk = new SlowDisk();
    const told: string[] = [];
    const session = new FolderSession({
      place,
      db,
      ahead: disk,
      lock: SessionLock.take(place),
      artifacts: new FolderArtifacts(place, () => db.artifacts(), () => {}),
      listed: () => {},
      committing: (stage) => told.push(stage),
      released: () => told.push("released"),
    });
    await work(session, disk, told);
  });
}

function commit(session: FolderSession, told: string[], changeId: string): Promise<void> {
  return session.commit([{ op: "change", changeId, revision: 1 }]).then(
    () => void told.push(`${changeId} kept`),
    (error) => void told.push(`${changeId} ${error.code}`),
  );
}

Deno.test("[S8] [durability] nobody knows of a commit before the disk has it; readers do, and the order stays", () =>
  withSession(async (session, disk, told) => {
    const first = commit(session, told, "first");
    assertEquals(await session.change("first"), 1);
    const second = commit(session, told, "second");
    assertEquals([await session.change("second"), disk.syncs.length], [1, 2]);
    assertEquals(told, ["begun", "begun"]);
    disk.syncs[1]!.resolve();
    await disk.syncs[1]!.promise;
    assertEquals(told, ["begun", "begun"], "the second waits for the first");
    disk.syncs[0]!.resolve();
    await Promise.all([first, second]);
    assertEquals(told, ["begun", "begun", "done", "first kept", "done", "second kept"]);
    await session.close();
  }));

Deno.test("[S8] [durability] after a sync that failed nothing is taken any more, and what is there can be read", () =>
  withSession(async (session, disk, told) => {
    const lost = commit(session, told, "lost");
    await session.change("lost");
    disk.syncs[0]!.reject(new Error("EIO"));
    await lost;
    await commit(session, told, "later");
    assertEquals(told, ["begun", "lost persistence_failed", "later persistence_failed"]);
    assertEquals((await session.load()).info.sessionId, "a");
    await assertRejects(() => session.commit([]), HostError, "a");
    await session.close();
    assertEquals(told.at(-1), "released");
  }));

Deno.test("[S8] [durability] a close waits until the disk has what was written", () =>
  withSession(async (session, disk, told) => {
    const last = commit(session, told, "last");
    const closed = session.close();
    assertEquals(disk.syncs.length, 1);
    disk.syncs[0]!.resolve();
    await Promise.all([last, closed]);
    assertEquals(told, ["begun", "done", "last kept", "released"]);
  }));
