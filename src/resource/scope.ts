import { changedWhileOpened, notPermitted, notRegular, refusalOf, refused, tooLarge } from "./refusal.ts";
import { Descriptor, type Version } from "./descriptor.ts";
import { foldersBetween, isWithin } from "./path.ts";
import { LIMITS } from "../limits.ts";
import type { ReadGrants } from "./grants.ts";
import { Trail } from "./trail.ts";

/** What an admitted path turned out to be. */
export type Admission =
  | { readonly kind: "directory" }
  /** Opened for reading; whoever asked closes it. */
  | { readonly kind: "file"; readonly descriptor: Descriptor; readonly version: Version };

/** What a scope is made of. */
export interface ScopeOptions {
  /** Folders that are never read, whatever is granted: absolute, may be missing, may be links. */
  readonly denials: readonly string[];
  readonly grants: ReadGrants;
  /** How often the way to an opened file is looked at again; 0 is for measuring what that is good for. */
  readonly rounds?: number;
}

/** One look still lets a swap through now and then; each further look has to be met by another swap at the right moment. */
const ROUNDS = 8;
/** Tries before a path counts as changing all the time. */
const TRIES = 5;
/** Pseudo files: reading them blocks, has effects, or tells about processes. */
const SYSTEM = ["/proc", "/sys", "/dev"];

/**
 * The one door to the disk: decides whether a path may be read and opens it, without following anybody out of the scope and
 * without hanging.
 */
export class ReadScope {
  readonly #denials: readonly string[];
  readonly #grants: ReadGrants;
  readonly #rounds: number;

  /** Touches nothing yet. */
  constructor(options: ScopeOptions) {
    this.#denials = options.denials;
    this.#grants = options.grants;
    this.#rounds = options.rounds ?? ROUNDS;
  }

  /**
   * Opens the regular file, or recognises the directory, at an absolute path without dots, within `roots` (real paths). Throws
   * {@linkcode ResourceError}.
   */
  async admit(path: string, roots: readonly string[]): Promise<Admission> {
    // Loading it takes tens of milliseconds, which no start should pay.
    const disk = await import("node:fs");
    for (let left = TRIES - 1;; left--) {
      try {
        return this.#admit(disk, path, roots);
      } catch (error) {
        const refusal = refusalOf(path, error);
        if (refusal.code !== "changed" || left === 0) throw refusal;
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    }
  }

  /** One try. Synchronous: the less time between its steps, the less room for a swap. */
  #admit(disk: typeof import("node:fs"), path: string, roots: readonly string[]): Admission {
    const real = this.#resolve(path, roots);
    const root = outermost(roots, real)!;

    const folders = foldersBetween(root, real).filter((folder) => this.#grants.readable(folder));
    const trail = Trail.of(folders);
    if (trail === undefined) throw changedWhileOpened(path);
    if (this.#isDenied(real, trail)) throw refused(path, "belongs to Gangway's own state and is never read");
    const found = Deno.lstatSync(real);
    if (found.isDirectory) return { kind: "directory" };
    if (found.isSymlink) throw changedWhileOpened(path);
    if (!found.isFile) throw notRegular(path, kindOf(found));
    if (found.size > LIMITS.artifactBytes) throw tooLarge(path);

    const descriptor = Descriptor.open(disk, real);
    try {
      const opened = descriptor.identity();
      const isOpened = (info: Deno.FileInfo) =>
        info.isFile && info.dev === opened.dev && info.ino === opened.ino;
      if (!opened.isFile || !isOpened(found)) throw changedWhileOpened(path);
      for (let round = 0; round < this.#rounds; round++) {
        const stays = isOpened(Deno.lstatSync(real)) && Deno.realPathSync(path) === real &&
          trail.equals(Trail.of(folders));
        if (!stays) throw changedWhileOpened(path);
      }
      return { kind: "file", descriptor, version: opened };
    } catch (error) {
      descriptor.close();
      throw error;
    }
  }

  /** The real path, once it and the path as written are known to be in scope. */
  #resolve(path: string, roots: readonly string[]): string {
    if (isSystem(path)) throw refused(path, "is never read: it is a view of the system and no file");
    // Looking at a network share contacts it, so its name alone has to be in scope.
    const isShare = path.startsWith("\\\\");
    if (isShare && outermost(roots, path) === undefined) throw outside(path);
    if (!this.#grants.readable(path)) throw notPermitted(path);

    const real = Deno.realPathSync(path);
    const isLink = real !== path;
    if (outermost(roots, real) === undefined) {
      throw isLink
        ? refused(path, "leads through a symbolic link out of the Session's folders: link the file itself")
        : outside(path);
    }
    if (isSystem(real)) throw refused(path, "leads through a symbolic link to what is never read");
    if (!this.#grants.readable(real)) {
      throw refused(
        path,
        "leads through a symbolic link to a place that may not be read: " +
          "start Gangway with --allow-read for the real place too",
      );
    }
    return real;
  }

  /** Whether a denied folder is on the way, or at its end, under whatever name. */
  #isDenied(real: string, trail: Trail): boolean {
    return this.#denials.some((denial) => {
      if (isWithin(denial, real)) return true;
      if (!this.#grants.readable(denial)) return false;
      try {
        // By its number it is known in any spelling; not every system numbers its files.
        return isWithin(Deno.realPathSync(denial), real) || trail.passes(Deno.statSync(denial));
      } catch {
        // It is not there yet, or not for this user; then nothing can be read through it either.
        return false;
      }
    });
  }
}

function isSystem(path: string): boolean {
  return SYSTEM.some((folder) => isWithin(folder, path));
}

/** The root that the longest way leads down from; undefined outside all of them. */
function outermost(roots: readonly string[], path: string): string | undefined {
  let found: string | undefined;
  for (const root of roots) {
    if (isWithin(root, path) && (found === undefined || root.length < found.length)) found = root;
  }
  return found;
}

function outside(path: string): Error {
  return refused(
    path,
    "lies outside the Session's folders: open the Session with its folder, or paste the text",
  );
}

function kindOf(info: Deno.FileInfo): string {
  if (info.isFifo) return "a named pipe";
  if (info.isSocket) return "a socket";
  if (info.isCharDevice || info.isBlockDevice) return "a device";
  return "neither a file nor a folder";
}
