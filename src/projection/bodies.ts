import { decodeBody, type Row, type RowBody, type RowKind } from "../model/row.ts";
import { LIMITS } from "../limits.ts";

/** What a row gives so far. `absent`: its reader holds the body. `oversize`: longer than is assembled. */
export type BodyState =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "partial" | "absent" | "oversize" };

/** Puts the fragments of one row after the other together, at most {@linkcode LIMITS.assemblyLength} units of one. */
export class BodyAssembly {
  #seq = -1;
  #parts: string[] = [];
  #length = 0;

  /** Takes a row or its next fragment. A fragment that does not follow the one before is dropped; a new reading starts at 0. */
  take(row: Row): BodyState {
    if (row.body === undefined) return { kind: "absent" };
    if (row.length > LIMITS.assemblyLength) return { kind: "oversize" };
    const { offset, text } = row.body;
    if (offset === 0) {
      if (text.length === row.length) return { kind: "whole", text };
      this.#seq = row.seq;
      this.#parts = [];
      this.#length = 0;
    }
    if (row.seq !== this.#seq || offset !== this.#length) return { kind: "partial" };
    this.#parts.push(text);
    this.#length += text.length;
    if (this.#length < row.length) return { kind: "partial" };
    const whole = this.#parts.join("");
    this.#parts = [];
    this.#seq = -1;
    return { kind: "whole", text: whole };
  }
}

/** A row's body; undefined where what is stored is no such body. */
export function decoded(kind: RowKind, text: string): RowBody | undefined {
  try {
    return decodeBody(kind, text);
  } catch {
    return undefined;
  }
}
