import { HostError } from "../errors.ts";
import { storageFailure, type StorageSubject } from "./storage_failure.ts";

/** Where a Session lies and whom its errors name. */
export interface SessionPlace extends StorageSubject {
  readonly sessionId: string;
  /** Its own folder. */
  readonly path: string;
}

/** Where things lie in a state folder. */
export class StateFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The list of Sessions. */
  get index(): string {
    return `${this.path}/index.db`;
  }

  /** One folder a Session. */
  get sessions(): string {
    return `${this.path}/sessions`;
  }

  /** The place of one Session; the id was checked before. */
  place(sessionId: string): SessionPlace {
    return { folder: this.path, sessionId, path: `${this.sessions}/${sessionId}` };
  }

  /** Makes the folder where it is missing, and refuses one that others own or can look into, or that cannot be written. */
  async prepare(): Promise<void> {
    try {
      await Deno.mkdir(this.path, { recursive: true, mode: 0o700 });
      const info = await Deno.stat(this.path);
      if (info.uid !== await this.#owner()) {
        throw new HostError(
          "persistence_failed",
          `The state folder "${this.path}" belongs to another user: choose another with --state, or keep Sessions in memory with --memory`,
          { data: { reason: "owner", folder: this.path } },
        );
      }
      if (info.mode !== null && (info.mode & 0o077) !== 0) await this.#tighten();
      await Deno.mkdir(this.sessions, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw storageFailure(cause, { folder: this.path });
    }
  }

  /** Who we are to this file system, without asking for the permission to know; it also shows that we can write. */
  async #owner(): Promise<number | null> {
    const probe = `${this.path}/.probe-${crypto.randomUUID()}`;
    const file = await Deno.open(probe, { write: true, createNew: true, mode: 0o600 });
    try {
      return (await file.stat()).uid;
    } finally {
      file.close();
      await Deno.remove(probe);
    }
  }

  /** A folder that is all ours is closed to others; one that holds more may be meant for more. */
  async #tighten(): Promise<void> {
    for await (const entry of Deno.readDir(this.path)) {
      if (!entry.name.startsWith("index.db") && entry.name !== "sessions") {
        throw new HostError(
          "persistence_failed",
          `The state folder "${this.path}" is open to other users and holds other files: choose an empty one with --state, or take the others' rights away`,
          { data: { reason: "foreign", folder: this.path } },
        );
      }
    }
    await Deno.chmod(this.path, 0o700);
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows has no such thing.
  if (Deno.build.os === "windows") return;
  const folder = await Deno.open(path, { read: true });
  try {
    await folder.sync();
  } finally {
    folder.close();
  }
}
