import type { FormField, FormValues } from "../model/question.ts";

type Value = FormValues[string];

/** Checked values, or which field is wrong and how; never what was typed. */
export type ValuesResult = { readonly values: FormValues } | { readonly invalid: string };

/** Checks a Client's form values against the fields that were asked for: names, types and every bound. */
export function checkValues(
  fields: readonly FormField[],
  content: { readonly [name: string]: unknown },
): ValuesResult {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const values: [string, Value][] = [];
  for (const [name, value] of Object.entries(content)) {
    const field = byName.get(name);
    if (field === undefined) return { invalid: "The editor's form has a field that was not asked for" };
    if (!hasType(field, value)) return { invalid: `The form field "${name}" has the wrong type` };
    const fault = faultOf(field, value);
    if (fault !== undefined) return { invalid: `The form field "${name}" ${fault}` };
    values.push([name, value]);
  }
  const missing = fields.find((field) => field.required && !Object.hasOwn(content, field.name));
  if (missing !== undefined) return { invalid: `The form field "${missing.name}" is required` };
  return { values: Object.fromEntries(values) };
}

/** Compiles a field's pattern; undefined where it is no regular expression. */
export function patternOf(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Patterns written for other dialects may need the older grammar.
    }
  }
  return undefined;
}

function hasType(field: FormField, value: unknown): value is Value {
  switch (field.type) {
    case "string":
    case "enum":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "multi_enum":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
  }
}

/** What is wrong with a value of the right type. */
function faultOf(field: FormField, value: Value): string | undefined {
  switch (field.type) {
    case "string":
      return typeof value === "string" ? stringFault(field, value) : undefined;
    case "number":
    case "integer":
      if (typeof value !== "number") return undefined;
      if (field.minimum !== undefined && value < field.minimum) return `is below ${field.minimum}`;
      if (field.maximum !== undefined && value > field.maximum) return `is above ${field.maximum}`;
      return undefined;
    case "boolean":
      return undefined;
    case "enum":
      return field.choices.some((choice) => choice.value === value) ? undefined : "is not one of the choices";
    case "multi_enum": {
      if (!Array.isArray(value)) return undefined;
      const offered = new Set(field.choices.map((choice) => choice.value));
      if (!value.every((item) => offered.has(item))) return "holds something that is not one of the choices";
      if (new Set(value).size !== value.length) return "holds a choice twice";
      if (field.minItems !== undefined && value.length < field.minItems) {
        return `needs at least ${field.minItems} choices`;
      }
      if (field.maxItems !== undefined && value.length > field.maxItems) {
        return `takes at most ${field.maxItems} choices`;
      }
      return undefined;
    }
  }
}

function stringFault(field: Extract<FormField, { type: "string" }>, value: string): string | undefined {
  if (field.minLength !== undefined && value.length < field.minLength) {
    return `is shorter than ${field.minLength} characters`;
  }
  if (field.maxLength !== undefined && value.length > field.maxLength) {
    return `is longer than ${field.maxLength} characters`;
  }
  if (field.pattern !== undefined && !patternOf(field.pattern)?.test(value)) {
    return "does not fit its pattern";
  }
  if (field.format !== undefined && !FORMATS[field.format](value)) return `is not a valid ${field.format}`;
  return undefined;
}

const FORMATS: {
  readonly [format in NonNullable<Extract<FormField, { type: "string" }>["format"]>]: (
    value: string,
  ) => boolean;
} = {
  email: (value) => /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(value),
  uri: (value) => /^[a-z][a-z0-9+.\-]*:[^\s]+$/i.test(value) && URL.canParse(value),
  date: isDate,
  "date-time": (value) => {
    const match =
      /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
        .exec(value);
    return match !== null && isDate(match[1] ?? "");
  },
};

function isDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const at = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value);
}
