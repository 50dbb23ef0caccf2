import type { ArtifactFiles, SessionStore, Store, Write } from "../../../src/host/store/contract.ts";

/** Where the process stands still: `before` a write, or `after` it and before anyone learns of it. */
export type Moment = "before" | "after";

/** A write: an operation of a commit (`admitted` and `ended` tell its turns apart), or one of the store itself. */
export type Point = Write["op"] | "admitted" | "ended" | "create" | "remove" | "seal";

/** Gets told when a failpoint is reached. */
export type Notice = (what: { readonly point: Point; readonly writes: readonly Write[] }) => void;

/** Runs one write, or does something else instead. */
export type Gate = <T>(
  points: readonly Point[],
  writes: readonly Write[],
  write: () => Promise<T>,
) => Promise<T>;

/** A gate that lets everything pass until the `nth` write at `point`, and nothing from then on. */
export function stopAt(point: Point, moment: Moment, nth: number, notice: Notice): Gate {
  let seen = 0;
  let stopped = false;
  return async (points, writes, write) => {
    if (!stopped && (!points.includes(point) || ++seen < nth)) return await write();
    const first = !stopped;
    stopped = true;
    if (first && moment === "after") await write();
    if (first) notice({ point, writes });
    return await new Promise<never>(() => {});
  };
}

/** A store whose writes go through a gate. */
export function gatedStore(store: Store, gate: Gate): Store {
  return {
    storeId: store.storeId,
    ...(store.folder === undefined ? {} : { folder: store.folder }),
    list: (query) => store.list(query),
    get: (sessionId) => store.get(sessionId),
    keptAs: (engineId) => store.keptAs(engineId),
    create: async (info, first) =>
      gatedSession(await gate(["create"], first ?? [], () => store.create(info, first)), gate),
    hold: async (sessionId) => gatedSession(await store.hold(sessionId), gate),
    remove: (sessionId) => gate(["remove"], [], () => store.remove(sessionId)),
    close: () => store.close(),
  };
}

function gatedSession(session: SessionStore, gate: Gate): SessionStore {
  const { artifacts } = session;
  return {
    sessionId: session.sessionId,
    load: () => session.load(),
    commit: (batch) => gate(pointsOf(batch), batch, () => session.commit(batch)),
    heads: (query) => session.heads(query),
    body: (seq, offset, length) => session.body(seq, offset, length),
    rows: (query) => session.rows(query),
    turn: (turnId) => session.turn(turnId),
    interaction: (interactionId) => session.interaction(interactionId),
    change: (changeId) => session.change(changeId),
    artifacts: gatedArtifacts(artifacts, gate),
    close: () => session.close(),
  };
}

function gatedArtifacts(artifacts: ArtifactFiles, gate: Gate): ArtifactFiles {
  return {
    begin: (uploadId) => artifacts.begin(uploadId),
    append: (uploadId, bytes) => artifacts.append(uploadId, bytes),
    peek: (uploadId, offset, length) => artifacts.peek(uploadId, offset, length),
    measure: (uploadId) => artifacts.measure(uploadId),
    seal: (uploadId, artifactId) => gate(["seal"], [], () => artifacts.seal(uploadId, artifactId)),
    read: (artifactId, offset, length) => artifacts.read(artifactId, offset, length),
    remove: (id) => artifacts.remove(id),
    list: () => artifacts.list(),
  };
}

/** What a commit writes. */
export function pointsOf(batch: readonly Write[]): readonly Point[] {
  return batch.flatMap((write): readonly Point[] => {
    if (write.op !== "turn") return [write.op];
    return write.turn.state === "tombstone" ? ["turn"] : ["turn", write.turn.state];
  });
}
