import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import type { ArtifactReference } from "../../src/model/artifact.ts";
import { createHash } from "node:crypto";
import type { HostArtifacts, UploadKey } from "../../src/host/contract.ts";
import { HostError } from "../../src/host/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import { Place } from "./place.ts";
import { ResourceError } from "../../src/session/ports.ts";
import { ScopedFiles, upload } from "../../src/resource/mod.ts";
import { setImmediate } from "node:timers";

const KEY = { sessionId: "s", uploadId: "u" };
const PART = LIMITS.appendBytes;

/** What a scripted Host does with one operation. `lost` does it and loses the reply; `hang` never answers. */
type Deed = "do" | "lost" | "unsent" | "refuse" | "hang";

/** Artifacts whose every operation follows a script and is written down. What the script does not name is done. */
class ScriptedArtifacts implements HostArtifacts {
  readonly operations: string[] = [];
  readonly #script: (operation: string, count: number) => Deed | undefined;
  readonly #counts = new Map<string, number>();
  readonly #waiting: ((operation: string) => void)[] = [];
  #parts: Uint8Array[] = [];

  constructor(script: (operation: string, count: number) => Deed | undefined = () => undefined) {
    this.#script = script;
  }

  /** What was appended, in order. */
  content(): Promise<ArrayBuffer> {
    return new Blob(this.#parts as BlobPart[]).arrayBuffer();
  }

  /** Resolves when the next operation arrives. */
  arrival(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  begin(request: UploadKey & { name: string; mimeType: string }): Promise<void> {
    return this.#run("begin", `begin ${request.name} ${request.mimeType}`, request, () => {});
  }

  append(request: UploadKey & { offset: number; bytes: Uint8Array }): Promise<void> {
    const { offset, bytes } = request;
    return this.#run("append", `append ${offset}+${bytes.length}`, request, () => {
      if (offset === this.#parts.reduce((size, part) => size + part.length, 0)) this.#parts.push(bytes);
    });
  }

  commit(request: UploadKey & { size: number; sha256: string }): Promise<ArtifactReference> {
    const { size, sha256 } = request;
    const reference = { artifactId: "canonical", name: "of the Host", mimeType: "x/y", size, sha256 };
    return this.#run("commit", `commit ${size} ${sha256.slice(0, 8)}`, request, () => reference);
  }

  abort(request: UploadKey): Promise<void> {
    return this.#run("abort", "abort", request, () => {
      this.#parts = [];
    });
  }

  read(): Promise<Uint8Array> {
    return Promise.reject(new Error("An upload reads nothing"));
  }

  list(): Promise<readonly ArtifactReference[]> {
    return Promise.reject(new Error("An upload lists nothing"));
  }

  async #run<T>(operation: string, text: string, key: UploadKey, act: () => T): Promise<T> {
    assertEquals([key.sessionId, key.uploadId], [KEY.sessionId, KEY.uploadId]);
    this.operations.push(text);
    this.#waiting.shift()?.(text);
    const count = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, count);
    const deed = this.#script(operation, count) ?? "do";
    await Promise.resolve();
    switch (deed) {
      case "do":
        return act();
      case "lost":
        act();
        throw new HostError("unavailable", "The reply was lost", { dispatch: "unknown" });
      case "unsent":
        throw new HostError("unavailable", "The Host is away", { dispatch: "not_sent" });
      case "refuse":
        throw new HostError("persistence_failed", "The disk is full");
      case "hang":
        return await new Promise<never>(() => {});
    }
  }
}

function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, index) => index * 31 + (index >> 9));
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function source(bytes: AsyncIterable<Uint8Array> | Uint8Array) {
  return { name: "a.txt", mimeType: "text/plain", bytes };
}

const never = () => new AbortController().signal;
const THREE = bytesOf(2 * PART + 9);
const COMMIT = `commit ${THREE.length} ${sha256Of(THREE).slice(0, 8)}`;
const BEGIN = "begin a.txt text/plain";
const APPENDS = [`append 0+${PART}`, `append ${PART}+${PART}`, `append ${2 * PART}+9`];

Deno.test("[F3] [F7] bytes go in parts, with size and digest, and the Host's own reference comes back", async () => {
  const artifacts = new ScriptedArtifacts();
  const reference = await upload(artifacts, KEY, source(THREE), never());
  assertEquals(artifacts.operations, [BEGIN, ...APPENDS, COMMIT]);
  assertEquals(new Uint8Array(await artifacts.content()), THREE);
  assertEquals(reference, {
    artifactId: "canonical",
    name: "of the Host",
    mimeType: "x/y",
    size: THREE.length,
    sha256: sha256Of(THREE),
  });
});

Deno.test("[F3] a linked file is uploaded as it is on the disk", async () => {
  await using place = await Place.make();
  await Deno.writeFile(`${place.ok}/a.txt`, THREE);
  const link = await new ScopedFiles({ denials: [] }).link(`file://${place.ok}/a.txt`, [place.ok], {
    directories: false,
  });
  if (link.kind !== "file") throw new Error("No file");
  const { file } = link;
  const artifacts = new ScriptedArtifacts();
  await upload(artifacts, KEY, { name: file.name, mimeType: file.mimeType, bytes: file.bytes() }, never());
  file.close();
  assertEquals(artifacts.operations, [BEGIN, ...APPENDS, COMMIT]);
});

Deno.test("[F3] parts of a source are cut to the size of an append, and nothing at all is a file too", async () => {
  const table: readonly (readonly [readonly number[], readonly string[]])[] = [
    [[], []],
    [[0], []],
    [[5, 0, 7], ["append 0+5", "append 5+7"]],
    [[PART + 1, 3], [`append 0+${PART}`, `append ${PART}+1`, `append ${PART + 1}+3`]],
  ];
  for (const [sizes, appends] of table) {
    const artifacts = new ScriptedArtifacts();
    const parts = sizes.map(bytesOf);
    const { size } = await upload(
      artifacts,
      KEY,
      source((async function* () {
        yield* parts;
      })()),
      never(),
    );
    assertEquals(artifacts.operations.slice(1, -1), appends);
    assertEquals(size, sizes.reduce((sum, part) => sum + part, 0));
  }
});

Deno.test("[F3] an operation whose reply was lost is repeated by its key until it is answered", async () => {
  const whole = [BEGIN, ...APPENDS, COMMIT];
  for (const [position, operation] of [[0, "begin"], [1, "append"], [4, "commit"]] as const) {
    for (const deed of ["lost", "unsent"] as const) {
      const artifacts = new ScriptedArtifacts((name, count) =>
        name === operation && count <= 2 ? deed : "do"
      );
      const pauses: number[] = [];
      const clock = { sleep: (ms: number) => Promise.resolve(void pauses.push(ms)) };
      const reference = await upload(artifacts, KEY, source(THREE), never(), clock);
      const again = whole[position]!;
      assertEquals(artifacts.operations, whole.toSpliced(position, 0, again, again), `${operation} ${deed}`);
      assertEquals(pauses, [20, 40]);
      assertEquals(reference.sha256, sha256Of(THREE));
      assertEquals(new Uint8Array(await artifacts.content()), THREE);
    }
  }
});

Deno.test("[F3] a Host that never answers ends the upload after five tries, and what was staged is aborted", async () => {
  for (const operation of ["begin", "append", "commit"]) {
    const artifacts = new ScriptedArtifacts((name) => name === operation ? "lost" : "do");
    const error = await assertRejects(() => upload(artifacts, KEY, source(THREE), never()), HostError);
    assertEquals([error.code, error.dispatch], ["unavailable", "unknown"]);
    const tries = artifacts.operations.filter((text) => text.startsWith(operation));
    assertEquals([tries.length, new Set(tries).size], [5, 1], operation);
    assertEquals(artifacts.operations.indexOf("abort"), artifacts.operations.length - 1);
  }
});

Deno.test("[F3] a refusal is not repeated; an abort whose reply was lost is", async () => {
  const artifacts = new ScriptedArtifacts((name, count) =>
    name === "append" && count === 2 ? "refuse" : name === "abort" && count === 1 ? "lost" : "do"
  );
  const error = await assertRejects(() => upload(artifacts, KEY, source(THREE), never()), HostError);
  assertEquals(error.code, "persistence_failed");
  assertEquals(artifacts.operations, [BEGIN, APPENDS[0], APPENDS[1], "abort", "abort"]);
});

Deno.test("[F4] a source that fails aborts what was staged, with its own reason", async () => {
  const artifacts = new ScriptedArtifacts();
  const reason = new ResourceError("changed", "It changed");
  const error = await assertRejects(() =>
    upload(
      artifacts,
      KEY,
      source((async function* () {
        yield bytesOf(3);
        throw reason;
      })()),
      never(),
    )
  );
  assertEquals(error, reason);
  assertEquals(artifacts.operations, [BEGIN, "append 0+3", "abort"]);
});

Deno.test("[F4] a cancel aborts the staged bytes at once, whatever the Host is at, and nothing follows", async () => {
  const table = [
    ["begin", 1, [BEGIN]],
    ["append", 1, [BEGIN, APPENDS[0]]],
    ["append", 3, [BEGIN, ...APPENDS]],
    ["commit", 1, [BEGIN, ...APPENDS, COMMIT]],
  ] as const;
  for (const [operation, at, before] of table) {
    for (const abort of ["do", "hang"] as const) {
      const cancel = new AbortController();
      const artifacts = new ScriptedArtifacts((name, count) =>
        name === "abort" ? abort : name === operation && count === at ? "hang" : "do"
      );
      const uploading = assertRejects(() => upload(artifacts, KEY, source(THREE), cancel.signal));
      while (artifacts.operations.length < before.length) await artifacts.arrival();
      cancel.abort(new Error("Cancelled"));
      assertEquals(await uploading, cancel.signal.reason);
      assertEquals(artifacts.operations, [...before, "abort"], `${operation} ${at}`);
    }
  }
});

Deno.test("[F4] a cancel does not wait for a source that is stuck", async () => {
  const cancel = new AbortController();
  const artifacts = new ScriptedArtifacts();
  const started = Promise.withResolvers<void>();
  const stuck = Promise.withResolvers<Uint8Array>();
  let released = false;
  const bytes = (async function* () {
    started.resolve();
    try {
      yield await stuck.promise;
    } finally {
      released = true;
    }
  })();
  const uploading = assertRejects(() => upload(artifacts, KEY, source(bytes), cancel.signal));
  await started.promise;
  cancel.abort(new Error("Cancelled"));
  assertEquals(await uploading, cancel.signal.reason);
  assertEquals(artifacts.operations, [BEGIN, "abort"]);
  stuck.resolve(bytesOf(3));
  await bytes.return(undefined);
  assertEquals([released, artifacts.operations.length], [true, 2]);
});

Deno.test("[F4] an upload that is cancelled before it begins asks the Host for nothing", async () => {
  const artifacts = new ScriptedArtifacts();
  const signal = AbortSignal.abort(new Error("Cancelled"));
  assertEquals(await assertRejects(() => upload(artifacts, KEY, source(THREE), signal)), signal.reason);
  assertEquals(artifacts.operations, []);
});

Deno.test("[F4] after a cancel between two operations the next one is not sent", async () => {
  const cancel = new AbortController();
  const artifacts = new ScriptedArtifacts();
  const bytes = (async function* () {
    yield bytesOf(3);
    cancel.abort(new Error("Cancelled"));
    yield bytesOf(4);
  })();
  assertEquals(
    await assertRejects(() => upload(artifacts, KEY, source(bytes), cancel.signal)),
    cancel.signal.reason,
  );
  assertEquals(artifacts.operations, [BEGIN, "append 0+3", "abort"]);
});

Deno.test("[F4] a cancel that comes while an upload gets ready keeps it from beginning", async () => {
  const cancel = new AbortController();
  const artifacts = new ScriptedArtifacts();
  const uploading = assertRejects(() => upload(artifacts, KEY, source(THREE), cancel.signal));
  cancel.abort(new Error("Cancelled"));
  assertEquals(await uploading, cancel.signal.reason);
  assertEquals(artifacts.operations.includes(BEGIN), false);
});

Deno.test("[F4] a cancel ends the wait for a Host that hangs while it aborts after a failure", async () => {
  const cancel = new AbortController();
  const artifacts = new ScriptedArtifacts((name) =>
    name === "append" ? "refuse" : name === "abort" ? "hang" : "do"
  );
  const uploading = assertRejects(() => upload(artifacts, KEY, source(THREE), cancel.signal), HostError);
  while (artifacts.operations.at(-1) !== "abort") await artifacts.arrival();
  cancel.abort();
  assertEquals((await uploading).code, "persistence_failed");
});

Deno.test("[F5] more bytes than the cap end the upload, whatever the source promised", async () => {
  const artifacts = new ScriptedArtifacts();
  const part = new Uint8Array(PART);
  const endless = (async function* () {
    for (;;) yield part;
  })();
  const error = await assertRejects(() => upload(artifacts, KEY, source(endless), never()), HostError);
  assertEquals(error.code, "capacity");
  assertEquals(artifacts.operations.length, 1 + LIMITS.artifactBytes / PART + 1);
  assertEquals(artifacts.operations.at(-1), "abort");
});

Deno.test("[F3] a Host that kept other bytes than were sent is a fault, and they are dropped", async () => {
  const artifacts = new ScriptedArtifacts();
  const commit = artifacts.commit.bind(artifacts);
  for (const wrong of [{ size: 1 }, { sha256: "0".repeat(64) }]) {
    artifacts.commit = async (request) => ({ ...await commit(request), ...wrong });
    const error = await assertRejects(() => upload(artifacts, KEY, source(THREE), never()), HostError);
    assertEquals([error.code, artifacts.operations.at(-1)], ["internal", "abort"]);
  }
});

Deno.test("[F4] a source is released when the upload ends early", async () => {
  const released = Promise.withResolvers<void>();
  const bytes = (async function* () {
    try {
      for (;;) yield bytesOf(3);
    } finally {
      released.resolve();
    }
  })();
  const artifacts = new ScriptedArtifacts((name, count) =>
    name === "append" && count === 2 ? "refuse" : "do"
  );
  await assertRejects(() => upload(artifacts, KEY, source(bytes), never()), HostError);
  await released.promise;
});

Deno.test("[F3] bytes at hand leave the event loop to others while they are hashed and sent", async () => {
  let turns = 0;
  let done = false;
  const turn = () => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await upload(new ScriptedArtifacts(), KEY, source(new Uint8Array(16 * 1024 * 1024)), never());
  done = true;
  await new Promise((resolve) => setImmediate(resolve));
  assertGreater(turns, 10);
});
