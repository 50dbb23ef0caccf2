import type { Answer, FormChoice, FormField, Question, QuestionOption } from "../../model/question.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { isRecord, metaOf, numberOf, recordOf, recordsOf, textOf } from "./shape.ts";

/** A permission request of an agent as a question; undefined where it offers nothing to choose. */
export function permissionOf(
  params: JsonObject,
  tool: { readonly id: string | undefined; readonly title: string | undefined },
): Question | undefined {
  const options = recordsOf(params.options).flatMap((option): QuestionOption[] => {
    const { optionId, name, kind, _meta } = option;
    if (typeof optionId !== "string") return [];
    const said = String(kind);
    const meta = metaOf(_meta);
    return [{
      optionId,
      name: textOf(name) ?? optionId,
      // What is not plainly an approval must not look like one.
      effect: said.startsWith("allow_") ? "allow" : "deny",
      // The agent remembers what was allowed always, and knows how far that reaches; the Host does not.
      ...(said.endsWith("_always") && { lasting: true }),
      ...(meta !== undefined && { meta }),
    }];
  });
  if (options.length === 0) return undefined;
  const meta = metaOf(params._meta);
  return {
    kind: "permission",
    ...(tool.id !== undefined && { toolCallId: tool.id }),
    message: tool.title ?? "The agent asks for a permission",
    options,
    ...(meta !== undefined && { meta }),
  };
}

/** The answer to a permission request. */
export function permissionAnswer(answer: Answer | undefined): JsonObject {
  return {
    outcome: answer?.kind === "option"
      ? { outcome: "selected", optionId: answer.optionId }
      : { outcome: "cancelled" },
    ...(answer?.meta !== undefined && { _meta: answer.meta }),
  };
}

/** A form of an agent as a question; undefined for what is no form that can be shown. */
export function formOf(params: JsonObject, toolCallId: string | undefined): Question | undefined {
  const { message, mode, requestedSchema } = params;
  const { properties, required } = recordOf(requestedSchema);
  if ((mode !== undefined && mode !== "form") || !isRecord(properties)) return undefined;
  const fields: FormField[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const field = fieldOf(name, recordOf(property), Array.isArray(required) && required.includes(name));
    if (field === undefined) return undefined;
    fields.push(field);
  }
  if (fields.length === 0) return undefined;
  const meta = metaOf(params._meta);
  return {
    kind: "form",
    ...(toolCallId !== undefined && { toolCallId }),
    message: textOf(message) ?? "",
    options: [],
    fields,
    ...(meta !== undefined && { meta }),
  };
}

/** A page that a person is sent to, as a question; undefined where it is not said which. */
export function pageOf(params: JsonObject, toolCallId: string | undefined): Question | undefined {
  const { message, url, elicitationId } = params;
  if (typeof url !== "string" || !URL.canParse(url) || typeof elicitationId !== "string") return undefined;
  const meta = metaOf(params._meta);
  return {
    kind: "url",
    ...(toolCallId !== undefined && { toolCallId }),
    message: textOf(message) ?? "",
    options: [],
    page: { url, elicitationId },
    ...(meta !== undefined && { meta }),
  };
}

/** The answer to a form, or to a page, which has no values. */
export function formAnswer(answer: Answer | undefined, kind: "form" | "url" = "form"): JsonObject {
  const extra: JsonObject = answer?.meta === undefined ? {} : { _meta: answer.meta };
  if (answer?.kind === "values") {
    return { action: "accept", ...(kind === "form" && { content: answer.values }), ...extra };
  }
  return { action: answer?.kind === "decline" ? "decline" : "cancel", ...extra };
}

function fieldOf(name: string, property: JsonObject, required: boolean): FormField | undefined {
  const { title, description, type } = property;
  const base = {
    name,
    required,
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
  switch (type) {
    case "string":
      return stringField(base, property);
    case "number":
    case "integer":
      return {
        ...base,
        type,
        minimum: numberOf(property.minimum),
        maximum: numberOf(property.maximum),
        default: numberOf(property.default),
      };
    case "boolean":
      return { ...base, type, default: typeof property.default === "boolean" ? property.default : undefined };
    case "array": {
      const { items, minItems, maxItems, default: preset } = property;
      const { anyOf, oneOf, enum: values } = recordOf(items);
      const choices = choicesOf(anyOf ?? oneOf, values);
      if (choices === undefined) return undefined;
      return {
        ...base,
        type: "multi_enum",
        choices,
        minItems: numberOf(minItems),
        maxItems: numberOf(maxItems),
        default: Array.isArray(preset) ? preset.filter((value) => typeof value === "string") : undefined,
      };
    }
    default:
      return undefined;
  }
}

type Base = Pick<FormField, "name" | "required" | "title" | "description">;

function stringField(base: Base, property: JsonObject): FormField {
  const preset = textOf(property.default);
  const choices = choicesOf(property.oneOf ?? property.anyOf, property.enum);
  if (choices !== undefined) return { ...base, type: "enum", choices, default: preset };
  const { minLength, maxLength, pattern, format } = property;
  const known = ["email", "uri", "date", "date-time"] as const;
  return {
    ...base,
    type: "string",
    minLength: numberOf(minLength),
    maxLength: numberOf(maxLength),
    pattern: textOf(pattern),
    format: known.find((each) => each === format),
    default: preset,
  };
}

function choicesOf(titled: Json | undefined, values: Json | undefined): readonly FormChoice[] | undefined {
  const named = recordsOf(titled).flatMap((choice): FormChoice[] => {
    const { const: value, title } = choice;
    return typeof value === "string" ? [{ value, title: textOf(title) }] : [];
  });
  if (named.length > 0) return named;
  if (!Array.isArray(values)) return undefined;
  const plain = values.filter((value) => typeof value === "string").map((value): FormChoice => ({ value }));
  return plain.length > 0 ? plain : undefined;
}
