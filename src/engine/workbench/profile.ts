import type { Command } from "../../model/plan.ts";
import type { EngineProfile } from "../../host/contract.ts";
import type { Step } from "./step.ts";

/** Every step that the workbench can do: its name without the slash, its arguments, what it does. */
export const STEPS: readonly (Command & { readonly name: Step["name"]; readonly hint: string })[] = [
  { name: "say", hint: "TEXT", description: "Say a text" },
  { name: "think", hint: "TEXT", description: "Think a text aloud" },
  { name: "emit", hint: "COUNT BYTES", description: "Stream one message as COUNT pieces of BYTES each" },
  { name: "read", hint: "PATH", description: "Read a file" },
  {
    name: "write",
    hint: "PATH TEXT",
    description: "Write a file; \\n, \\r, \\t and \\\\ in TEXT are escapes",
  },
  { name: "edit", hint: "PATH OLD => NEW", description: "Replace the one place where OLD stands in a file" },
  { name: "run", hint: "COMMAND", description: "Run a shell command" },
  { name: "ask", hint: "QUESTION | OPTION | OPTION", description: "Ask a question and say the answer" },
  {
    name: "form",
    hint: "NAME:TYPE …",
    description:
      "Ask for values: string, number, integer, boolean, email, uri, date, date-time, enum(a,b), multi(a,b); " +
      "string(1..20) and integer(0..9) have bounds, =VALUE is a default, NAME?:TYPE may stay empty",
  },
  {
    name: "plan",
    hint: "ITEM | ITEM",
    description: "Show a plan whose items get done as the following steps do",
  },
  { name: "sleep", hint: "MS", description: "Wait" },
  { name: "usage", hint: "USED SIZE", description: "Report how many tokens of the context window are used" },
  { name: "title", hint: "TEXT", description: "Give the Session a title" },
  { name: "fail", hint: "MESSAGE", description: "Fail the Turn" },
  {
    name: "stop",
    hint: "REASON",
    description: "End the Turn with end_turn, max_tokens, max_turn_requests or refusal",
  },
  { name: "background", hint: "MS TEXT", description: "Say a text in a background Run after MS" },
  { name: "rewrite", hint: "TEXT", description: "Stream something, take it back and say TEXT instead" },
  { name: "flood", hint: "BYTES", description: "Use a tool that writes BYTES of output" },
  { name: "tools", hint: "COUNT", description: "Use COUNT small tools" },
];

/** What the workbench can do; static, so that it costs nothing to ask. */
export const PROFILE: EngineProfile = {
  engineId: "workbench",
  title: "Workbench",
  options: [{
    id: "mode",
    name: "Mode",
    description: "What may be changed without asking",
    category: "mode",
    type: "select",
    value: "ask",
    choices: [
      { value: "ask", name: "Ask", description: "Ask before writing a file and before running a command" },
      {
        value: "accept_edits",
        name: "Accept edits",
        description: "Write without asking, ask before running",
      },
      { value: "read_only", name: "Read only", description: "Write nothing and run nothing" },
    ],
  }],
  commands: STEPS,
  prompt: { image: true, audio: true, embeddedContext: true },
  mcp: { http: false, sse: false },
  linkedDirectories: false,
  authMethods: [],
};
