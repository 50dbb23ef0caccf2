import type { Difference } from "./comparison.ts";

/** What is otherwise with every agent. */
export const ALWAYS: readonly Difference[] = [
  { at: "hello.agentInfo", why: "Gangway names itself" },
  {
    at: "hello.agentCapabilities.sessionCapabilities",
    why: "Sessions are Gangway's, who lists, closes and deletes them for all agents",
  },
];

/** What is otherwise with an agent that does not keep Sessions for others to list and close, or not reliably for itself to load. */
export const KEPT_BY_GANGWAY: readonly Difference[] = [
  { at: "listed", why: "Gangway lists the Session" },
  { at: "closed", why: "Gangway closes the Session" },
  { at: "loaded", why: "Gangway shows what was seen live" },
  { at: "after", why: "Gangway goes on, and says where the agent has to be told what was said before" },
];
