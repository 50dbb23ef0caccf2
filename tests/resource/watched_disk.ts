type Look = "lstatSync" | "realPathSync" | "statSync";

const LOOKS: readonly Look[] = ["lstatSync", "realPathSync", "statSync"];

/** Runs `before` ahead of every look that the scope takes at the disk, until it is disposed of. */
export class WatchedDisk implements Disposable {
  /** The looks so far, as name and path. */
  readonly looks: string[] = [];
  readonly #real: Pick<typeof Deno, Look>;

  /** `rename` tells which path a look really goes to, `alter` what it finds there. */
  constructor(
    options: {
      before?: (look: string, count: number) => void;
      rename?: (path: string) => string;
      alter?: (info: Deno.FileInfo) => Deno.FileInfo;
    } = {},
  ) {
    const real = { lstatSync: Deno.lstatSync, realPathSync: Deno.realPathSync, statSync: Deno.statSync };
    this.#real = real;
    const rename = options.rename ?? ((path) => path);
    const alter = options.alter ?? ((info) => info);
    const seen = (name: Look, path: string | URL): string => {
      this.looks.push(`${name} ${path}`);
      options.before?.(`${name} ${path}`, this.looks.length);
      return rename(String(path));
    };
    Deno.lstatSync = (path) => alter(real.lstatSync(seen("lstatSync", path)));
    Deno.statSync = (path) => alter(real.statSync(seen("statSync", path)));
    Deno.realPathSync = (path) => {
      const there = seen("realPathSync", path);
      const resolved = real.realPathSync(there);
      return resolved === there ? String(path) : resolved;
    };
  }

  [Symbol.dispose](): void {
    for (const look of LOOKS) Object.assign(Deno, { [look]: this.#real[look] });
  }
}
