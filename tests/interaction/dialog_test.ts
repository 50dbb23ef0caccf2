import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ALLOW, ALWAYS, asked, DENY, FORM, NEVER, QUESTION } from "./asked.ts";
import { dialogOf } from "../../src/interaction/mod.ts";
import { INPUT, projection, RUN } from "../projection/frames.ts";
import type { Interaction } from "../../src/model/question.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { ProtocolSchema } from "../support/schema.ts";

const schema = new ProtocolSchema();

interface Shown extends JsonObject {
  readonly method: string;
  readonly params: JsonObject;
}

/** The request of an Interaction, held against the protocol's schema. */
function shown(interaction: Interaction, context: Partial<Parameters<typeof dialogOf>[1]> = {}): Shown {
  const dialog = dialogOf(interaction, { sessionId: "s", abilities: { forms: true }, ...context });
  assert("method" in dialog, JSON.stringify(dialog));
  assertEquals(schema.check("client", dialog.method, "Request", dialog.params), []);
  return { method: dialog.method, params: dialog.params };
}

function unsupported(interaction: Interaction, forms = true): string {
  const dialog = dialogOf(interaction, { sessionId: "s", abilities: { forms } });
  assert("unsupported" in dialog, JSON.stringify(dialog));
  return dialog.unsupported;
}

for (const kind of ["permission", "sandbox_boundary", "client_capability"] as const) {
  Deno.test(`[I1] a ${kind} is a permission request, with each option's kind by effect and scope`, () => {
    const { method, params } = shown(asked({ kind }), { abilities: { forms: false } });
    assertEquals(method, "session/request_permission");
    assertEquals(params.options, [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "always", name: "Always allow (run npm test, for this session)", kind: "allow_always" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
      {
        optionId: "never",
        name: "Never (write /w/secret, from now on, in every session)",
        kind: "reject_always",
      },
    ]);
  });
}

Deno.test("[I2] the whole scope of a lasting permission is in the option's name, however long it lasts", () => {
  for (
    const [until, words] of [["turn", "until this turn ends"], ["session", "for this session"], [
      "forever",
      "from now on, in every session",
    ]] as const
  ) {
    const value = `npm run build -- --target=${"x".repeat(200)}`;
    const { params } = shown(asked({ options: [{ ...ALWAYS, scope: { what: "run", value, until } }] }));
    assertEquals((params.options as JsonObject[])[0]?.name, `Always allow (run ${value}, ${words})`);
  }
  const open = { ...ALWAYS, scope: { what: "anything", value: "", until: "turn" as const } };
  const { params } = shown(asked({ options: [open] }));
  assertEquals((params.options as JsonObject[])[0]?.name, "Always allow (anything, until this turn ends)");
});

Deno.test("[I3] an option without an effect never looks like an approval", () => {
  const { params } = shown(asked({ options: [{ optionId: "x", name: "Something" }] }));
  assertEquals((params.options as JsonObject[])[0]?.kind, "reject_once");
});

Deno.test("[I9] the request carries the tool's card with command and path, and the question's words first", () => {
  const cards = projection();
  cards.apply({
    type: "tool_input",
    run: RUN,
    toolCallId: "c",
    input: { ...INPUT, locations: [{ path: "/w/a.ts" }] },
  }, 0);
  cards.hold("c", 0);
  const { params } = shown(asked({ toolCallId: "c", message: "May it?" }), { card: cards.card("c") });
  assertEquals(params.toolCall, {
    toolCallId: "c",
    title: "Run npm test",
    name: "run_command",
    kind: "execute",
    status: "pending",
    locations: [{ path: "/w/a.ts" }],
    rawInput: { command: "npm test" },
    content: [{ type: "content", content: { type: "text", text: "May it?" } }],
  });
  const same = shown(asked({ toolCallId: "c", message: "Run npm test" }), { card: cards.card("c") });
  assertEquals(
    (same.params.toolCall as JsonObject).content,
    [],
    "words that the title says are not said twice",
  );
});

Deno.test("[I9] a question about no tool has a card of its own that names it", () => {
  const { params } = shown(asked({ message: "Leave the sandbox?" }));
  assertEquals(params.toolCall, {
    toolCallId: "i1",
    title: "Leave the sandbox?",
    kind: "other",
    status: "pending",
  });
});

Deno.test("[I1] a question is a form with one choice", () => {
  const { method, params } = shown(QUESTION);
  assertEquals(method, "elicitation/create");
  assertEquals(params, {
    sessionId: "s",
    mode: "form",
    message: "Which colour?",
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          title: "Answer",
          type: "string",
          oneOf: [{ const: "r", title: "Red" }, { const: "b", title: "Blue: like the sky" }],
        },
      },
      required: ["answer"],
    },
  });
});

Deno.test("[I1] a form keeps types, constraints, titles and defaults", () => {
  const { params } = shown({ ...FORM, toolCallId: "c" });
  assertEquals(params.toolCallId, "c");
  assertEquals(params.requestedSchema, {
    type: "object",
    properties: {
      name: {
        title: "Name",
        description: "Who",
        type: "string",
        minLength: 2,
        maxLength: 5,
        pattern: "^[a-z]+$",
        default: "abc",
      },
      mail: { type: "string", format: "email" },
      site: { type: "string", format: "uri" },
      day: { type: "string", format: "date" },
      when: { type: "string", format: "date-time" },
      ratio: { type: "number", minimum: 0, maximum: 1, default: 0.5 },
      count: { type: "integer", minimum: 1, maximum: 10 },
      sure: { type: "boolean", default: false },
      size: { type: "string", enum: ["s", "m"], default: "m" },
      colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "b", title: "b" }] },
      tags: {
        type: "array",
        items: { type: "string", enum: ["x", "y", "z"] },
        minItems: 1,
        maxItems: 2,
        default: ["x"],
      },
      parts: { type: "array", items: { anyOf: [{ const: "p", title: "Part" }] } },
    },
    required: ["name"],
  });
});

Deno.test("[I5] an editor without forms is told so, and a question never becomes a permission", () => {
  assertStringIncludes(unsupported(QUESTION, false), "question");
  assertStringIncludes(unsupported(FORM, false), "form");
});

Deno.test("[I5] what nobody could answer is unsupported, with a sentence", () => {
  assertStringIncludes(unsupported(asked({ options: [] })), "without offering an answer");
  assertStringIncludes(unsupported({ ...QUESTION, options: [] }), "without offering an answer");
  const twice = { name: "a", required: false, type: "boolean" } as const;
  assertStringIncludes(unsupported({ ...FORM, fields: [twice, twice] }), "two fields of one name");
  const broken = { name: "a", required: false, type: "string", pattern: "(" } as const;
  assertStringIncludes(unsupported({ ...FORM, fields: [broken] }), "no regular expression");
  const choices = Array.from({ length: 5000 }, (_, at) => ({ value: `value ${at}`, title: `Title ${at}` }));
  const large = { name: "a", required: false, type: "enum", choices } as const;
  assertStringIncludes(unsupported({ ...FORM, fields: [large] }), "too large");
});

Deno.test("[A1] [I9] a long question and a large card stay under the line cap", () => {
  const cards = projection();
  const input = { ...INPUT, title: "語".repeat(5000), raw: { text: "r".repeat(8000) } };
  cards.apply({ type: "tool_input", run: RUN, toolCallId: "c", input }, 0);
  cards.apply({
    type: "tool_output",
    run: RUN,
    toolCallId: "c",
    seq: 0,
    stream: "stdout",
    redacted: false,
    text: "語".repeat(60_000),
  }, 0);
  const { params } = shown(asked({ toolCallId: "c", message: "語".repeat(50_000) }), {
    card: cards.card("c"),
  });
  const [words] = (params.toolCall as { content: { content: { text: string } }[] }).content;
  assert(words?.content.text.endsWith("語…"));
});

Deno.test("[K2] secrets are taken out of dialogs", () => {
  const secret = "https://me:hunter2@example.org";
  const texts = [
    shown(
      asked({
        message: secret,
        options: [{ ...ALLOW, name: secret }, { ...NEVER, scope: { ...ALWAYS.scope!, value: secret } }],
      }),
    ),
    shown({ ...QUESTION, message: secret, options: [{ ...DENY, name: secret, description: secret }] }),
    shown({
      ...FORM,
      message: secret,
      fields: [
        { name: "a", title: secret, description: secret, required: false, type: "boolean" },
        { name: "b", required: false, type: "multi_enum", choices: [{ value: "x", title: secret }] },
      ],
    }),
  ].map((dialog) => JSON.stringify(dialog));
  for (const text of texts) assert(!text.includes("hunter2") && text.includes("me:[redacted]@"), text);
});
