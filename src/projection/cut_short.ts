import type { RunEnd } from "../model/run.ts";

/** What a tool without an end of its own is shown with, by how its Run ended. */
export const CUT_SHORT: { readonly [how in RunEnd["how"]]: string } = {
  completed: "Interrupted: the turn ended without a result of this tool",
  stopped: "Cancelled: the turn was stopped before this tool finished",
  failed: "Interrupted: the turn failed before this tool finished",
  interrupted: "Interrupted: the work was cut off before this tool finished",
};
