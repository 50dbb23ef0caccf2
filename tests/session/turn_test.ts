import { assertEquals } from "@std/assert";
import { HostError } from "../../src/host/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import { newTurn, nextEffect, reduce, type Turn, type TurnEvent } from "../../src/session/turn.ts";

const run = { turnId: "t", runId: "r" };
const lost = new HostError("unavailable", "No reply", { dispatch: "unknown" });
const refusal = new HostError("invalid", "No");
const end = { how: "completed", stopReason: "end_turn" } as const;

const sent: TurnEvent = { type: "sent" };
const admitted: TurnEvent = { type: "started", reply: { kind: "done", value: { kind: "admitted", run } } };
const busy: TurnEvent = {
  type: "started",
  reply: { kind: "done", value: { kind: "busy", run, origin: { kind: "connection", connectionId: "c" } } },
};
const refused: TurnEvent = { type: "started", reply: { kind: "answered", error: refusal } };
const unsent: TurnEvent = { type: "started", reply: { kind: "not_sent", error: refusal } };
const replyLost: TurnEvent = { type: "started", reply: { kind: "unknown", error: lost } };
const observed: TurnEvent = { type: "observed", run };
const ended: TurnEvent = { type: "ended", run, end, through: 7 };
const gone: TurnEvent = { type: "answered", state: { kind: "not_found", settled: true } };
const unwanted: TurnEvent = { type: "unwanted" };
const unanswered: TurnEvent[] = Array.from({ length: LIMITS.queryTries }, () => [
  { type: "asked" as const },
  { type: "unanswered" as const },
]).flat();

const after = (events: readonly TurnEvent[]): Turn => events.reduce(reduce, newTurn("t"));

const TABLE: readonly [string, readonly TurnEvent[], string, string][] = [
  ["nothing happened", [], "nothing", "-"],
  ["sent", [sent], "pending", "-"],
  ["admitted", [sent, admitted], "live", "-"],
  ["busy", [sent, busy], "nothing", "-"],
  ["refused", [sent, refused], "never", "-"],
  ["never left", [sent, unsent], "nothing", "-"],
  ["reply lost", [sent, replyLost], "pending", "query settle"],
  ["reply overdue", [sent, { type: "overdue" }], "pending", "query settle"],
  ["asked once at a time", [sent, replyLost, { type: "asked" }], "pending", "-"],
  [
    "found live",
    [sent, replyLost, { type: "asked" }, {
      type: "answered",
      state: { kind: "live", run, phase: "running" },
    }],
    "live",
    "-",
  ],
  [
    "found ended",
    [sent, replyLost, { type: "asked" }, {
      type: "answered",
      state: { kind: "ended", run, end, through: 7 },
    }],
    "ended",
    "-",
  ],
  ["tombstoned", [sent, replyLost, { type: "asked" }, gone], "never", "-"],
  [
    "not found without settlement is no answer",
    [sent, replyLost, { type: "asked" }, { type: "answered", state: { kind: "not_found", settled: false } }],
    "pending",
    "query settle",
  ],
  ["tries used up", [sent, replyLost, ...unanswered], "unknown", "-"],
  ["frames come before the reply", [sent, observed], "live", "-"],
  ["the reply adds nothing to frames", [sent, ended, admitted], "ended", "-"],
  ["a late reply after the tries still tells", [sent, replyLost, observed], "live", "-"],
  ["an end is final", [sent, observed, ended, observed, refused], "ended", "-"],
  ["missing in a snapshot", [sent, observed, { type: "missing" }], "live", "query"],
  ["missing and gone", [sent, observed, { type: "missing" }, { type: "asked" }, gone], "unknown", "-"],
  ["missing while pending", [sent, { type: "missing" }], "pending", "query settle"],
  ["a reply that comes late leaves the doubt", [sent, { type: "overdue" }, admitted], "live", "query"],
  [
    "a reply behind a snapshot that lacks the Run leaves the doubt, whatever became of the question",
    [sent, { type: "missing" }, { type: "asked" }, admitted, { type: "unanswered" }],
    "live",
    "query",
  ],
  ["stop waits for a Run", [sent, unwanted], "pending", "-"],
  ["stop names the observed Run", [sent, unwanted, observed], "live", "stop r"],
  ["stop once at a time", [sent, observed, unwanted, { type: "stop_sent" }], "live", "-"],
  [
    "stop again after an unknown outcome",
    [sent, observed, unwanted, { type: "stop_sent" }, { type: "stop_unknown" }],
    "live",
    "stop r",
  ],
  [
    "an acknowledged stop is not repeated",
    [sent, observed, unwanted, { type: "stop_sent" }, { type: "stop_taken" }],
    "live",
    "-",
  ],
  [
    "a refused stop is not repeated",
    [sent, observed, unwanted, { type: "stop_sent" }, { type: "stop_refused" }],
    "live",
    "-",
  ],
  ["nothing to stop after the end", [sent, observed, ended, unwanted], "ended", "-"],
  ["doubt is cleared before a stop", [sent, observed, { type: "missing" }, unwanted], "live", "query"],
];

for (const [name, events, known, effect] of TABLE) {
  Deno.test(`[P2] [C2] a Turn's record: ${name}`, () => {
    const turn = after(events);
    const next = nextEffect(turn);
    const said = next === undefined
      ? "-"
      : next.kind === "stop"
      ? `stop ${next.run.runId}`
      : next.settle
      ? "query settle"
      : "query";
    assertEquals([turn.known.kind, said], [known, effect]);
  });
}

Deno.test("[C2] a stop is tried a bounded number of times", () => {
  let turn = after([sent, observed, unwanted]);
  let tries = 0;
  while (nextEffect(turn)?.kind === "stop") {
    tries++;
    turn = [{ type: "stop_sent" }, { type: "stop_unknown" }].reduce(
      (now, event) => reduce(now, event as TurnEvent),
      turn,
    );
  }
  assertEquals([tries, turn.stop.state], [LIMITS.stopTries, "failed"]);
});
