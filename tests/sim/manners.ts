import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Random } from "./random.ts";

/** What an editor does with a request. `meant` says what a person wanted by it, in the words of an `Answer`. */
export type Reaction =
  | {
    readonly kind: "answer";
    readonly result: Json;
    readonly meant: string;
    /** The terminal that the editor makes by it. */
    readonly made?: string;
  }
  | { readonly kind: "refuse"; readonly code: number; readonly meant: string }
  | { readonly kind: "gone" };

/** Answers that mean nothing, whatever was asked. */
const NONSENSE: readonly Json[] = [
  null,
  {},
  "yes",
  [],
  { outcome: "selected" },
  { outcome: { outcome: "selected", optionId: "made up" } },
  { outcome: { outcome: "allowed" } },
  { outcome: { outcome: "selected" } },
  { action: "accept" },
  { action: "accept", content: { answer: "made up" } },
  { action: "accept", content: { name: 7, count: 99, sure: "yes", colour: "green" } },
  { action: "agree", content: {} },
];

/** Draws an editor's reaction; `rude` is the probability of one that is no proper answer. */
export function reactionTo(
  method: string,
  params: JsonObject,
  rude: number,
  random: Random,
  newTerminal: () => string,
): Reaction {
  if (random.chance(rude)) {
    if (random.chance(0.3)) {
      return { kind: "refuse", code: random.pick([-32601, -32603, -32000]), meant: "invalid" };
    }
    if (!method.startsWith("terminal/")) {
      return { kind: "answer", result: random.pick(NONSENSE), meant: "invalid" };
    }
  }
  switch (method) {
    case "session/request_permission":
      return permission(params, random);
    case "elicitation/create":
      return elicitation(params, random);
    case "fs/read_text_file":
      return { kind: "answer", result: { content: "text" }, meant: "" };
    case "terminal/create": {
      const made = newTerminal();
      return { kind: "answer", result: { terminalId: made }, meant: made, made };
    }
    case "terminal/output":
      return { kind: "answer", result: { output: "text", truncated: false }, meant: "" };
    case "terminal/wait_for_exit":
      return { kind: "answer", result: { exitCode: 0 }, meant: "" };
    default:
      return { kind: "answer", result: {}, meant: "" };
  }
}

function permission(params: JsonObject, random: Random): Reaction {
  if (random.chance(0.12)) {
    return {
      kind: "answer",
      result: { outcome: { outcome: "cancelled" } },
      meant: meant({ kind: "cancel" }),
    };
  }
  const options = params.options as readonly { readonly optionId: string }[];
  const { optionId } = random.pick(options);
  return {
    kind: "answer",
    result: { outcome: { outcome: "selected", optionId } },
    meant: meant({ kind: "option", optionId }),
  };
}

function elicitation(params: JsonObject, random: Random): Reaction {
  const action = random.weighted([[6, "accept"], [1, "decline"], [1, "cancel"]] as const);
  if (action !== "accept") return { kind: "answer", result: { action }, meant: meant({ kind: action }) };
  const schema = params.requestedSchema as { readonly properties: { readonly [name: string]: JsonObject } };
  if ("answer" in schema.properties) {
    const optionId = random.pick(["left", "right"]);
    return {
      kind: "answer",
      result: { action, content: { answer: optionId } },
      meant: meant({ kind: "option", optionId }),
    };
  }
  const content: JsonObject = {
    name: random.pick(["Ann", "Bo"]),
    count: random.between(0, 10),
    sure: random.chance(0.5),
    colour: random.pick(["red", "blue"]),
    ...(random.chance(0.5) ? { some: ["a"] } : {}),
  };
  return { kind: "answer", result: { action, content }, meant: meant({ kind: "values", values: content }) };
}

function meant(answer: JsonObject): string {
  return JSON.stringify(answer);
}
