import type { Dialect, ModelEvent } from "./service.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { recordOf, recordsOf, textOf } from "../../../src/engine/acp/shape.ts";
import type { Said, Script } from "./script.ts";

/** The Gemini API, as far as Gemini CLI asks for it. */
export class GeminiApi implements Dialect {
  readonly #script: Script;
  #calls = 0;

  /** Says what the script says. */
  constructor(script: Script) {
    this.#script = script;
  }

  answer(path: string, request: JsonObject): ReturnType<Dialect["answer"]> {
    if (path.endsWith(":countTokens")) return { body: { totalTokens: 100 } };
    const config = recordOf(request.generationConfig);
    const schema = recordOf(config.responseJsonSchema ?? config.responseSchema);
    const said = this.#script.reply({
      ...wordsOf(request.contents),
      ...(Object.keys(schema).length > 0 && { schema }),
    });
    if (path.endsWith(":streamGenerateContent")) return { said };
    return { body: this.#chunk(said.flatMap((each) => this.#partsOf(each)), "STOP") };
  }

  *events(said: readonly Said[]): Iterable<ModelEvent> {
    for (const each of said) {
      if (each.kind === "wait") {
        yield "wait";
        return;
      }
      for (const part of this.#partsOf(each)) yield { data: this.#chunk([part]) };
    }
    yield { data: this.#chunk([], "STOP") };
  }

  #partsOf(each: Said): JsonObject[] {
    switch (each.kind) {
      case "text":
        return (each.text.match(/\S+\s*/g) ?? []).map((text) => ({ text }));
      case "tool":
        return [{ functionCall: { id: `call-${++this.#calls}`, name: each.name, args: each.input } }];
      case "wait":
        return [];
    }
  }

  #chunk(parts: JsonObject[], finishReason?: string): JsonObject {
    return {
      candidates: [{
        content: { role: "model", parts },
        index: 0,
        ...(finishReason !== undefined && { finishReason }),
      }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    };
  }
}

/** The user's last words, and how many contents with results came after them. */
function wordsOf(contents: Json | undefined): { words: string; rounds: number } {
  let rounds = 0;
  for (const { role, parts } of recordsOf(contents).toReversed()) {
    if (role !== "user") continue;
    if (recordsOf(parts).some(({ functionResponse }) => functionResponse !== undefined)) {
      rounds++;
      continue;
    }
    const words = recordsOf(parts).flatMap(({ text }) => textOf(text) ?? []).join("\n");
    if (/<\w+>/.test(words)) return { words, rounds };
  }
  return { words: "", rounds };
}
