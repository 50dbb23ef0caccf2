import type { FormField, Interaction, QuestionOption } from "../../src/model/question.ts";

export const ALLOW: QuestionOption = { optionId: "allow", name: "Allow", effect: "allow" };
export const ALWAYS: QuestionOption = {
  optionId: "always",
  name: "Always allow",
  effect: "allow",
  scope: { what: "run", value: "npm test", until: "session" },
};
export const DENY: QuestionOption = { optionId: "deny", name: "Deny", effect: "deny" };
export const NEVER: QuestionOption = {
  optionId: "never",
  name: "Never",
  effect: "deny",
  scope: { what: "write", value: "/w/secret", until: "forever" },
};

/** A question about permission with all kinds of options, unless changed. */
export function asked(change: Partial<Interaction> = {}): Interaction {
  return {
    interactionId: "i1",
    run: { turnId: "t", runId: "r" },
    kind: "permission",
    message: "Run npm test?",
    options: [ALLOW, ALWAYS, DENY, NEVER],
    ...change,
  };
}

export const QUESTION: Interaction = asked({
  kind: "question",
  message: "Which colour?",
  options: [
    { optionId: "r", name: "Red" },
    { optionId: "b", name: "Blue", description: "like the sky" },
  ],
});

export const FIELDS: readonly FormField[] = [
  {
    name: "name",
    title: "Name",
    description: "Who",
    required: true,
    type: "string",
    minLength: 2,
    maxLength: 5,
    pattern: "^[a-z]+$",
    default: "abc",
  },
  { name: "mail", required: false, type: "string", format: "email" },
  { name: "site", required: false, type: "string", format: "uri" },
  { name: "day", required: false, type: "string", format: "date" },
  { name: "when", required: false, type: "string", format: "date-time" },
  { name: "ratio", required: false, type: "number", minimum: 0, maximum: 1, default: 0.5 },
  { name: "count", required: false, type: "integer", minimum: 1, maximum: 10 },
  { name: "sure", required: false, type: "boolean", default: false },
  { name: "size", required: false, type: "enum", choices: [{ value: "s" }, { value: "m" }], default: "m" },
  {
    name: "colour",
    required: false,
    type: "enum",
    choices: [{ value: "r", title: "Red" }, { value: "b" }],
  },
  {
    name: "tags",
    required: false,
    type: "multi_enum",
    choices: [{ value: "x" }, { value: "y" }, { value: "z" }],
    minItems: 1,
    maxItems: 2,
    default: ["x"],
  },
  { name: "parts", required: false, type: "multi_enum", choices: [{ value: "p", title: "Part" }] },
];

export const FORM: Interaction = asked({ kind: "form", message: "Fill in", options: [], fields: FIELDS });
