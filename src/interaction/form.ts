import type { FormChoice, FormField, Interaction } from "../model/question.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Redact } from "../model/redact.ts";

/** The one field of the form that a plain question becomes. */
export const ANSWER_FIELD = "answer";

/** The fields that an Interaction asks for: a form's own, or the single choice of a question. */
export function formFields(interaction: Interaction): readonly FormField[] {
  if (interaction.kind === "form") return interaction.fields ?? [];
  return [{
    name: ANSWER_FIELD,
    title: "Answer",
    required: true,
    type: "enum",
    choices: interaction.options.map((option) => ({
      value: option.optionId,
      title: option.description === undefined ? option.name : `${option.name}: ${option.description}`,
    })),
  }];
}

/** The fields as ACP's restricted JSON Schema, every constraint kept; defaults are hints for the person. */
export function formSchema(fields: readonly FormField[], redact: Redact): JsonObject {
  const required = fields.filter((field) => field.required).map((field) => field.name);
  return present({
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field, redact)])),
    required: required.length === 0 ? undefined : required,
  });
}

function propertyOf(field: FormField, redact: Redact): JsonObject {
  return present({
    title: field.title === undefined ? undefined : redact(field.title),
    description: field.description === undefined ? undefined : redact(field.description),
    ...constraintsOf(field, redact),
    default: field.default,
  });
}

function constraintsOf(field: FormField, redact: Redact): Sparse {
  switch (field.type) {
    case "string": {
      const { type, minLength, maxLength, pattern, format } = field;
      return { type, minLength, maxLength, pattern, format };
    }
    case "number":
    case "integer": {
      const { type, minimum, maximum } = field;
      return { type, minimum, maximum };
    }
    case "boolean":
      return { type: "boolean" };
    case "enum":
      return titled(field.choices)
        ? { type: "string", oneOf: optionsOf(field.choices, redact) }
        : { type: "string", enum: field.choices.map((choice) => choice.value) };
    case "multi_enum": {
      const { minItems, maxItems } = field;
      const items: JsonObject = titled(field.choices)
        ? { anyOf: optionsOf(field.choices, redact) }
        : { type: "string", enum: field.choices.map((choice) => choice.value) };
      return { type: "array", items, minItems, maxItems };
    }
  }
}

function titled(choices: readonly FormChoice[]): boolean {
  return choices.some((choice) => choice.title !== undefined);
}

function optionsOf(choices: readonly FormChoice[], redact: Redact): readonly JsonObject[] {
  return choices.map((choice) => ({ const: choice.value, title: redact(choice.title ?? choice.value) }));
}

type Sparse = { readonly [name: string]: Json | undefined };

/** Leaves out what is undefined. */
function present(fields: Sparse): JsonObject {
  const entries = Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
