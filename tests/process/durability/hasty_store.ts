import type { ArtifactFiles, SessionStore, Store } from "../../../src/host/store/contract.ts";
import { type Notice, type Point, pointsOf } from "./failing_store.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";

/**
 * The planted fault: a store that works in memory and acknowledges everything from there. Until the `nth` write at `point` all of it
 * reaches the disk; that write and those behind it never do.
 */
export function hastyStore(store: Store, point: Point, nth: number, notice: Notice): Store {
  const memory = new MemoryStore();
  let seen = 0;
  let lost = false;

  /** Whether a write still goes to the disk. */
  const keeps = (points: readonly Point[], writes: Parameters<Notice>[0]["writes"]): boolean => {
    if (lost || !points.includes(point) || ++seen < nth) return !lost;
    lost = true;
    notice({ point, writes });
    return false;
  };

  const both = (shown: SessionStore, kept: SessionStore | undefined): SessionStore => ({
    sessionId: shown.sessionId,
    load: () => shown.load(),
    async commit(batch) {
      await shown.commit(batch);
      if (keeps(pointsOf(batch), batch)) await kept?.commit(batch);
    },
    heads: (query) => shown.heads(query),
    body: (seq, offset, length) => shown.body(seq, offset, length),
    rows: (query) => shown.rows(query),
    turn: (turnId) => shown.turn(turnId),
    interaction: (interactionId) => shown.interaction(interactionId),
    change: (changeId) => shown.change(changeId),
    artifacts: artifacts(shown.artifacts, kept?.artifacts),
    async close() {
      await shown.close();
      await kept?.close();
    },
  });

  const artifacts = (shown: ArtifactFiles, kept: ArtifactFiles | undefined): ArtifactFiles => ({
    async begin(uploadId) {
      if (!lost) await kept?.begin(uploadId);
      return await shown.begin(uploadId);
    },
    async append(uploadId, bytes) {
      if (!lost) await kept?.append(uploadId, bytes);
      return await shown.append(uploadId, bytes);
    },
    peek: (uploadId, offset, length) => shown.peek(uploadId, offset, length),
    measure: (uploadId) => shown.measure(uploadId),
    async seal(uploadId, artifactId) {
      await shown.seal(uploadId, artifactId);
      if (keeps(["seal"], [])) await kept?.seal(uploadId, artifactId);
    },
    read: (artifactId, offset, length) => shown.read(artifactId, offset, length),
    async remove(id) {
      await shown.remove(id);
      if (!lost) await kept?.remove(id);
    },
    list: () => shown.list(),
  });

  return {
    storeId: store.storeId,
    list: (query) => memory.list(query),
    get: (sessionId) => memory.get(sessionId),
    keptAs: (engineId) => memory.keptAs(engineId),
    create: async (info, first) =>
      both(
        await memory.create(info, first),
        keeps(["create"], []) ? await store.create(info, first) : undefined,
      ),
    hold: async (sessionId) =>
      both(await memory.hold(sessionId), lost ? undefined : await store.hold(sessionId)),
    async remove(sessionId) {
      await memory.remove(sessionId);
      if (keeps(["remove"], [])) await store.remove(sessionId);
    },
    close: () => store.close(),
  };
}
