import { createHash, type Hash } from "node:crypto";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { HostError } from "../errors.ts";
import type { ArtifactFiles } from "./contract.ts";
import { bytesMissing, checkedId, storeClosed } from "./failure.ts";
import { storageFailure } from "./storage_failure.ts";
import { type SessionPlace, syncFolder } from "./state_folder.ts";

const UPLOAD = ".upload";
const ARTIFACT = ".artifact";

type ArtifactRows = readonly { readonly artifact: ArtifactReference; readonly pinned: boolean }[];

/** A file that grows at its end. Operations on it wait for each other. */
class Upload {
  readonly #file: Deno.FsFile;
  readonly #hash: Hash = createHash("sha256");
  #size = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** What was written so far. */
  measure(): Promise<{ size: number; sha256: string }> {
    return this.#next(() => Promise.resolve({ size: this.#size, sha256: this.#hash.copy().digest("hex") }));
  }

  append(bytes: Uint8Array): Promise<number> {
    return this.#next(async () => {
      try {
        for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
      } catch (cause) {
        // What came through of this piece must not be there when it is sent again.
        await this.#file.truncate(this.#size);
        throw cause;
      }
      this.#size += bytes.length;
      this.#hash.update(bytes);
      return this.#size;
    });
  }

  peek(offset: number, length: number): Promise<Uint8Array> {
    return this.#next(() => readAt(this.#file, offset, Math.min(length, this.#size - offset)));
  }

  sync(): Promise<void> {
    return this.#next(() => this.#file.sync());
  }

  /** Ends it after what was asked before. */
  close(): Promise<void> {
    return this.#next(() => Promise.resolve(this.#file.close()));
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

/** The Artifact files of one Session, beside its database. */
export class FolderArtifacts implements ArtifactFiles {
  readonly #place: SessionPlace;
  readonly #rows: () => ArtifactRows;
  readonly #sealing: (stage: "begun" | "done") => void;
  readonly #uploads = new Map<string, Promise<Upload>>();
  #closed = false;

  /**
   * `rows` reads what the database knows; `sealing` is told when sealing begins, and when the Artifact is on the disk and its
   * caller does not know yet.
   */
  constructor(
    place: SessionPlace,
    rows: () => ArtifactRows,
    sealing: (stage: "begun" | "done") => void,
  ) {
    this.#place = place;
    this.#rows = rows;
    this.#sealing = sealing;
  }

  async begin(uploadId: string): Promise<number> {
    this.#check("upload", uploadId);
    let upload = this.#uploads.get(uploadId);
    if (upload === undefined) {
      upload = this.#create(uploadId);
      this.#uploads.set(uploadId, upload);
    }
    return (await this.#guard((await upload).measure())).size;
  }

  async append(uploadId: string, bytes: Uint8Array): Promise<number> {
    return await this.#guard((await this.#upload(uploadId)).append(bytes));
  }

  async peek(uploadId: string, offset: number, length: number): Promise<Uint8Array> {
    return await this.#guard((await this.#upload(uploadId)).peek(offset, length));
  }

  async measure(uploadId: string): Promise<{ size: number; sha256: string } | undefined> {
    this.#check("upload", uploadId);
    const upload = await this.#uploads.get(uploadId);
    return upload?.measure();
  }

  async seal(uploadId: string, artifactId: string): Promise<void> {
    this.#check("Artifact", artifactId);
    const upload = await this.#upload(uploadId);
    this.#sealing("begun");
    await this.#guard(upload.sync());
    if (!this.#uploads.delete(uploadId)) throw bytesMissing("upload", uploadId);
    await upload.close();
    await this.#guard(Deno.rename(this.#path(uploadId, UPLOAD), this.#path(artifactId, ARTIFACT)));
    await this.#guard(syncFolder(this.#place.path));
    this.#sealing("done");
  }

  async read(artifactId: string, offset: number, length: number): Promise<Uint8Array> {
    this.#check("Artifact", artifactId);
    try {
      const file = await Deno.open(this.#path(artifactId, ARTIFACT), { read: true });
      try {
        const { size } = await file.stat();
        return await readAt(file, offset, Math.min(length, size - offset));
      } finally {
        file.close();
      }
    } catch (cause) {
      if (cause instanceof Deno.errors.NotFound) throw bytesMissing("Artifact", artifactId);
      throw storageFailure(cause, this.#place);
    }
  }

  async remove(id: string): Promise<void> {
    this.#check("Artifact", id);
    const upload = this.#uploads.get(id);
    this.#uploads.delete(id);
    await (await upload)?.close();
    await this.#guard(removeFile(this.#path(id, UPLOAD)));
    await this.#guard(removeFile(this.#path(id, ARTIFACT)));
  }

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async list(): Promise<ArtifactRows> {
    if (this.#closed) throw this.#gone();
    return this.#rows();
  }

  /** Removes uploads that nobody will finish and files whose row never came. Only before the first upload, or after the last. */
  async sweep(): Promise<void> {
    const known = new Set(this.#rows().map(({ artifact }) => artifact.artifactId));
    const doomed: string[] = [];
    try {
      for await (const { name } of Deno.readDir(this.#place.path)) {
        const orphan = name.endsWith(ARTIFACT) && !known.has(name.slice(0, -ARTIFACT.length));
        if (orphan || name.endsWith(UPLOAD)) doomed.push(`${this.#place.path}/${name}`);
      }
      await Promise.all(doomed.map(removeFile));
    } catch (cause) {
      throw storageFailure(cause, this.#place);
    }
  }

  /** Closes all files; unfinished uploads are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    const uploads = [...this.#uploads];
    this.#uploads.clear();
    for (const [id, opening] of uploads) {
      const [opened] = await Promise.allSettled([opening]);
      if (opened.status === "fulfilled") await opened.value.close();
      await this.#guard(removeFile(this.#path(id, UPLOAD)));
    }
  }

  async #create(uploadId: string): Promise<Upload> {
    try {
      return new Upload(
        await Deno.open(this.#path(uploadId, UPLOAD), {
          read: true,
          append: true,
          createNew: true,
          mode: 0o600,
        }),
      );
    } catch (cause) {
      this.#uploads.delete(uploadId);
      throw storageFailure(cause, this.#place);
    }
  }

  async #upload(uploadId: string): Promise<Upload> {
    this.#check("upload", uploadId);
    const upload = await this.#uploads.get(uploadId);
    if (upload === undefined) throw bytesMissing("upload", uploadId);
    return upload;
  }

  #path(id: string, suffix: string): string {
    return `${this.#place.path}/${id}${suffix}`;
  }

  #check(what: "upload" | "Artifact", id: string): void {
    checkedId(what, id);
    if (this.#closed) throw this.#gone();
  }

  #gone(): HostError {
    return storeClosed(`The Session "${this.#place.sessionId}"`);
  }

  async #guard<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      throw storageFailure(cause, this.#place);
    }
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
  }
}

/** Bytes at an offset; fewer where the file ends. */
async function readAt(file: Deno.FsFile, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.max(0, length));
  await file.seek(offset, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
