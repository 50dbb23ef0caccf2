import { createHash, type Hash } from "node:crypto";
import type { ArtifactReference } from "../../model/artifact.ts";
import type { ArtifactFiles, Write } from "./contract.ts";
import { bytesMissing, checkedId } from "./failure.ts";

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

/** Artifacts, their rows and uploads in memory. */
export class MemoryArtifacts implements ArtifactFiles {
  readonly #uploads = new Map<string, Upload>();
  readonly #sealed = new Map<string, Upload>();
  #rows: Rows = new Map();

  // deno-lint-ignore require-await -- the interface promises rejections, never throws.
  async begin(uploadId: string): Promise<number> {
    const present = this.#uploads.get(checkedId("upload", uploadId));
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
    const upload = this.#uploads.get(uploadId);
    return upload && { size: upload.size, sha256: upload.hash.copy().digest("hex") };
  }

  // deno-lint-ignore require-await
  async seal(uploadId: string, artifactId: string): Promise<void> {
    this.#sealed.set(checkedId("Artifact", artifactId), this.#upload(uploadId));
    this.#uploads.delete(uploadId);
  }

  // deno-lint-ignore require-await
  async read(artifactId: string, offset: number, length: number): Promise<Uint8Array> {
    const sealed = this.#sealed.get(artifactId);
    if (sealed === undefined) throw bytesMissing("Artifact", artifactId);
    return sealed.read(offset, length).slice();
  }

  // deno-lint-ignore require-await
  async remove(id: string): Promise<void> {
    this.#uploads.delete(id);
    this.#sealed.delete(id);
  }

  // deno-lint-ignore require-await
  async list(): Promise<readonly { readonly artifact: ArtifactReference; readonly pinned: boolean }[]> {
    return [...this.#rows.values()];
  }

  /** Drops what nobody can reach any more: unfinished uploads and bytes without a row. */
  sweep(): void {
    this.#uploads.clear();
    for (const id of this.#sealed.keys()) if (!this.#rows.has(id)) this.#sealed.delete(id);
  }

  /** Begins a change of rows that is kept as a whole or dropped. */
  stage(): {
    write(write: Extract<Write, { op: "artifact" | "pin" | "artifact_removed" }>): void;
    keep(): void;
  } {
    let rows: Rows | undefined;
    return {
      write: (write) => {
        rows ??= new Map(this.#rows);
        const id = write.op === "artifact" ? write.artifact.artifactId : write.artifactId;
        const present = rows.get(id);
        if (write.op === "artifact") {
          rows.set(id, { artifact: write.artifact, pinned: present?.pinned ?? false });
        } else if (write.op === "pin") {
          if (present === undefined) throw new Error(`there is no Artifact "${id}" to pin`);
          rows.set(id, { ...present, pinned: true });
        } else {
          if (present?.pinned) throw new Error(`a Turn uses the Artifact "${id}"`);
          rows.delete(id);
        }
      },
      keep: () => {
        this.#rows = rows ?? this.#rows;
      },
    };
  }

  #upload(uploadId: string): Upload {
    const upload = this.#uploads.get(uploadId);
    if (upload === undefined) throw bytesMissing("upload", uploadId);
    return upload;
  }
}
