/** What shows that a folder is still the one that was looked at, and that no entry of it was moved. */
interface Mark {
  readonly dev: number;
  readonly ino: number | null;
  readonly changed: number;
  readonly modified: number;
}

/**
 * The marks of the folders that lead from a root to a file. Two equal trails mean that at both moments each of them was a
 * real folder, and the same one. The times show a swap there and back in between: moving an entry changes them. Deno
 * tells the change time in whole seconds and the time of modification in milliseconds, so a swap within those can hide;
 * that is why a scope compares several trails.
 */
export class Trail {
  readonly #marks: readonly Mark[];

  private constructor(marks: readonly Mark[]) {
    this.#marks = marks;
  }

  /**
   * Looks at the folders, outermost first; undefined when one of them is no folder now. Leaves out those that this process
   * may not look at. Throws Deno's other errors.
   */
  static of(folders: readonly string[]): Trail | undefined {
    const marks: Mark[] = [];
    for (const folder of folders) {
      const info = lookAt(folder);
      if (info === undefined) continue;
      if (!info.isDirectory) return undefined;
      marks.push({
        dev: info.dev,
        ino: info.ino,
        changed: info.ctime?.getTime() ?? 0,
        modified: info.mtime?.getTime() ?? 0,
      });
    }
    return new Trail(marks);
  }

  /** Whether nothing moved between the two. */
  equals(other: Trail | undefined): boolean {
    return other !== undefined && this.#marks.length === other.#marks.length &&
      this.#marks.every((mark, index) => {
        const its = other.#marks[index]!;
        return mark.ino === its.ino && mark.dev === its.dev && mark.changed === its.changed &&
          mark.modified === its.modified;
      });
  }

  /** Whether it leads through the folder, under whatever name. */
  passes(folder: { readonly dev: number; readonly ino: number | null }): boolean {
    return folder.ino !== null &&
      this.#marks.some((mark) => mark.ino === folder.ino && mark.dev === folder.dev);
  }
}

function lookAt(folder: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(folder);
  } catch (error) {
    // Deno before 2.9 grants a folder with something denied below it and still refuses to look at it.
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}
