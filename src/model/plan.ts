import type { Meta } from "./json.ts";

/** One step of a plan. The list is always sent whole. */
export interface PlanEntry {
  /** What is to be done. */
  readonly content: string;
  /** How much it matters. */
  readonly priority: "high" | "medium" | "low";
  /** How far it is. */
  readonly status: "pending" | "in_progress" | "completed";
  /** Passed through unread. */
  readonly meta?: Meta;
}

/** Tokens in the context now, of the window that is known; money spent so far where known. */
export interface Usage {
  /** Tokens in the context now. */
  readonly used: number;
  /** Tokens that the window holds. */
  readonly size: number;
  /** What the Session has cost so far. */
  readonly cost?: { readonly amount: number; readonly currency: string };
  /** Passed through unread. */
  readonly meta?: Meta;
}

/** A slash command, without the slash. `hint` is set where it takes input. */
export interface Command {
  /** Without a slash. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** What may follow it. */
  readonly hint?: string;
  /** Passed through unread. */
  readonly meta?: Meta;
}
