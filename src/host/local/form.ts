import type { FormField, FormValues } from "../../model/question.ts";

type Value = FormValues[string];
type FieldOf<T extends FormField["type"]> = Extract<FormField, { type: T }>;

const FORMATS: { readonly [format: string]: (text: string) => boolean } = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text)),
};

/** What is wrong with the values of a form, as a sentence for people; undefined where nothing is. */
export function faultOf(fields: readonly FormField[], values: FormValues): string | undefined {
  const known = new Set(fields.map((field) => field.name));
  const extra = Object.keys(values).find((name) => !known.has(name));
  if (extra !== undefined) return `The form has no field "${extra}"`;
  for (const field of fields) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    if (value === undefined) {
      if (field.required) return `The field "${field.name}" is missing`;
      continue;
    }
    const fault = valueFault(field, value);
    if (fault !== undefined) return `The field "${field.name}" ${fault}`;
  }
  return undefined;
}

function valueFault(field: FormField, value: Value): string | undefined {
  switch (field.type) {
    case "string":
      return stringFault(field, value);
    case "number":
    case "integer":
      return numberFault(field, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : "has to be true or false";
    case "enum":
      return field.choices.some((choice) => choice.value === value)
        ? undefined
        : "has to be one of its choices";
    case "multi_enum":
      return choicesFault(field, value);
  }
}

function stringFault(field: FieldOf<"string">, value: Value): string | undefined {
  if (typeof value !== "string") return "has to be text";
  if (value.length < (field.minLength ?? 0)) return `has to have at least ${field.minLength} characters`;
  if (value.length > (field.maxLength ?? Infinity)) return `may have at most ${field.maxLength} characters`;
  if (field.pattern !== undefined && !matches(field.pattern, value)) {
    return "does not have the wanted pattern";
  }
  if (field.format !== undefined && FORMATS[field.format]?.(value) === false) {
    return `is not a valid ${field.format}`;
  }
  return undefined;
}

/** A pattern that cannot be read asks for nothing. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function numberFault(field: FieldOf<"number" | "integer">, value: Value): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "has to be a number";
  if (field.type === "integer" && !Number.isInteger(value)) return "has to be a whole number";
  if (value < (field.minimum ?? -Infinity)) return `has to be at least ${field.minimum}`;
  if (value > (field.maximum ?? Infinity)) return `may be at most ${field.maximum}`;
  return undefined;
}

function choicesFault(field: FieldOf<"multi_enum">, value: Value): string | undefined {
  if (!Array.isArray(value)) return "has to be a list of its choices";
  const chosen: readonly string[] = value;
  const offered = new Set(field.choices.map((choice) => choice.value));
  if (chosen.some((each) => !offered.has(each))) return "has to be a list of its choices";
  if (new Set(chosen).size !== chosen.length) return "names a choice twice";
  if (chosen.length < (field.minItems ?? 0)) return `needs at least ${field.minItems} choices`;
  if (chosen.length > (field.maxItems ?? Infinity)) return `may have at most ${field.maxItems} choices`;
  return undefined;
}
