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
  prepare(): void {
    try {
      Deno.mkdirSync(this.path, { recursive: true, mode: 0o700 });
      const info = Deno.statSync(this.path);
      if (info.uid !== this.#owner()) {
        throw this.#refusal("owner", "belongs to another user");
      }
      if (info.mode !== null && (info.mode & 0o077) !== 0) this.#tighten();
      Deno.mkdirSync(this.sessions, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw storageFailure(cause, { folder: this.path });
    }
  }

  /** Who we are to this file system, without asking for the permission to know; it also shows that we can write. */
  #owner(): number | null {
    const probe = `${this.path}/.probe-${crypto.randomUUID()}`;
    const file = Deno.openSync(probe, { write: true, createNew: true, mode: 0o600 });
    try {
      return file.statSync().uid;
    } finally {
      file.close();
      Deno.removeSync(probe);
    }
  }

  /** A folder that is all ours is closed to others; one that holds more may be meant for more. */
  #tighten(): void {
    for (const { name } of Deno.readDirSync(this.path)) {
      if (!name.startsWith("index.db") && name !== "sessions") {
        throw this.#refusal("foreign", "is open to other users and holds other files");
      }
    }
    Deno.chmodSync(this.path, 0o700);
  }

  #refusal(reason: string, fact: string): HostError {
    const message = `The state folder "${this.path}" ${fact}: ` +
      "choose another with --state, or keep Sessions in memory with --memory";
    return new HostError("persistence_failed", message, { data: { reason, folder: this.path } });
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

/** Makes what is in a file and the names beside it durable, without a turn through the thread pool. */
export function syncWithin(folder: string, file: string): void {
  sync(`${folder}/${file}`, { write: true });
  if (Deno.build.os !== "windows") sync(folder, { read: true });
}

function sync(path: string, options: Deno.OpenOptions): void {
  const opened = Deno.openSync(path, options);
  try {
    opened.syncSync();
  } finally {
    opened.close();
  }
}
