/** A folder of its own for one test: what is in scope under `ok`, what is not under `out`. Real paths. */
export class Place implements AsyncDisposable {
  /** Holds both. */
  readonly base: string;
  readonly ok: string;
  readonly out: string;

  private constructor(base: string) {
    this.base = base;
    this.ok = `${base}/ok`;
    this.out = `${base}/out`;
  }

  /** Makes the folders, with the file `out/secret` in place. */
  static async make(): Promise<Place> {
    const place = new Place(await Deno.realPath(await Deno.makeTempDir({ prefix: "gangway-files-" })));
    await Deno.mkdir(place.ok);
    await Deno.mkdir(place.out);
    await Deno.writeTextFile(`${place.out}/secret`, "outside");
    await Deno.chmod(place.base, 0o755);
    return place;
  }

  /** Runs a shell line in `ok`. */
  async sh(line: string): Promise<void> {
    const { success, stderr } = await new Deno.Command("sh", { args: ["-c", line], cwd: this.ok }).output();
    if (!success) throw new Error(`${line}: ${new TextDecoder().decode(stderr)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.base, { recursive: true });
  }
}
