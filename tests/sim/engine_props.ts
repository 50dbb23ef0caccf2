import type { FormField, InteractionKind, Question, QuestionOption } from "../../src/model/question.ts";
import type { ToolInput, ToolResult } from "../../src/model/tool.ts";
import type { Random } from "./random.ts";

const FIELDS: readonly FormField[] = [
  { name: "name", type: "string", required: true, minLength: 1, maxLength: 20 },
  { name: "count", type: "integer", required: true, minimum: 0, maximum: 10 },
  { name: "ratio", type: "number", required: false, minimum: 0, maximum: 1 },
  { name: "sure", type: "boolean", required: true, default: false },
  { name: "colour", type: "enum", required: true, choices: [{ value: "red" }, { value: "blue" }] },
  {
    name: "some",
    type: "multi_enum",
    required: false,
    choices: [{ value: "a" }, { value: "b" }],
    maxItems: 1,
  },
];

/** What a tool is asked to do, not yet complete. */
export function inputOf(random: Random, toolCallId: string, sensitive: boolean): ToolInput {
  return {
    complete: false,
    sensitive,
    title: `tool ${toolCallId}`,
    kind: random.pick(["read", "edit", "execute", "other"]),
    locations: random.chance(0.3) ? [{ path: "/w/a", line: 3 }] : [],
    raw: random.chance(0.5) ? { command: `run ${toolCallId}` } : undefined,
  };
}

/** How a tool ends. Its content names the tool, so that a card that shows it is known. */
export function resultOf(random: Random, toolCallId: string, most: number): ToolResult {
  const more = random.chance(0.05) ? "x".repeat(random.between(1, most)) : "";
  return {
    status: random.weighted([[8, "completed"], [2, "failed"], [1, "cancelled"]]),
    content: random.chance(0.9) ? [{ kind: "text", text: `result:${toolCallId} ${more}` }] : [],
    diffs: random.chance(0.2) ? [{ path: "/w/a", oldText: "one\r\ntwo\r\n", newText: "one\r\n2\r\n" }] : [],
    exitCode: random.chance(0.3) ? random.between(0, 2) : undefined,
  };
}

/** A question of any kind. Its words begin with its id. */
export function questionOf(random: Random, id: string, toolCallId: string | undefined): Question {
  const kind = random.weighted<InteractionKind>([
    [6, "permission"],
    [3, "question"],
    [3, "form"],
    [1, "sandbox_boundary"],
    [1, "client_capability"],
  ]);
  const message = `${id} may I?`;
  if (kind === "form") return { kind, toolCallId, message, options: [], fields: FIELDS };
  return { kind, toolCallId, message, options: kind === "question" ? choices() : permissions(random) };
}

function choices(): readonly QuestionOption[] {
  return [{ optionId: "left", name: "Left" }, { optionId: "right", name: "Right" }];
}

function permissions(random: Random): readonly QuestionOption[] {
  const scope = {
    what: "run",
    value: `command ${random.between(1, 3)}`,
    until: random.pick(["turn", "session", "forever"] as const),
  };
  return [
    { optionId: "yes", name: "Allow", effect: "allow" },
    { optionId: "always", name: "Always", effect: "allow", scope },
    { optionId: "no", name: "Refuse", effect: "deny" },
    { optionId: "never", name: "Never", effect: "deny", scope },
  ];
}
