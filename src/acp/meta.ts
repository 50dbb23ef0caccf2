import { LIMITS } from "../limits.ts";
import type { Meta } from "../model/json.ts";

/** Opaque data that is small enough to pass through; else nothing. */
export function boundedMeta(meta: unknown): Meta | undefined {
  if (typeof meta !== "object" || meta === null) return undefined;
  try {
    return JSON.stringify(meta).length <= LIMITS.metaBytes ? meta as Meta : undefined;
  } catch {
    // Nested too deeply to be written.
    return undefined;
  }
}
