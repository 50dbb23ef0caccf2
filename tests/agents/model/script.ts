import type { JsonObject } from "../../../src/model/json.ts";

/** Something that a model says in a reply. */
export type Said =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly input: JsonObject }
  /** Says nothing more until the agent hangs up. */
  | { readonly kind: "wait" };

/** What an agent asks a model for. */
export interface Asked {
  /** The last words of the user. */
  readonly words: string;
  /** Tools that have answered since then. */
  readonly rounds: number;
  /** A value by this schema instead of an answer to the user, for a purpose of the agent's own. */
  readonly schema?: JsonObject;
}

/** A model that has learnt its part: for each scene what it says, round by round. */
export class Script {
  readonly #scenes: Readonly<Record<string, readonly (readonly Said[])[]>>;

  /** A scene is chosen by its name in the user's words, as `<name>`, the last one where there are several. */
  constructor(scenes: Readonly<Record<string, readonly (readonly Said[])[]>>) {
    this.#scenes = scenes;
  }

  /** The reply. Words outside of every scene are answered with a constant. */
  reply({ words, rounds, schema }: Asked): readonly Said[] {
    if (schema !== undefined) return [{ kind: "text", text: JSON.stringify(valueOf(schema)) }];
    const [, name = ""] = [...words.matchAll(/<(\w+)>/g)].findLast(([, each = ""]) => each in this.#scenes) ??
      [];
    return this.#scenes[name]?.[rounds] ?? [{ kind: "text", text: "Nothing more." }];
  }
}

/** The smallest value that fits a JSON schema. */
function valueOf({ type, properties, required, enum: choices }: JsonObject): unknown {
  if (Array.isArray(choices)) return choices[0];
  switch (String(type).toLowerCase()) {
    case "object": {
      const fields = (properties ?? {}) as Record<string, JsonObject>;
      const names = Array.isArray(required) ? required.map(String) : Object.keys(fields);
      return Object.fromEntries(names.map((name) => [name, valueOf(fields[name] ?? {})]));
    }
    case "array":
      return [];
    case "boolean":
      return false;
    case "number":
    case "integer":
      return 0;
    default:
      return "A title";
  }
}
