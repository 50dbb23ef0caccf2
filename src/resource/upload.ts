import type { ArtifactReference } from "../model/artifact.ts";
import type { Clock } from "../model/clock.ts";
import type { HostArtifacts, UploadKey } from "../host/contract.ts";
import { HostError } from "../host/errors.ts";
import { LIMITS } from "../limits.ts";

/** What is uploaded. An iterable is read once, part by part; it stays the caller's to release. */
export interface UploadSource {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: AsyncIterable<Uint8Array> | Uint8Array;
}

/** Tries of one operation whose reply was lost. */
const TRIES = 5;
/** Milliseconds before the second try; doubled for each further one. */
const PAUSE_MS = 20;
/** Bytes after which others get a turn of the event loop, for hashing does not wait for anything. */
const TURN_BYTES = 1024 * 1024;

/**
 * Brings bytes to the Host in parts of at most {@linkcode LIMITS.appendBytes} and returns the Host's canonical reference to them.
 * An operation whose reply was lost is repeated by its key. On any failure what was staged is aborted and the failure is
 * thrown: a {@linkcode HostError}, whatever the source threw, or the signal's reason, the last one without waiting for the
 * Host. `clock` spaces the repetitions out; without it they follow each other at once.
 */
export async function upload(
  artifacts: HostArtifacts,
  key: UploadKey,
  source: UploadSource,
  signal: AbortSignal,
  clock?: Pick<Clock, "sleep">,
): Promise<ArtifactReference> {
  signal.throwIfAborted();
  const { createHash } = await import("node:crypto");
  const { setImmediate } = await import("node:timers");
  const hash = createHash("sha256");
  const ask = <T>(operation: () => Promise<T>) => repeated(operation, signal, clock);
  const parts = partsOf(source.bytes);
  let size = 0;
  try {
    await ask(() => artifacts.begin({ ...key, name: source.name, mimeType: source.mimeType }));
    for (;;) {
      const next = await unlessAborted(parts.next(), signal);
      if (next.done) break;
      const bytes = next.value;
      const offset = size;
      size += bytes.length;
      if (size > LIMITS.artifactBytes) throw overflow(source.name);
      hash.update(bytes);
      await ask(() => artifacts.append({ ...key, offset, bytes }));
      if (Math.floor(offset / TURN_BYTES) !== Math.floor(size / TURN_BYTES)) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const sha256 = hash.digest("hex");
    const reference = await ask(() => artifacts.commit({ ...key, size, sha256 }));
    if (reference.size !== size || reference.sha256 !== sha256) throw otherBytes(source.name);
    return reference;
  } catch (error) {
    const aborting = repeated(() => artifacts.abort(key), undefined, clock).catch(() => {
      // Provisional uploads end with the connection at the latest; the failure itself is what counts here.
    });
    await unlessAborted(aborting, signal).catch(() => {});
    throw error;
  } finally {
    // Without waiting: a read that is under way ends by itself.
    void parts.return(undefined).catch(() => {});
  }
}

async function* partsOf(bytes: UploadSource["bytes"]): AsyncGenerator<Uint8Array> {
  const sources = bytes instanceof Uint8Array ? [bytes] : bytes;
  for await (const source of sources) {
    for (let start = 0; start < source.length; start += LIMITS.appendBytes) {
      yield source.subarray(start, start + LIMITS.appendBytes);
    }
  }
}

/** Runs an operation that is by key until its reply arrives. */
async function repeated<T>(
  operation: () => Promise<T>,
  signal: AbortSignal | undefined,
  clock: Pick<Clock, "sleep"> | undefined,
): Promise<T> {
  for (let tries = 1;; tries++) {
    signal?.throwIfAborted();
    try {
      return await unlessAborted(operation(), signal);
    } catch (error) {
      const lost = error instanceof HostError && error.dispatch !== "answered";
      if (!lost || tries === TRIES || signal?.aborted) throw error;
      await clock?.sleep(PAUSE_MS * 2 ** (tries - 1), signal);
    }
  }
}

/** The promise, or the signal's reason as soon as it aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function overflow(name: string): HostError {
  const limit = LIMITS.artifactBytes / 1024 / 1024;
  return new HostError(
    "capacity",
    `${JSON.stringify(name)} is larger than ${limit} MiB: send a smaller part`,
  );
}

function otherBytes(name: string): HostError {
  return new HostError("internal", `The Host kept other bytes of ${JSON.stringify(name)} than were sent`);
}
