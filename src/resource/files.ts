import type { Files, Link } from "../session/ports.ts";
import type { ReadGrants } from "./grants.ts";

/** What files are read with. */
export interface ScopedFilesOptions {
  /** Absolute folders that are never read, such as the state folder; they may be missing. */
  readonly denials: readonly string[];
  /** What the process may read; Deno's permissions say so where absent. */
  readonly grants?: ReadGrants;
}

/**
 * The files of this machine, within what the process may read, the Session's roots and the denials. What it takes to read them is
 * loaded by the first request, so that a program starts sooner.
 */
export class ScopedFiles implements Files {
  readonly #options: ScopedFilesOptions;
  #door: Promise<Files> | undefined;

  /** Touches nothing yet. */
  constructor(options: ScopedFilesOptions) {
    this.#options = options;
  }

  /** The real path of an existing absolute directory; as written where reading it is not granted. Throws `ResourceError`. */
  async directory(path: string): Promise<string> {
    return await (await this.#open()).directory(path);
  }

  /** Admits a linked URI. A file in the answer is open until its holder closes it. Throws `ResourceError`. */
  async link(
    uri: string,
    roots: readonly string[],
    options: { readonly directories: boolean },
  ): Promise<Link> {
    return await (await this.#open()).link(uri, roots, options);
  }

  #open(): Promise<Files> {
    this.#door ??= import("./door.ts").then(({ Door }) => new Door(this.#options));
    return this.#door;
  }
}
