import { sessionBusy, sessionMissing } from "./failure.ts";
import type { Holder } from "./failure.ts";
import { storageFailure } from "./storage_failure.ts";
import type { SessionPlace } from "./state_folder.ts";

/**
 * A process's hold on a Session: a lock on a file, which the system takes back when the process ends, however that happens.
 * The file says who has it.
 */
export class SessionLock {
  readonly #file: Deno.FsFile;
  #released = false;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** Takes it for `program`. Throws `busy`, naming the holder where the file can be read, or `not_found`. */
  static async take(place: SessionPlace, program = "gangway"): Promise<SessionLock> {
    const path = `${place.path}/lock`;
    for (;;) {
      const file = await openLock(place, path);
      try {
        if (!await file.tryLock(true)) throw sessionBusy(place.sessionId, await readHolder(path));
        // The Session may have been removed, and made anew, between opening and locking.
        if (await isAt(file, path)) {
          await sign(file, program);
          return new SessionLock(file);
        }
        file.close();
      } catch (cause) {
        file.close();
        throw storageFailure(cause, place);
      }
    }
  }

  /** Gives the Session back. May be called twice. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#file.close();
  }
}

async function openLock(place: SessionPlace, path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) throw sessionMissing(place.sessionId);
    throw storageFailure(cause, place);
  }
}

async function isAt(file: Deno.FsFile, path: string): Promise<boolean> {
  try {
    const [mine, there] = await Promise.all([file.stat(), Deno.stat(path)]);
    return mine.ino === there.ino && mine.dev === there.dev;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return false;
    throw cause;
  }
}

async function sign(file: Deno.FsFile, program: string): Promise<void> {
  const holder: Holder = { pid: Deno.pid, program };
  try {
    await file.truncate();
    await file.write(new TextEncoder().encode(JSON.stringify(holder)));
  } catch {
    // A full disk must keep nobody from reading or deleting: then the holder has no name.
  }
}

async function readHolder(path: string): Promise<Holder> {
  try {
    const found: unknown = JSON.parse(await Deno.readTextFile(path));
    if (typeof found !== "object" || found === null) return {};
    return {
      ...("pid" in found && typeof found.pid === "number" ? { pid: found.pid } : {}),
      ...("program" in found && typeof found.program === "string" ? { program: found.program } : {}),
    };
  } catch {
    return {};
  }
}
