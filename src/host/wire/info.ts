import type { JsonObject } from "../../model/json.ts";

/** What a Host tells of itself in the welcome. */
export interface HostInfo {
  /** Of the program, for people. */
  readonly version: string;
  /** Its process. */
  readonly pid?: number;
  /** Anything else, passed through unread. */
  readonly details?: JsonObject;
}

/** What a client tells of itself in the hello. */
export interface ClientInfo {
  /** Of the program, for people. */
  readonly name: string;
  /** Of the program, for people. */
  readonly version: string;
  /** Anything else, passed through unread. */
  readonly details?: JsonObject;
}
