import type { ArtifactReference } from "../../model/artifact.ts";
import type { Ids } from "../../model/clock.ts";
import type { TurnInput } from "../../model/prompt.ts";
import type { Limits } from "../../limits.ts";
import type { ArtifactFiles } from "../store/contract.ts";
import { HostError } from "../errors.ts";
import type { Journal } from "./journal.ts";

/** Bytes of a connection that no Turn has used. */
interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly connectionId: string;
  size: number;
  /** Set once it is committed. */
  artifact?: ArtifactReference;
}

/**
 * Uploads and Artifacts of one Session. An upload, and the Artifact that it becomes, is provisional and belongs to its connection
 * until a Turn pins it.
 */
export class Uploads {
  readonly #files: ArtifactFiles;
  readonly #journal: Journal;
  readonly #ids: Ids;
  readonly #limits: Limits;
  readonly #uploads = new Map<string, Upload>();
  #artifacts: Promise<Map<string, ArtifactReference>> | undefined;

  constructor(options: { files: ArtifactFiles; journal: Journal; ids: Ids; limits: Limits }) {
    this.#files = options.files;
    this.#journal = options.journal;
    this.#ids = options.ids;
    this.#limits = options.limits;
  }

  async begin(connectionId: string, uploadId: string, name: string, mimeType: string): Promise<void> {
    await this.#known();
    const present = this.#uploads.get(uploadId);
    if (present === undefined) {
      const size = await this.#files.begin(uploadId);
      this.#uploads.set(uploadId, { name, mimeType, connectionId, size });
    } else if (
      present.name !== name || present.mimeType !== mimeType || present.connectionId !== connectionId
    ) {
      throw new HostError("conflict", `The upload "${uploadId}" was begun for something else`);
    }
  }

  async append(uploadId: string, offset: number, bytes: Uint8Array): Promise<void> {
    const upload = this.#upload(uploadId);
    if (upload.artifact !== undefined) {
      throw new HostError("conflict", `The upload "${uploadId}" is committed`);
    }
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > upload.size) {
      throw new HostError(
        "conflict",
        `The upload "${uploadId}" goes on at ${upload.size}, not at ${offset}`,
        {
          data: { size: upload.size },
        },
      );
    }
    if (bytes.length > this.#limits.appendBytes || offset + bytes.length > this.#limits.artifactBytes) {
      throw new HostError("capacity", `"${upload.name}" is larger than ${this.#limits.artifactBytes} bytes`, {
        data: { limit: this.#limits.artifactBytes },
      });
    }
    const repeated = Math.min(bytes.length, upload.size - offset);
    if (
      repeated > 0 && !same(await this.#files.peek(uploadId, offset, repeated), bytes.subarray(0, repeated))
    ) {
      throw new HostError("conflict", `The upload "${uploadId}" has other bytes at ${offset}`);
    }
    if (repeated < bytes.length) upload.size = await this.#files.append(uploadId, bytes.subarray(repeated));
  }

  async commit(uploadId: string, size: number, sha256: string): Promise<ArtifactReference> {
    const upload = this.#upload(uploadId);
    const there = upload.artifact ?? await this.#files.measure(uploadId);
    if (there?.size !== size || there.sha256 !== sha256) {
      throw new HostError(
        "conflict",
        `The upload "${uploadId}" is not what was announced: its size or digest differs`,
        {
          data: { size: there?.size ?? 0 },
        },
      );
    }
    if (upload.artifact !== undefined) return upload.artifact;
    const { name, mimeType } = upload;
    const artifact: ArtifactReference = { artifactId: this.#ids.next(), name, mimeType, size, sha256 };
    const artifacts = await this.#known();
    await this.#files.seal(uploadId, artifact.artifactId);
    try {
      await this.#journal.commit(() => [{ op: "artifact", artifact }]);
    } catch (error) {
      // The bytes have left the upload, so it cannot be tried again under this id.
      this.#uploads.delete(uploadId);
      await this.#files.remove(artifact.artifactId).catch(() => {});
      throw error;
    }
    artifacts.set(artifact.artifactId, artifact);
    upload.artifact = artifact;
    return artifact;
  }

  async abort(uploadId: string): Promise<void> {
    const upload = this.#uploads.get(uploadId);
    if (upload === undefined) return;
    if (upload.artifact === undefined) await this.#files.remove(uploadId);
    else await this.#remove(upload.artifact.artifactId);
    this.#uploads.delete(uploadId);
  }

  /** Drops what a connection uploaded and no Turn used. */
  async drop(connectionId: string): Promise<void> {
    for (const [uploadId, upload] of this.#uploads) {
      if (upload.connectionId === connectionId) await this.abort(uploadId);
    }
  }

  async read(artifactId: string, offset: number, length: number): Promise<Uint8Array> {
    if (!Number.isSafeInteger(offset) || offset < 0 || !Number.isSafeInteger(length) || length < 0) {
      throw new HostError("invalid", "The offset and length of a read have to be whole numbers from 0");
    }
    if (!(await this.#known()).has(artifactId)) throw missing(artifactId);
    return await this.#files.read(artifactId, offset, length);
  }

  async list(): Promise<ArtifactReference[]> {
    return [...(await this.#known()).values()];
  }

  /** The ids of the Artifacts that an input uses. Throws `not_found` where one is not this Session's. */
  async used(input: TurnInput): Promise<string[]> {
    const ids = new Set<string>();
    for (const part of input.parts) {
      const artifact = part.kind === "text" ? undefined : part.artifact;
      if (artifact === undefined) continue;
      const known = (await this.#known()).get(artifact.artifactId);
      if (known?.sha256 !== artifact.sha256) throw missing(artifact.artifactId);
      ids.add(artifact.artifactId);
    }
    return [...ids];
  }

  /** A Turn has them now: their connection cannot drop them any more. */
  pinned(artifactIds: readonly string[]): void {
    for (const [uploadId, { artifact }] of this.#uploads) {
      if (artifact !== undefined && artifactIds.includes(artifact.artifactId)) this.#uploads.delete(uploadId);
    }
  }

  #upload(uploadId: string): Upload {
    const upload = this.#uploads.get(uploadId);
    if (upload === undefined) {
      throw new HostError("not_found", `There is no upload "${uploadId}" in this Session`);
    }
    return upload;
  }

  #known(): Promise<Map<string, ArtifactReference>> {
    this.#artifacts ??= this.#load().catch((error) => {
      this.#artifacts = undefined;
      throw error;
    });
    return this.#artifacts;
  }

  /** Reads the list, and frees what an earlier process committed and never used. */
  async #load(): Promise<Map<string, ArtifactReference>> {
    const known = new Map<string, ArtifactReference>();
    for (const { artifact, pinned } of await this.#files.list()) {
      if (pinned) known.set(artifact.artifactId, artifact);
      else await this.#free(artifact.artifactId);
    }
    return known;
  }

  async #remove(artifactId: string): Promise<void> {
    const artifacts = await this.#known();
    await this.#free(artifactId);
    artifacts.delete(artifactId);
  }

  async #free(artifactId: string): Promise<void> {
    await this.#journal.commit(() => [{ op: "artifact_removed", artifactId }]);
    await this.#files.remove(artifactId);
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function missing(artifactId: string): HostError {
  return new HostError("not_found", `There is no Artifact "${artifactId}" in this Session`);
}
