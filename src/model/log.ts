import type { JsonObject } from "./json.ts";

/** Where diagnostics go; never stdout. Messages hold no secrets. */
export interface Log {
  /** What only helps to find a fault. */
  debug(message: string, data?: JsonObject): void;
  /** What happened. */
  info(message: string, data?: JsonObject): void;
  /** What should not have happened but did no harm. */
  warn(message: string, data?: JsonObject): void;
  /** What failed. */
  error(message: string, data?: JsonObject): void;
}

/** A log that says nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
