/** The one Host's hold on a state folder. The system takes it back when the process ends, however that happens. */
export class HostLock {
  readonly #file: Deno.FsFile;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** Takes it, or returns the process id of whoever has it; 0 where that cannot be read. The file is never removed. */
  static take(path: string): HostLock | { readonly heldBy: number } {
    const file = Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
    try {
      if (!file.tryLockSync(true)) {
        file.close();
        return { heldBy: holderOf(path) };
      }
      file.truncateSync();
      file.writeSync(new TextEncoder().encode(String(Deno.pid)));
      return new HostLock(file);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Gives it back. */
  release(): void {
    this.#file.close();
  }
}

function holderOf(path: string): number {
  try {
    return Number(Deno.readTextFileSync(path)) || 0;
  } catch {
    return 0;
  }
}
