import { assertEquals, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { HostError } from "../../../src/host/errors.ts";
import type { RuntimeHost } from "../../../src/host/contract.ts";
import type { ArtifactReference } from "../../../src/model/artifact.ts";
import { LIMITS } from "../../../src/limits.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { diskFull, FaultyStore, unclosed } from "./faulty_store.ts";
import { done, ended, NO_SERVICES, opened, until, worldOf } from "./world.ts";

const nothing = () => Promise.resolve();
const BYTES = new TextEncoder().encode("hello artifact");
const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const DIGEST = sha256Of(BYTES);
const KEY = { sessionId: "s1", uploadId: "u1" };

async function uploaded(host: RuntimeHost, key = KEY): Promise<ArtifactReference> {
  await host.artifacts.begin({ ...key, name: "a.txt", mimeType: "text/plain" });
  await host.artifacts.append({ ...key, offset: 0, bytes: BYTES });
  return await host.artifacts.commit({ ...key, size: BYTES.length, sha256: DIGEST });
}

async function startedWith(host: RuntimeHost, turnId: string, artifact: ArtifactReference) {
  return await host.turns.start({
    sessionId: "s1",
    turnId,
    input: { parts: [{ kind: "link", uri: "file:///a.txt", name: "a.txt", artifact }] },
  });
}

Deno.test("[F3] an upload in parts, each of them repeated, becomes one Artifact", async () => {
  await using world = worldOf(nothing);
  const host = world.host.connect("c1");
  await opened(host);
  const begin = () => host.artifacts.begin({ ...KEY, name: "a.txt", mimeType: "text/plain" });
  const append = (from: number, to: number) =>
    host.artifacts.append({ ...KEY, offset: from, bytes: BYTES.slice(from, to) });
  await begin();
  await begin();
  await append(0, 5);
  await append(0, 5);
  await append(3, 9);
  await append(0, 2);
  await append(9, 14);
  const commit = () => host.artifacts.commit({ ...KEY, size: 14, sha256: DIGEST });
  const artifact = await commit();
  assertEquals({ ...artifact, artifactId: "" }, {
    artifactId: "",
    name: "a.txt",
    mimeType: "text/plain",
    size: 14,
    sha256: DIGEST,
  });
  assertEquals(await commit(), artifact);
  await begin();
  assertEquals(await host.artifacts.list("s1"), [artifact]);
  const read = (offset: number, length: number) =>
    host.artifacts.read({ sessionId: "s1", artifactId: artifact.artifactId, offset, length });
  assertEquals(await read(0, 100), BYTES);
  assertEquals(await read(6, 3), BYTES.slice(6, 9));
  assertEquals(await read(14, 5), new Uint8Array());
});

const CONFLICTS: readonly [string, (host: RuntimeHost) => Promise<unknown>, string][] = [
  ["another name", (host) => host.artifacts.begin({ ...KEY, name: "b", mimeType: "text/plain" }), "conflict"],
  ["another type", (host) => host.artifacts.begin({ ...KEY, name: "a.txt", mimeType: "x/y" }), "conflict"],
  ["a gap", (host) => host.artifacts.append({ ...KEY, offset: 6, bytes: BYTES }), "conflict"],
  ["a negative offset", (host) => host.artifacts.append({ ...KEY, offset: -1, bytes: BYTES }), "conflict"],
  [
    "other bytes",
    (host) => host.artifacts.append({ ...KEY, offset: 0, bytes: new Uint8Array(3) }),
    "conflict",
  ],
  [
    "another size",
    (host) => host.artifacts.commit({ ...KEY, size: 4, sha256: sha256Of(BYTES.slice(0, 5)) }),
    "conflict",
  ],
  [
    "another digest",
    (host) => host.artifacts.commit({ ...KEY, size: 5, sha256: "0".repeat(64) }),
    "conflict",
  ],
  [
    "no such upload",
    (host) => host.artifacts.append({ ...KEY, uploadId: "u2", offset: 0, bytes: BYTES }),
    "not_found",
  ],
  [
    "a part that is too large",
    (host) => host.artifacts.append({ ...KEY, offset: 5, bytes: new Uint8Array(LIMITS.appendBytes + 1) }),
    "capacity",
  ],
  [
    "more than the cap",
    (host) => host.artifacts.append({ ...KEY, offset: 5, bytes: new Uint8Array(16) }),
    "capacity",
  ],
  ["somebody else's upload", async (host) => {
    await host.artifacts.begin({ ...KEY, uploadId: "u9", name: "a.txt", mimeType: "text/plain" });
  }, "conflict"],
];
for (const [what, act, code] of CONFLICTS) {
  Deno.test(`[F3] [F5] an upload refuses ${what}, and goes on`, async () => {
    await using world = worldOf(nothing, { limits: { artifactBytes: 20 } });
    const host = world.host.connect("c1");
    await opened(host);
    await world.host.connect("c2").artifacts.begin({
      ...KEY,
      uploadId: "u9",
      name: "a.txt",
      mimeType: "text/plain",
    });
    await host.artifacts.begin({ ...KEY, name: "a.txt", mimeType: "text/plain" });
    await host.artifacts.append({ ...KEY, offset: 0, bytes: BYTES.slice(0, 5) });
    assertEquals((await assertRejects(() => act(host), HostError)).code, code);
    await host.artifacts.append({ ...KEY, offset: 5, bytes: BYTES.slice(5) });
    await host.artifacts.commit({ ...KEY, size: 14, sha256: DIGEST });
    const late = () => host.artifacts.append({ ...KEY, offset: 14, bytes: BYTES.slice(0, 1) });
    assertEquals((await assertRejects(late, HostError)).code, "conflict");
  });
}

Deno.test("[F3] a commit is durable before its reply, and only then known", async () => {
  const store = new FaultyStore();
  await using world = worldOf(nothing, { store });
  const host = world.host.connect("c1");
  await opened(host);
  store.onCommit = () => Promise.reject(diskFull());
  assertEquals((await assertRejects(() => uploaded(host), HostError)).code, "persistence_failed");
  assertEquals(await host.artifacts.list("s1"), []);
  store.onCommit = () => {};
  const artifact = await uploaded(host);
  assertEquals(store.batches.flat(), [{ op: "artifact", artifact }]);
});

Deno.test("[F3] [F4] a Turn pins its Artifacts: they stay when the connection aborts or goes; the others are freed", async () => {
  const store = new MemoryStore();
  await using world = worldOf(nothing, { store });
  const host = world.host.connect("c1");
  const other = world.host.connect("c2");
  const subscription = await other.sessions.open((await opened(host)) && "s1", NO_SERVICES);
  const used = await uploaded(host);
  await uploaded(host, { ...KEY, uploadId: "u2" });
  await host.artifacts.begin({ ...KEY, uploadId: "u3", name: "c", mimeType: "x/y" });
  const theirs = await uploaded(other, { ...KEY, uploadId: "u4" });
  done(await startedWith(host, "t1", used));
  await until(subscription, ended);
  await host.artifacts.abort(KEY);
  await host.artifacts.abort({ ...KEY, uploadId: used.artifactId });
  assertEquals((await other.artifacts.list("s1")).length, 3);
  await host.close();
  assertEquals(await other.artifacts.list("s1"), [used, theirs]);
  const bytes = await other.artifacts.read({
    sessionId: "s1",
    artifactId: used.artifactId,
    offset: 0,
    length: 99,
  });
  assertEquals(bytes, BYTES);
  // A later Turn may use it again.
  done(await startedWith(other, "t2", used));
  await until(subscription, ended);
});

Deno.test("[F4] abort frees an upload and an unused Artifact, and is silent for what is not there", async () => {
  await using world = worldOf(nothing);
  const host = world.host.connect("c1");
  await opened(host);
  await host.artifacts.abort(KEY);
  const artifact = await uploaded(host);
  await host.artifacts.abort(KEY);
  await host.artifacts.abort(KEY);
  assertEquals(await host.artifacts.list("s1"), []);
  const read = () =>
    host.artifacts.read({ sessionId: "s1", artifactId: artifact.artifactId, offset: 0, length: 1 });
  assertEquals((await assertRejects(read, HostError)).code, "not_found");
  const start = await startedWith(host, "t1", artifact);
  assertEquals(start.kind === "answered" && start.error.code, "not_found");
  assertEquals((await host.turns.query({ sessionId: "s1", turnId: "t1", settle: false })).kind, "not_found");
});

Deno.test("[F3] every read and every start checks whose Artifact it is", async () => {
  await using world = worldOf(nothing);
  const host = world.host.connect("c1");
  await opened(host);
  await opened(host, "s2");
  const artifact = await uploaded(host, { ...KEY, sessionId: "s2" });
  const { artifactId } = artifact;
  const read = (offset: number, length: number, sessionId = "s2") =>
    host.artifacts.read({ sessionId, artifactId, offset, length });
  assertEquals((await assertRejects(() => read(0, 1, "s1"), HostError)).code, "not_found");
  for (const [offset, length] of [[-1, 1], [0, -1], [0.5, 1], [0, NaN]] as const) {
    assertEquals((await assertRejects(() => read(offset, length), HostError)).code, "invalid");
  }
  const start = await startedWith(host, "t1", artifact);
  assertEquals(start.kind === "answered" && start.error.code, "not_found");
  const changed = await host.turns.start({
    sessionId: "s2",
    turnId: "t1",
    input: { parts: [{ kind: "image", mimeType: "x/y", artifact: { ...artifact, sha256: "0" } }] },
  });
  assertEquals(changed.kind === "answered" && changed.error.code, "not_found");
});

Deno.test("[F4] what an earlier process committed and no Turn used is freed", async () => {
  const store = new MemoryStore();
  {
    await using world = worldOf(nothing, { store: unclosed(store) });
    const host = world.host.connect("c1");
    await opened(host);
    await uploaded(host);
    // The process ends without the connection's end: the Host closes first.
    await world.host.close();
  }
  const faulty = new FaultyStore(store);
  await using world = worldOf(nothing, { store: faulty });
  const host = world.host.connect("c1");
  assertEquals(await host.artifacts.list("s1"), []);
  assertEquals(faulty.batches.flat().map((write) => write.op), ["artifact_removed"]);
});

Deno.test("[F3] an Engine reads the Artifacts of its own Session", async () => {
  let read: Uint8Array | undefined;
  let fault = "";
  await using world = worldOf(async (turn) => {
    const [part] = turn.input.parts;
    const artifact = part?.kind === "link" ? part.artifact : undefined;
    const [context] = world.engine.contexts;
    if (artifact === undefined) throw new Error("There is no Artifact");
    read = await context?.readArtifact(artifact, 6, 100);
    await context?.readArtifact({ ...artifact, artifactId: "other" }, 0, 1).catch((error) =>
      fault = error.code
    );
  });
  const host = world.host.connect("c1");
  const subscription = await opened(host);
  done(await startedWith(host, "t1", await uploaded(host)));
  await until(subscription, ended);
  assertEquals([read, fault], [BYTES.slice(6), "not_found"]);
});

Deno.test("[F3] what a Turn has used is there in the next process, and for its Turns", async () => {
  const store = new MemoryStore();
  let artifact: ArtifactReference;
  {
    await using world = worldOf(nothing, { store: unclosed(store) });
    const host = world.host.connect("c1");
    const subscription = await opened(host);
    artifact = await uploaded(host);
    done(await startedWith(host, "t1", artifact));
    await until(subscription, ended);
    await world.host.close();
  }
  await using world = worldOf(nothing, { store });
  const host = world.host.connect("c1");
  const subscription = await host.sessions.open("s1", NO_SERVICES);
  assertEquals(await host.artifacts.list("s1"), [artifact]);
  done(await startedWith(host, "t2", artifact));
  await until(subscription, ended);
});

Deno.test("[F5] a part is at most as long as an append, however much the whole may be", async () => {
  await using world = worldOf(nothing);
  const host = world.host.connect("c1");
  await opened(host);
  await host.artifacts.begin({ ...KEY, name: "a.txt", mimeType: "text/plain" });
  const append = (length: number) =>
    host.artifacts.append({ ...KEY, offset: 0, bytes: new Uint8Array(length) });
  const tooLong = await assertRejects(() => append(LIMITS.appendBytes + 1), HostError);
  assertEquals(tooLong.code, "capacity");
  await append(LIMITS.appendBytes);
});
