import type { FormField } from "../../model/question.ts";
import type { StopReason } from "../../model/run.ts";

/** One thing to do, read from a line of a prompt and checked. Counts and sizes are whole numbers within their bounds. */
export type Step =
  | { readonly name: "say" | "think" | "title" | "fail" | "rewrite"; readonly text: string }
  | { readonly name: "emit"; readonly count: number; readonly bytes: number }
  | { readonly name: "read"; readonly path: string }
  | { readonly name: "write"; readonly path: string; readonly text: string }
  | { readonly name: "edit"; readonly path: string; readonly before: string; readonly after: string }
  | { readonly name: "run"; readonly command: string }
  | { readonly name: "ask"; readonly question: string; readonly options: readonly string[] }
  | { readonly name: "form"; readonly fields: readonly FormField[] }
  | { readonly name: "plan"; readonly items: readonly string[] }
  | { readonly name: "sleep"; readonly ms: number }
  | { readonly name: "usage"; readonly used: number; readonly size: number }
  | { readonly name: "stop"; readonly reason: StopReason }
  | { readonly name: "background"; readonly ms: number; readonly text: string }
  | { readonly name: "flood"; readonly bytes: number }
  | { readonly name: "tools"; readonly count: number };

/** A line that cannot be done. The message is a sentence that names the step and says what it wants. */
export class StepError extends Error {
  /** `unknown`: there is no such step. `malformed`: its arguments are wrong. */
  readonly reason: "unknown" | "malformed";

  constructor(reason: "unknown" | "malformed", message: string) {
    super(message);
    this.name = "StepError";
    this.reason = reason;
  }
}
