import type { FormChoice, FormField } from "../../model/question.ts";
import type { StepError } from "./step.ts";

type Wrong = (detail: string) => StepError;

/** NAME, `?` where it may stay empty, TYPE, arguments in brackets, a default. */
const FIELD = /^([A-Za-z_][A-Za-z0-9_-]*)(\?)?:([a-z-]+)(?:\(([^()]*)\))?(?:=(\S+))?(?:\s+|$)/;

/** Reads `NAME:TYPE …` as the fields of a form. Throws what `wrong` makes of the first fault. */
export function parseFields(text: string, wrong: Wrong): FormField[] {
  const fields: FormField[] = [];
  let left = text;
  while (left !== "") {
    const found = FIELD.exec(left);
    if (found === null) {
      throw wrong(`"${left.split(/\s/, 1)[0]}" is not NAME:TYPE, NAME:TYPE(…) or NAME:TYPE=DEFAULT`);
    }
    const [whole, name = "", optional, type = "", inside, preset] = found;
    if (fields.some((field) => field.name === name)) throw wrong(`"${name}" is there twice`);
    fields.push(fieldOf({ name, required: optional === undefined }, type, inside, preset, wrong));
    left = left.slice(whole.length);
  }
  return fields;
}

function fieldOf(
  base: { name: string; required: boolean },
  type: string,
  inside: string | undefined,
  preset: string | undefined,
  wrong: Wrong,
): FormField {
  switch (type) {
    case "string": {
      const [minLength, maxLength] = boundsOf(base.name, inside, wrong);
      return { ...base, type, minLength, maxLength, default: preset };
    }
    case "email":
    case "uri":
    case "date":
    case "date-time":
      if (inside !== undefined) throw wrong(`"${base.name}" of type ${type} takes nothing in brackets`);
      return { ...base, type: "string", format: type, default: preset };
    case "number":
    case "integer": {
      const [minimum, maximum] = boundsOf(base.name, inside, wrong);
      const value = preset === undefined ? undefined : numberOf(preset);
      if (value !== undefined && (Number.isNaN(value) || (type === "integer" && !Number.isInteger(value)))) {
        throw wrong(`the default of "${base.name}" must be a number of its type`);
      }
      return { ...base, type, minimum, maximum, default: value };
    }
    case "boolean":
      if (inside !== undefined) throw wrong(`"${base.name}" of type boolean takes nothing in brackets`);
      if (preset !== undefined && preset !== "true" && preset !== "false") {
        throw wrong(`the default of "${base.name}" must be true or false`);
      }
      return { ...base, type, default: preset === undefined ? undefined : preset === "true" };
    case "enum": {
      const choices = choicesOf(base.name, inside, wrong);
      if (preset !== undefined) mustOffer(base.name, choices, [preset], wrong);
      return { ...base, type, choices, default: preset };
    }
    case "multi": {
      const choices = choicesOf(base.name, inside, wrong);
      const values = preset?.split(",");
      if (values !== undefined) mustOffer(base.name, choices, values, wrong);
      return { ...base, type: "multi_enum", choices, default: values };
    }
    default:
      throw wrong(
        `"${type}" is none of string, number, integer, boolean, email, uri, date, date-time, enum, multi`,
      );
  }
}

/** `1..20`, `1..` and `..20`; both ends are meant too. */
function boundsOf(
  name: string,
  inside: string | undefined,
  wrong: Wrong,
): [number | undefined, number | undefined] {
  if (inside === undefined) return [undefined, undefined];
  const found = /^(-?[\d.]*?)\.\.(-?[\d.]*)$/.exec(inside);
  const least = numberOf(found?.[1] ?? "?");
  const most = numberOf(found?.[2] ?? "?");
  if (Number.isNaN(least) || Number.isNaN(most) || (least ?? -Infinity) > (most ?? Infinity)) {
    throw wrong(`the bounds of "${name}" must look like (1..20)`);
  }
  return [least, most];
}

/** Undefined for nothing, NaN for what is not a number. */
function numberOf(text: string): number | undefined {
  return text === "" ? undefined : Number(text);
}

function choicesOf(name: string, inside: string | undefined, wrong: Wrong): FormChoice[] {
  const values = inside?.split(",").map((value) => value.trim()) ?? [];
  if (values.length === 0 || values.includes("") || new Set(values).size !== values.length) {
    throw wrong(`"${name}" needs different choices in brackets, like (red,green)`);
  }
  return values.map((value) => ({ value }));
}

function mustOffer(
  name: string,
  choices: readonly FormChoice[],
  values: readonly string[],
  wrong: Wrong,
): void {
  if (!values.every((value) => choices.some((choice) => choice.value === value))) {
    throw wrong(`the default of "${name}" must be one of its choices`);
  }
}
