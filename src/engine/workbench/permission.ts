import { Denial, ToolFailure } from "./failure.ts";
import type { GrantScope } from "../../model/question.ts";
import type { Job } from "./job.ts";

/** What wants to be allowed. */
export interface Wish {
  readonly toolCallId: string;
  readonly scope: GrantScope & { readonly what: "write" | "run" };
  /** As in "write notes.md" and "run make": follows "may". */
  readonly deed: string;
}

type Rule = "allow" | "ask" | "refuse";

const RULES: { readonly [mode: string]: { readonly write: Rule; readonly run: Rule } } = {
  ask: { write: "ask", run: "ask" },
  accept_edits: { write: "allow", run: "ask" },
  read_only: { write: "refuse", run: "refuse" },
};

/** What the Session's present mode says about an action; a mode that is not known asks. */
export function ruleOf(job: Job, what: "write" | "run"): Rule {
  const option = job.context.config().options.find(({ id }) => id === "mode");
  const mode = typeof option?.value === "string" ? option.value : "ask";
  return RULES[mode]?.[what] ?? "ask";
}

/** Throws where the mode forbids the action. */
export function forbidReadOnly(job: Job, { scope, deed }: Wish): void {
  if (ruleOf(job, scope.what) !== "refuse") return;
  throw new ToolFailure(`The Session is in the mode "read_only", so the workbench did not ${deed}`);
}

/**
 * Returns when the action is allowed: `asked` tells whether a person was waited for. Throws a {@linkcode ToolFailure}
 * where the mode forbids it and a {@linkcode Denial} where the person does.
 */
export async function permit(job: Job, wish: Wish): Promise<"allowed" | "asked"> {
  forbidReadOnly(job, wish);
  if (ruleOf(job, wish.scope.what) === "allow") return "allowed";
  const answer = await job.ask({
    kind: "permission",
    toolCallId: wish.toolCallId,
    message: `May the workbench ${wish.deed}?`,
    options: [
      { optionId: "allow_once", name: "Allow once", effect: "allow" },
      {
        optionId: "allow_always",
        name: `Always ${wish.deed} in this Session`,
        description: "Allows exactly this, without asking again, until the Session is deleted",
        effect: "allow",
        scope: wish.scope,
      },
      { optionId: "reject_once", name: "Reject", effect: "deny" },
      {
        optionId: "reject_always",
        name: `Never ${wish.deed} in this Session`,
        description: "Refuses exactly this, without asking again, until the Session is deleted",
        effect: "deny",
        scope: wish.scope,
      },
    ],
  });
  const allowed = answer.kind === "option" &&
    (answer.optionId === "allow_once" || answer.optionId === "allow_always");
  if (!allowed) throw new Denial(`You did not let the workbench ${wish.deed}`);
  // The mode may have been changed while the question was open.
  forbidReadOnly(job, wish);
  return "asked";
}
