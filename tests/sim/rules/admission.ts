import type { Run } from "../../../src/model/run.ts";
import type { Entry } from "../tape.ts";
import { type Facts, nothingStarted, type OpFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** Tries of a Stop that stays without an answer. */
const STOP_TRIES = 5;
/** Milliseconds that a Stop's acknowledgement is waited for. */
const STOP_MS = 2000;

/** Operations on the Host: each Turn is started once, Stops name observed Runs, Subscriptions follow one another. */
export function admission(facts: Facts): Finding[] {
  return [...starts(facts), ...stops(facts), ...subscriptions(facts), ...trespass(facts)];
}

function starts(facts: Facts): Finding[] {
  const found: Finding[] = [];
  const ids = new Set<string>();
  for (const { op } of facts.ops.filter(({ op }) => op.name === "start")) {
    const turnId = String(op.detail.turnId);
    if (ids.has(turnId)) {
      found.push({ rule: "start-once", what: `Turn ${turnId} was started twice`, seq: op.seq });
    }
    ids.add(turnId);
    const open = facts.ops.some(({ op: { name, by, sessionId }, over }) =>
      name === "open" && by === op.by && sessionId === op.sessionId && over?.outcome === "done" &&
      over.seq < op.seq
    );
    if (!open) {
      found.push({ rule: "observe-first", what: `Turn ${turnId} was started unobserved`, seq: op.seq });
    }
  }
  const last = new Map<string, number>();
  for (const { asked, starts } of facts.prompts) {
    const admitted = starts.filter(({ op }) => facts.turns.has(String(op.detail.turnId)));
    if (admitted.length > 1) {
      found.push({ rule: "start-once", what: `prompt ${asked.prompt} was admitted twice`, seq: asked.seq });
    }
    for (const [at, { op }] of starts.entries()) {
      const before = starts[at - 1];
      if (before !== undefined && !nothingStarted(before, op.seq)) {
        found.push({
          rule: "start-once",
          what: `prompt ${asked.prompt} was started again in doubt`,
          seq: op.seq,
        });
      }
    }
    const first = starts[0];
    if (first === undefined) continue;
    const key = `${asked.by} ${asked.sessionId}`;
    if (first.op.seq < (last.get(key) ?? 0)) {
      found.push({ rule: "order", what: `prompt ${asked.prompt} was overtaken`, seq: first.op.seq });
    }
    last.set(key, first.op.seq);
  }
  return found;
}

function stops(facts: Facts): Finding[] {
  const found: Finding[] = [];
  const seen = seenRuns(facts);
  const sent = new Map<string, OpFacts[]>();
  for (const stop of facts.ops.filter(({ op }) => op.name === "stop")) {
    const { by, seq, sessionId, detail: { turnId, runId } } = stop.op;
    const key = `${by} ${runId}`;
    const what = `Run ${runId} of Turn ${turnId}`;
    if ((seen.get(key) ?? Infinity) > seq) {
      found.push({ rule: "stop-observed", what: `${what} was stopped before it was observed`, seq });
    }
    // After a close another attachment may find the Run still there, and stop it for itself.
    const closed = facts.asks.findLast(({ asked, answered }) =>
      asked.wish === "close" && asked.by === by && asked.sessionId === sessionId &&
      (answered?.seq ?? seq) < seq
    );
    const earlier = (sent.get(key) ?? []).filter(({ op }) => op.seq > (closed?.answered?.seq ?? -1));
    if (earlier.some((each) => acknowledged(each, seq))) {
      found.push({ rule: "stop-once", what: `${what} was stopped after a Stop was acknowledged`, seq });
    }
    sent.set(key, [...earlier, stop]);
    if (earlier.length >= STOP_TRIES) found.push({ rule: "stop-once", what: `${what}: too many Stops`, seq });
    const mine = facts.promptOf.get(String(turnId))?.asked.by === by;
    const meant = facts.tape.entries.slice(0, seq).some((entry) =>
      (entry.kind === "cancel" || (entry.kind === "asked" && ["close", "remove"].includes(entry.wish))) &&
      entry.by === by && entry.sessionId === sessionId
    );
    const adopted = facts.turns.get(String(turnId))?.foreground === false ||
      facts.ops.some(({ op }) => op.name === "adopt" && op.by === by && op.detail.turnId === turnId);
    if (!mine && !meant && !adopted) {
      found.push({ rule: "stop-meant", what: `${what} was stopped though nobody asked for it`, seq });
    }
  }
  return found;
}

/** Whether a Stop was acknowledged before some place, and while its sender waited for that. */
function acknowledged({ op, over }: OpFacts, before: number): boolean {
  return over?.outcome === "done" && over.seq < before && over.at - op.at < STOP_MS;
}

/** When each connection first heard of each Run. */
function seenRuns(facts: Facts): Map<string, number> {
  const seen = new Map<string, number>();
  const see = (by: string, runId: unknown, { seq }: Entry) => {
    const key = `${by} ${runId}`;
    if (typeof runId === "string" && !seen.has(key)) seen.set(key, seq);
  };
  for (const entry of facts.tape.entries) {
    if (entry.kind === "op_over") see(entry.by, entry.value.runId, entry);
    if (entry.kind === "snapshot") {
      for (const live of entry.snapshot.runs) see(entry.by, live.run.runId, entry);
    }
    if (entry.kind === "frame") {
      const { frame } = entry;
      const run: Run | undefined = frame.type === "run"
        ? frame.live.run
        : "run" in frame
        ? frame.run
        : undefined;
      see(entry.by, run?.runId, entry);
    }
  }
  return seen;
}

function subscriptions(facts: Facts): Finding[] {
  const found: Finding[] = [];
  const open = new Map<string, number>();
  for (const entry of facts.tape.entries) {
    if (entry.kind === "snapshot") {
      const key = `${entry.by} ${entry.sessionId}`;
      open.set(key, (open.get(key) ?? 0) + 1);
    } else if (entry.kind === "op" && entry.name === "closeSubscription") {
      const key = `${entry.by} ${entry.sessionId}`;
      open.set(key, (open.get(key) ?? 0) - 1);
    } else if (entry.kind === "op" && entry.name === "open") {
      if ((open.get(`${entry.by} ${entry.sessionId}`) ?? 0) > 0) {
        const what =
          `${entry.by} opened another Subscription of ${entry.sessionId} before the last was closed`;
        found.push({ rule: "one-subscription", what, seq: entry.seq });
      }
    }
  }
  return found;
}

function trespass(facts: Facts): Finding[] {
  return facts.ops.filter(({ op }) => op.sessionId === "nobody").map(({ op }) => ({
    rule: "owned",
    what: `${op.name} for a Session that is not owned`,
    seq: op.seq,
  }));
}
