/**
 * The file that SQLite writes a Session's commits to. SQLite would wait for the disk in the program's one thread; here a thread of the
 * system's does, so that other Sessions go on meanwhile.
 */
export class WrittenAhead {
  readonly #path: string;
  #file: Promise<Deno.FsFile> | undefined;

  /** Opens nothing yet. `path` is that of the database. */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /** Resolves when everything that is in the file by now is on the disk. */
  async sync(): Promise<void> {
    this.#file ??= Deno.open(this.#path, { read: true, write: true });
    const file = await this.#file;
    await file.syncData();
  }

  /** Closes the file; a sync must not be under way. */
  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    file?.close();
  }
}
