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

  /**
   * Takes it for `program`. Throws `busy`, naming the holder where the file can be read, or `not_found`. Synchronous: some
   * quick calls to the system cost less than one turn through the thread pool.
   */
  static take(place: SessionPlace, program = "gangway"): SessionLock {
    const path = `${place.path}/lock`;
    for (;;) {
      const file = openLock(place, path);
      try {
        if (!file.tryLockSync(true)) throw sessionBusy(place.sessionId, readHolder(path));
        // The Session may have been removed, and made anew, between opening and locking.
        if (isAt(file, path)) {
          sign(file, program);
          return new SessionLock(file);
        }
      } catch (cause) {
        file.close();
        throw storageFailure(cause, place);
      }
      file.close();
    }
  }

  /** Gives the Session back. May be called twice. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#file.close();
  }
}

function openLock(place: SessionPlace, path: string): Deno.FsFile {
  try {
    return Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) throw sessionMissing(place.sessionId);
    throw storageFailure(cause, place);
  }
}

function isAt(file: Deno.FsFile, path: string): boolean {
  try {
    const mine = file.statSync();
    const there = Deno.statSync(path);
    return mine.ino === there.ino && mine.dev === there.dev;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return false;
    throw cause;
  }
}

function sign(file: Deno.FsFile, program: string): void {
  const holder: Holder = { pid: Deno.pid, program };
  try {
    file.truncateSync();
    file.writeSync(new TextEncoder().encode(JSON.stringify(holder)));
  } catch {
    // A full disk must keep nobody from reading or deleting: then the holder has no name.
  }
}

function readHolder(path: string): Holder {
  try {
    const found: unknown = JSON.parse(Deno.readTextFileSync(path));
    if (typeof found !== "object" || found === null) return {};
    return {
      ...("pid" in found && typeof found.pid === "number" ? { pid: found.pid } : {}),
      ...("program" in found && typeof found.program === "string" ? { program: found.program } : {}),
    };
  } catch {
    return {};
  }
}
