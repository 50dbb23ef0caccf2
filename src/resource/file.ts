import type { Descriptor, Version } from "./descriptor.ts";
import type { LinkedFile } from "../session/ports.ts";
import type { LineRange } from "../model/prompt.ts";
import { changedWhileRead, refusalOf, tooLarge } from "./refusal.ts";
import { LIMITS } from "../limits.ts";
import { mimeTypeOf } from "./mime.ts";

/** An admitted file, open until its holder closes it. */
export class OpenFile implements LinkedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly lines?: LineRange;
  readonly #path: string;
  readonly #descriptor: Descriptor;
  readonly #version: Version;

  /** `path` is what the Client named; name and type come from it and not from where a link leads. */
  constructor(path: string, descriptor: Descriptor, version: Version, lines: LineRange | undefined) {
    this.name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
    this.mimeType = mimeTypeOf(this.name);
    if (lines !== undefined) this.lines = lines;
    this.#path = path;
    this.#descriptor = descriptor;
    this.#version = version;
  }

  /** May be called again: it reads at explicit offsets. Each part is the receiver's. */
  async *bytes(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      let offset = 0;
      for (;;) {
        // The size saves memory for small files. What counts is what the reads yield: a pseudo file says 0.
        const left = Number(this.#version.size) - offset;
        const part = new Uint8Array(left < 0 ? LIMITS.appendBytes : Math.min(left + 1, LIMITS.appendBytes));
        const count = await this.#descriptor.read(part, offset);
        if (count === 0) break;
        offset += count;
        if (offset > LIMITS.artifactBytes) throw tooLarge(this.#path);
        yield part.subarray(0, count);
      }
      const now = this.#descriptor.identity();
      if (now.size !== this.#version.size || now.modified !== this.#version.modified) {
        throw changedWhileRead(this.#path);
      }
    } catch (error) {
      throw refusalOf(this.#path, error);
    }
  }

  close(): void {
    this.#descriptor.close();
  }
}
