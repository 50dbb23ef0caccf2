import type { Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** What is left in the store when everybody has gone: every Turn has its end, nothing is open, nothing waits to be saved. */
export function kept(facts: Facts): Finding[] {
  const { truth, scenario, tape } = facts.world;
  const found: Finding[] = [];
  const seq = tape.entries.length;
  // Who was killed leaves that to the next who opens.
  if (scenario.restarts > 0 || truth.refusals > 0) return found;
  for (const [sessionId, session] of truth.sessions) {
    if (truth.removed.has(sessionId)) continue;
    for (const [turnId, { state }] of session.turns) {
      if (state === "admitted") found.push({ rule: "kept", what: `Turn ${turnId} has no end`, seq });
    }
    const last = Math.max(0, ...session.rows.keys());
    if (session.watermark !== last) {
      found.push({
        rule: "kept",
        what: `Session ${sessionId} is kept up to ${session.watermark} of ${last}`,
        seq,
      });
    }
    for (const { head } of session.rows.values()) {
      if (!head.complete) found.push({ rule: "kept", what: `row ${head.seq} of ${sessionId} is open`, seq });
    }
  }
  return found;
}
