import type { Run } from "../../model/run.ts";
import type { Database } from "./database.ts";
import { fromColumn, toColumn } from "./text_column.ts";

/** How many names stay in memory; past it they are read again. */
const KEPT = 4096;

/** Turn and Run ids as small numbers, so that a row does not repeat them. */
export class Names {
  readonly #db: Database;
  readonly #keys = new Map<string, number>();
  readonly #texts = new Map<number, string>();
  /** Neighbouring rows mostly share their Run. */
  #run: { readonly turn: number; readonly key: number; readonly run: Run } | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The number of a name, where it has one. */
  find(text: string): number | undefined {
    const known = this.#keys.get(text);
    if (known !== undefined) return known;
    const found = this.#db.get("SELECT key FROM names WHERE text = ?", toColumn(text));
    if (found === undefined) return undefined;
    return this.#keep(Number(found[0]), text);
  }

  /** The number of a name; a new name gets one. */
  key(text: string): number {
    const known = this.#keys.get(text);
    if (known !== undefined) return known;
    const taken = this.#db.get(
      "INSERT INTO names (text) VALUES (?) ON CONFLICT (text) DO UPDATE SET text = text RETURNING key",
      toColumn(text),
    );
    return this.#keep(Number(taken?.[0]), text);
  }

  /** The name of a number. */
  text(key: number): string {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const found = this.#db.get("SELECT text FROM names WHERE key = ?", key);
    const text = this.#db.guard(() => fromColumn(found?.[0]));
    this.#keep(key, text);
    return text;
  }

  /** The Run of two numbers. */
  run(turn: number, run: number): Run {
    if (this.#run?.turn !== turn || this.#run.key !== run) {
      this.#run = { turn, key: run, run: { turnId: this.text(turn), runId: this.text(run) } };
    }
    return this.#run.run;
  }

  /** Forgets what may have been rolled back. */
  forget(): void {
    this.#run = undefined;
    this.#keys.clear();
    this.#texts.clear();
  }

  #keep(key: number, text: string): number {
    if (this.#keys.size >= KEPT) this.forget();
    this.#keys.set(text, key);
    this.#texts.set(key, text);
    return key;
  }
}
