type Disk = typeof import("node:fs");

/** What tells whether a file was written to: its size in bytes and its time of modification in nanoseconds. */
export interface Version {
  readonly size: bigint;
  readonly modified: bigint;
}

/** An open file, read at explicit offsets. Owned by whoever opened it. */
export class Descriptor {
  readonly #disk: Disk;
  #number: number | undefined;

  private constructor(disk: Disk, number: number) {
    this.#disk = disk;
    this.#number = number;
  }

  /**
   * Opens for reading and returns at once whatever is there: without `O_NONBLOCK` a named pipe would stop the whole process.
   * Throws the system's errors.
   */
  static open(disk: Disk, path: string): Descriptor {
    return new Descriptor(
      disk,
      disk.openSync(path, disk.constants.O_RDONLY | (disk.constants.O_NONBLOCK ?? 0)),
    );
  }

  /** What is open, seen through the opened file and not through its name. */
  identity(): Version & { readonly isFile: boolean; readonly dev: number; readonly ino: number } {
    const info = this.#disk.fstatSync(this.#open(), { bigint: true });
    return {
      isFile: info.isFile(),
      // Deno's own lstat tells these as numbers; they have to compare equal with those.
      dev: Number(info.dev),
      ino: Number(info.ino),
      size: info.size,
      modified: info.mtimeNs,
    };
  }

  /** Fills `part` from `offset` as far as one read goes and tells how far that was; 0 at the end. Runs beside the event loop. */
  read(part: Uint8Array, offset: number): Promise<number> {
    const number = this.#open();
    return new Promise((resolve, reject) => {
      this.#disk.read(number, part, 0, part.length, offset, (error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  /** Closes it. May be called twice: the number may belong to another file by then. */
  close(): void {
    const number = this.#number;
    if (number === undefined) return;
    this.#number = undefined;
    this.#disk.closeSync(number);
  }

  #open(): number {
    if (this.#number === undefined) throw new Error("The file is closed");
    return this.#number;
  }
}
