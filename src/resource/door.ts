import { denoGrants, type ReadGrants } from "./grants.ts";
import type { Files, Link } from "../session/ports.ts";
import { folderMissing, folderRefused, refusalOf } from "./refusal.ts";
import { LIMITS } from "../limits.ts";
import { OpenFile } from "./file.ts";
import { parseLinkedUri } from "./uri.ts";
import { quote } from "./quote.ts";
import { ReadScope } from "./scope.ts";
import { ResourceError } from "../session/ports.ts";
import { segmentsOf } from "./path.ts";

/** What {@linkcode ScopedFiles} opens with the first request: everything that it takes to read a file safely. */
export class Door implements Files {
  readonly #grants: ReadGrants;
  readonly #scope: ReadScope;

  /** Touches nothing yet. `denials` are absolute folders that are never read, such as the state folder; they may be missing. */
  constructor(options: { readonly denials: readonly string[]; readonly grants?: ReadGrants }) {
    this.#grants = options.grants ?? denoGrants;
    this.#scope = new ReadScope({ denials: options.denials, grants: this.#grants });
  }

  /**
   * The real path of an existing absolute directory. Where reading it is not granted nothing can be found out, and the path is
   * returned as written, so that Sessions work without any permission.
   */
  async directory(path: string): Promise<string> {
    const written = absolute(path);
    if (!this.#grants.readable(written)) return written;
    try {
      const [real, { isDirectory }] = await Promise.all([Deno.realPath(written), Deno.stat(written)]);
      if (isDirectory) return real;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) return written;
      throw error instanceof Deno.errors.NotFound ? folderMissing(path, error) : refusalOf(path, error);
    }
    throw new ResourceError("not_a_directory", `${quote(path)} is no folder: name the folder to work in`);
  }

  /** Admits a linked URI. A file in the answer is open until its holder closes it. */
  async link(
    uri: string,
    roots: readonly string[],
    options: { readonly directories: boolean },
  ): Promise<Link> {
    const linked = parseLinkedUri(uri, { windows: Deno.build.os === "windows" });
    if (linked.kind === "reference") return linked;
    const { path, lines } = linked;
    const admission = await this.#scope.admit(path, roots);
    if (admission.kind === "file") {
      return { kind: "file", file: new OpenFile(path, admission.descriptor, admission.version, lines) };
    }
    if (!options.directories) throw folderRefused(path);
    return lines === undefined ? { kind: "reference" } : { kind: "reference", lines };
  }
}

/** The path without dots and without a slash at its end, once it is known to be absolute. */
function absolute(path: string): string {
  if (path.includes("\0") || !path.isWellFormed() || path.length > LIMITS.uriBytes) {
    throw new ResourceError(
      "invalid_path",
      `${quote(path)} cannot be the path of a folder: name an existing one`,
    );
  }
  const windows = Deno.build.os === "windows";
  if (windows ? /^([A-Za-z]:[\\/]|\\\\[^\\])/.test(path) : path.startsWith("/")) {
    return windows ? path : "/" + segmentsOf(path).join("/");
  }
  throw new ResourceError("invalid_path", `${quote(path)} is no absolute path: name the folder from the top`);
}
