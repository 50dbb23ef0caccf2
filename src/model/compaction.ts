import type { Block } from "./block.ts";
import type { Meta } from "./json.ts";

/** How an Engine makes room in its context, as far as it is. A later one of the same id replaces what it names. */
export interface Compaction {
  /** Unique in the Session. */
  readonly compactionId: string;
  /** How far it is. */
  readonly status: "in_progress" | "completed" | "failed";
  /** What is left of the conversation, for people. */
  readonly summary?: readonly Block[];
  /** Why it failed. */
  readonly error?: string;
  /** Passed through unread. */
  readonly meta?: Meta;
}
