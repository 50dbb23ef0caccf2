import { z } from "zod";
import type { JsonObject } from "../../model/json.ts";

/** Says whether a value that came in is one of ours. Fields that it does not know pass through with the value, which is not copied. */
export type Shape<T> = z.ZodType<T>;

/** An object with these fields, and perhaps others. */
export function shape<T>(fields: z.ZodRawShape): Shape<T> {
  return same<T>(z.looseObject(fields));
}

/** An object whose field `key` says which of the variants it is. */
export function variants<T>(
  key: string,
  table: { readonly [name: string]: z.ZodRawShape },
): Shape<T> {
  const shapes = new Map(Object.entries(table).map(([name, fields]) => [name, z.looseObject(fields)]));
  return z.custom<T>(
    (value) => isObject(value) && shapes.get(String(value[key]))?.safeParse(value).success === true,
    {
      error: ({ input }) => {
        if (!isObject(input)) return "expected an object";
        const found = shapes.get(String(input[key]));
        if (found === undefined) return `"${key}" is none of ${[...shapes.keys()].join(", ")}`;
        return found.safeParse(input).error?.issues.map(sentence)[0] ?? "";
      },
    },
  );
}

/** The value itself where it fits. */
function same<T>(inner: z.ZodType): Shape<T> {
  return z.custom<T>((value) => inner.safeParse(value).success, {
    error: ({ input }) => inner.safeParse(input).error?.issues.map(sentence)[0] ?? "",
  });
}

/** What is wrong with a value, in a few words that do not repeat it; undefined where it fits. */
export function faultOf(fits: z.ZodType, value: unknown): string | undefined {
  const { error } = fits.safeParse(value);
  return error?.issues.map(sentence)[0];
}

/** Whether it is an object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sentence({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `"${path.join(".")}": ${message}`;
}
