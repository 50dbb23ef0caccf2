import { type Files, type Link, type LinkedFile, ResourceError } from "../../src/session/ports.ts";
import type { Random } from "./random.ts";
import type { Domain } from "./sim_clock.ts";

/** A disk whose files are there or not, and take their time. */
export class SimFiles implements Files {
  /** Files that were opened and not closed. */
  open = 0;
  readonly #clock: Domain;
  readonly #random: Random;

  constructor(clock: Domain, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  async directory(path: string): Promise<string> {
    if (this.#random.chance(0.1)) await this.#clock.sleep(this.#random.between(0, 20));
    return path;
  }

  async link(uri: string): Promise<Link> {
    const random = this.#random;
    if (random.chance(0.3)) await this.#clock.sleep(random.between(0, 50));
    if (random.chance(0.1)) throw new ResourceError("not_found", `There is no file ${uri}`);
    if (random.chance(0.2)) return { kind: "reference" };
    this.open++;
    return { kind: "file", file: this.#file() };
  }

  #file(): LinkedFile {
    const random = this.#random.fork(`file${this.open}`);
    const clock = this.#clock;
    let closed = false;
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (let left = random.between(0, 4); left > 0; left--) {
        if (random.chance(0.4)) await clock.sleep(random.between(0, 300));
        if (random.chance(0.05)) throw new ResourceError("changed", "The file was changed while it was read");
        yield new Uint8Array(random.between(1, 2000)).fill(left);
      }
    }
    return {
      name: "a.txt",
      mimeType: "text/plain",
      bytes,
      close: () => {
        if (!closed) this.open--;
        closed = true;
      },
    };
  }
}
