/** One step of a plan. The list is always sent whole. */
export interface PlanEntry {
  readonly content: string;
  readonly priority: "high" | "medium" | "low";
  readonly status: "pending" | "in_progress" | "completed";
}

/** Tokens in the context now, of the window that is known; money spent so far where known. */
export interface Usage {
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** A slash command, without the slash. `hint` is set where it takes input. */
export interface Command {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
}
