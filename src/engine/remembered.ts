import type { ToolEnd } from "../model/tool.ts";

/** Something that was said or done in a Session, whole. Secrets and sensitive tools may be in a text, never a tool's input or output. */
export type Remembered =
  /** `text` is the agent, `user` the person; files that came with a prompt are named only. */
  | { readonly kind: "user" | "text"; readonly text: string }
  /** A message that is too long to be told: its length in UTF-16 units. */
  | { readonly kind: "user" | "text"; readonly length: number }
  | { readonly kind: "tool"; readonly title: string; readonly status: ToolEnd | "interrupted" };
