import type { Meta } from "./json.ts";

/** Metadata of what is said about a Session as a whole, as it came last with each. Passed through unread. */
export interface SessionMetas {
  /** Of the list of commands. */
  readonly commands?: Meta;
  /** Of the title. */
  readonly title?: Meta;
  /** Of the options. */
  readonly options?: Meta;
  /** Of the mode. */
  readonly mode?: Meta;
}
