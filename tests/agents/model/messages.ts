import type { Dialect, ModelEvent } from "./service.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { recordOf, recordsOf, textOf } from "../../../src/engine/acp/shape.ts";
import type { Said, Script } from "./script.ts";

/** The Messages API, as far as Claude Code asks for it. */
export class MessagesApi implements Dialect {
  readonly #script: Script;
  #replies = 0;

  /** Says what the script says. */
  constructor(script: Script) {
    this.#script = script;
  }

  answer(path: string, request: JsonObject): ReturnType<Dialect["answer"]> {
    if (path.endsWith("/count_tokens")) return { body: { input_tokens: 100 } };
    const schema = recordOf(recordOf(recordOf(request.output_config).format).schema);
    const said = this.#script.reply({
      ...wordsOf(request.messages),
      ...(Object.keys(schema).length > 0 && { schema }),
    });
    return request.stream === true ? { said } : { body: this.#whole(said, request) };
  }

  *events(said: readonly Said[], { model }: JsonObject): Iterable<ModelEvent> {
    const id = ++this.#replies;
    const usage = { input_tokens: 100, output_tokens: 1 };
    const message = { ...frame(id, model), content: [], stop_reason: null, stop_sequence: null, usage };
    yield event({ type: "message_start", message });
    for (const [index, each] of said.entries()) {
      if (each.kind === "wait") {
        yield "wait";
        return;
      }
      yield event({ type: "content_block_start", index, content_block: emptyBlock(each, id, index) });
      for (const delta of deltas(each)) yield event({ type: "content_block_delta", index, delta });
      yield event({ type: "content_block_stop", index });
    }
    yield event({
      type: "message_delta",
      delta: { stop_reason: stopReasonOf(said), stop_sequence: null },
      usage: { output_tokens: 20 },
    });
    yield event({ type: "message_stop" });
  }

  #whole(said: readonly Said[], { model }: JsonObject): JsonObject {
    const id = ++this.#replies;
    const content = said.flatMap((each, index): JsonObject[] => {
      if (each.kind === "wait") return [];
      const block = emptyBlock(each, id, index);
      return [each.kind === "text" ? { ...block, text: each.text } : { ...block, input: each.input }];
    });
    return {
      ...frame(id, model),
      content,
      stop_reason: stopReasonOf(said),
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 20 },
    };
  }
}

function event(data: JsonObject): ModelEvent {
  return { event: String(data.type), data };
}

function frame(id: number, model: Json | undefined): JsonObject {
  return { id: `msg_${id}`, type: "message", role: "assistant", model: model ?? "" };
}

type Block = Exclude<Said, { kind: "wait" }>;

function emptyBlock(each: Block, id: number, index: number): JsonObject {
  if (each.kind === "text") return { type: "text", text: "" };
  return { type: "tool_use", id: `toolu_${id}_${index}`, name: each.name, input: {} };
}

/** Words one by one, so that it streams. */
function deltas(each: Block): JsonObject[] {
  if (each.kind === "tool") return [{ type: "input_json_delta", partial_json: JSON.stringify(each.input) }];
  return (each.text.match(/\S+\s*/g) ?? []).map((text) => ({ type: "text_delta", text }));
}

function stopReasonOf(said: readonly Said[]): string {
  return said.some(({ kind }) => kind === "tool") ? "tool_use" : "end_turn";
}

/** The user's last words, and how many messages with results came after them. */
function wordsOf(messages: Json | undefined): { words: string; rounds: number } {
  let rounds = 0;
  for (const { role, content } of recordsOf(messages).toReversed()) {
    if (role !== "user") continue;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : recordsOf(content);
    if (blocks.some(({ type }) => type === "tool_result")) {
      rounds++;
      continue;
    }
    const words = blocks.flatMap(({ text }) => textOf(text) ?? []).join("\n");
    if (/<\w+>/.test(words)) return { words, rounds };
  }
  return { words: "", rounds };
}
