import type { Json, JsonObject, Meta } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";

/** An object's members; none for anything else, so that what an agent sends can be looked into whatever it is. */
export function recordOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}

/** Whether JSON holds an object. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of a list; none for anything else. */
export function recordsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A text; undefined for anything else. */
export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A number that JSON can hold; undefined for anything else. */
export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Metadata that says something and is within its bound; undefined for any other. */
export function metaOf(value: Json | undefined): Meta | undefined {
  if (!isRecord(value)) return undefined;
  const { length } = JSON.stringify(value);
  return length > 2 && length <= LIMITS.metaBytes ? value : undefined;
}

/** A text of at most `most` UTF-16 units, cut visibly and never inside a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
