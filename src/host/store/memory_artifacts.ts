import { createHash, type Hash } from "node:crypto";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { ArtifactFiles, Write } from "./contract.ts";
import { bytesMissing, checkedId, storeClosed } from "./failure.ts";

/** Bytes that grow at the end. */
class Upload {
  readonly hash: Hash = createHash("sha256");
  size = 0;
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);

  append(bytes: Uint8Array): void {
    if (this.size + bytes.length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.size + bytes.length, this.#bytes.length * 2));
      grown.set(this.read(0, this.size));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.size);
    this.size += bytes.length;
    this.hash.update(bytes);
  }

  read(offset: number, length: number): Uint8Array {
    return this.#bytes.subarray(offset, Math.min(offset + length, this.size));
  }
}

type Rows = Map<string, { readonly artifact: ArtifactReference; readonly pinned: boolean }>;

/** The Artifacts of a Session: their bytes and their rows. */
export class MemoryFiles {
  /** Bytes by Artifact id. */
  readonly sealed: Map<string, Upload> = new Map();
  /** What the Session knows of, in the order in which it came. */
  rows: Rows = new Map();

  /** Begins a change of rows that is kept as a whole or dropped. */
  stage(): StagedFiles {
    return new StagedFiles(this);
  }

  /** Drops bytes without a row: nobody can reach them any more. */
  sweep(): void {
    for (const id of this.sealed.keys()) if (!this.rows.has(id)) this.sealed.delete(id);
  }
}

/** Changed rows that nobody sees yet. */
class StagedFiles {
  readonly #files: MemoryFiles;
  #rows: Rows | undefined;

  constructor(files: MemoryFiles) {
    this.#files = files;
  }

  /** Throws where the write does not fit what is there. */
  write(write: Extract<Write, { op: "artifact" | "pin" | "artifact_removed" }>): void {
    this.#rows ??= new Map(this.#files.rows);
    const id = write.op === "artifact" ? write.artifact.artifactId : write.artifactId;
    const present = this.#rows.get(id);
    if (write.op === "artifact") {
      this.#rows.set(id, { artifact: write.artifact, pinned: present?.pinned ?? false });
    } else if (write.op === "pin") {
      if (present === undefined) throw new Error(`there is no Artifact "${id}" to pin`);
      this.#rows.set(id, { ...present, pinned: true });
    } else {
      if (present?.pinned) throw new Error(`a Turn uses the Artifact "${id}"`);
      this.#rows.delete(id);
    }
  }

  /** Makes the changes seen. */
  keep(): void {
    this.#files.rows = this.#rows ?? this.#files.rows;
  }
}

/** A holder's way to the Artifacts; its unfinished uploads end with it. */
export class MemoryArtifacts implements ArtifactFiles {
  readonly #sessionId: string;
  readonly #files: MemoryFiles;
  readonly #uploads = new Map<string, Upload>();
  #closed = false;

  constructor(sessionId: string, files: MemoryFiles) {
    this.#sessionId = sessionId;
    this.#files = files;
  }

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async begin(uploadId: string): Promise<number> {
    this.#check("upload", uploadId);
    const present = this.#uploads.get(uploadId);
    if (present === undefined) this.#uploads.set(uploadId, new Upload());
    return present?.size ?? 0;
  }

  // deno-lint-ignore require-await
  async append(uploadId: string, bytes: Uint8Array): Promise<number> {
    const upload = this.#upload(uploadId);
    upload.append(bytes);
    return upload.size;
  }

  // deno-lint-ignore require-await
  async peek(uploadId: string, offset: number, length: number): Promise<Uint8Array> {
    return this.#upload(uploadId).read(offset, length).slice();
  }

  // deno-lint-ignore require-await
  async measure(uploadId: string): Promise<{ size: number; sha256: string } | undefined> {
    this.#check("upload", uploadId);
    const upload = this.#uploads.get(uploadId);
    return upload && { size: upload.size, sha256: upload.hash.copy().digest("hex") };
  }

  // deno-lint-ignore require-await
  async seal(uploadId: string, artifactId: string): Promise<void> {
    this.#check("Artifact", artifactId);
    this.#files.sealed.set(artifactId, this.#upload(uploadId));
    this.#uploads.delete(uploadId);
  }

  // deno-lint-ignore require-await
  async read(artifactId: string, offset: number, length: number): Promise<Uint8Array> {
    this.#check("Artifact", artifactId);
    const sealed = this.#files.sealed.get(artifactId);
    if (sealed === undefined) throw bytesMissing("Artifact", artifactId);
    return sealed.read(offset, length).slice();
  }

  // deno-lint-ignore require-await
  async remove(id: string): Promise<void> {
    this.#check("Artifact", id);
    this.#uploads.delete(id);
    this.#files.sealed.delete(id);
  }

  // deno-lint-ignore require-await
  async list(): Promise<readonly { readonly artifact: ArtifactReference; readonly pinned: boolean }[]> {
    if (this.#closed) throw storeClosed(`The Session "${this.#sessionId}"`);
    return [...this.#files.rows.values()];
  }

  /** The holder lets go. */
  close(): void {
    this.#closed = true;
    this.#uploads.clear();
    this.#files.sweep();
  }

  #upload(uploadId: string): Upload {
    this.#check("upload", uploadId);
    const upload = this.#uploads.get(uploadId);
    if (upload === undefined) throw bytesMissing("upload", uploadId);
    return upload;
  }

  #check(what: "upload" | "Artifact", id: string): void {
    checkedId(what, id);
    if (this.#closed) throw storeClosed(`The Session "${this.#sessionId}"`);
  }
}
