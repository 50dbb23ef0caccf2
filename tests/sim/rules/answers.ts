import type { Entry } from "../tape.ts";
import type { Facts, PromptFacts, TurnFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** Milliseconds from a cancel to its answer, in time in which the Client reads. */
const CANCEL_MS = 1000;
/** Milliseconds from the last thing that a prompt has to wait for to its answer. */
const ANSWER_MS = 150_000;

/** What a prompt is answered with, and when. */
export function answers(facts: Facts): Finding[] {
  return facts.prompts.flatMap((prompt) => [...meaning(facts, prompt), ...time(facts, prompt)]);
}

/** The Turn that the Host admitted for a prompt. */
export function turnOf(facts: Facts, prompt: PromptFacts): TurnFacts | undefined {
  for (const { op } of prompt.starts) {
    const turn = facts.turns.get(String(op.detail.turnId));
    if (turn !== undefined) return turn;
  }
  return undefined;
}

function meaning(facts: Facts, prompt: PromptFacts): Finding[] {
  const { asked, answered, cancels } = prompt;
  if (answered === undefined) return [];
  const { ending, seq } = answered;
  const turn = turnOf(facts, prompt);
  const end = turn?.ended?.end;
  const found: Finding[] = [];
  const wrong = (rule: string, what: string) =>
    found.push({ rule, what: `prompt ${asked.prompt} ${what}`, seq });
  if (cancels.length > 0 && !(ending.ok && ending.value === "cancelled")) {
    const gone = facts.tape.of("client").some((entry) =>
      entry.by === asked.by && entry.what === "gone" && entry.seq < seq
    );
    if (!gone) wrong("cancelled", `was cancelled and answered with ${said(ending)}`);
    return found;
  }
  if (ending.ok && ending.value === "cancelled") {
    const person = turn !== undefined && cancelledByPerson(facts, turn, seq);
    if (cancels.length === 0 && end?.how !== "stopped" && !person) {
      wrong("cancelled", "is cancelled though nobody asked");
    }
    return found;
  }
  if (ending.ok) {
    if (end?.how !== "completed" || end.stopReason !== ending.value) {
      wrong("true-end", `is answered with ${ending.value}, its Turn with ${JSON.stringify(end)}`);
    } else if (turn!.ended!.entry.seq > seq) wrong("true-end", "is answered before its Turn ended");
    return found;
  }
  const fault = expected(facts, prompt, turn, ending.code);
  if (fault !== undefined) wrong("true-end", `is answered with ${said(ending)}: ${fault}`);
  return found;
}

/** Why an error is not what it should be; undefined where it is right. */
function expected(
  facts: Facts,
  prompt: PromptFacts,
  turn: TurnFacts | undefined,
  code: string,
): string | undefined {
  const { scenario, truth, notes } = facts.world;
  const end = turn?.ended?.end;
  const { by, sessionId, seq } = prompt.asked;
  const faulty = facts.world.between !== undefined || scenario.restarts > 0 ||
    scenario.links.some((link) => link.operation + link.stream + link.read > 0);
  const until = prompt.answered!.seq;
  switch (code) {
    case "turn_failed":
    case "authentication_required":
      // A full disk may keep the Turn, and not that it failed by that.
      return end?.how === "failed" || truth.refusals > 0
        ? undefined
        : `its Turn's end is ${JSON.stringify(end)}`;
    case "turn_interrupted":
      return end?.how === "interrupted" || scenario.restarts > 0
        ? undefined
        : `its Turn's end is ${JSON.stringify(end)}`;
    case "unsupported_stream_revision":
      return [...notes.rewritten].some((id) => facts.turnOf(id) === turn?.turnId)
        ? undefined
        : "nothing was revised";
    case "client_unsupported":
      return facts.tape.entries.slice(seq, until).some((entry) =>
          (entry.kind === "request_over" && entry.by === by && ["invalid"].includes(entry.meant)) ||
          (entry.kind === "frame" && entry.frame.type === "interaction_opened") ||
          (entry.kind === "snapshot" && entry.snapshot.interactions.length > 0)
        )
        ? undefined
        : "no question was answered wrongly";
    case "host_unavailable":
    case "outcome_unknown":
      return faulty ? undefined : "the Host was there";
    case "run_busy":
      return facts.turns.size > 0 ? undefined : "there was no other Turn";
    case "storage_failed":
    case "turn_storage":
      return truth.refusals > 0 ? undefined : "the store kept everything";
    case "unknown_session":
      return facts.asks.some(({ asked }) =>
          ["remove", "close"].includes(asked.wish) && asked.sessionId === sessionId && asked.seq < until
        ) || faulty
        ? undefined
        : "the Session is there";
    case "not_found":
    case "changed":
      return undefined;
    case "queue_full":
      return undefined;
    default:
      return "it is not expected";
  }
}

/** Whether a person answered a question of the Turn by cancelling it. */
function cancelledByPerson(facts: Facts, turn: TurnFacts, until: number): boolean {
  const asked = new Map<number, string>();
  for (const entry of facts.tape.entries) {
    if (entry.seq > until) break;
    if (entry.kind === "request") {
      const question = questionIn(entry);
      if (question !== undefined && facts.turnOf(question) === turn.turnId) asked.set(entry.id, entry.method);
    }
    if (entry.kind === "request_over" && asked.has(entry.id) && entry.meant === '{"kind":"cancel"}') {
      return true;
    }
  }
  return false;
}

/** The question that a dialog asks. */
export function questionIn(entry: Extract<Entry, { kind: "request" }>): string | undefined {
  return /([\w.]+) may I\?/.exec(JSON.stringify(entry.params))?.[1];
}

function said(ending: NonNullable<PromptFacts["answered"]>["ending"]): string {
  return ending.ok ? ending.value : `${ending.name} ${ending.code} "${ending.message}"`;
}

function time(facts: Facts, prompt: PromptFacts): Finding[] {
  const { asked, answered, cancels } = prompt;
  if (answered === undefined) return [];
  const { seq } = answered;
  const cancel = cancels[0];
  if (cancel !== undefined) {
    const took = read(facts, asked.by, cancel, answered);
    if (took <= CANCEL_MS) return [];
    return [{
      rule: "cancel-time",
      what: `prompt ${asked.prompt} was cancelled in ${took.toFixed(0)} ms`,
      seq,
    }];
  }
  const ended = turnOf(facts, prompt)?.ended?.entry;
  const before = facts.prompts.filter((other) =>
    other.asked.by === asked.by && other.asked.sessionId === asked.sessionId && other.asked.seq < asked.seq
  ).map((other) => other.answered);
  const since = [asked, ended, ...before].reduce<Entry>(
    (last, each) => each !== undefined && each.seq > last.seq ? each : last,
    asked,
  );
  if (since.seq > seq) return [];
  const took = read(facts, asked.by, since, answered);
  if (took <= ANSWER_MS) return [];
  return [{
    rule: "answer-time",
    what: `prompt ${asked.prompt} was answered ${took.toFixed(0)} ms late`,
    seq,
  }];
}

/** Milliseconds between two entries in which the Client had read everything that was sent. */
function read(facts: Facts, by: string, from: Entry, to: Entry): number {
  let sum = 0;
  let since = from.at;
  let full = false;
  for (const entry of facts.tape.entries) {
    if (entry.seq >= to.seq) break;
    if (entry.kind !== "client" || entry.by !== by) continue;
    if (entry.what === "fills" || entry.what === "drained") {
      if (!full && entry.seq > from.seq) sum += entry.at - since;
      full = entry.what === "fills";
      since = Math.max(from.at, entry.at);
    }
  }
  return full ? sum : sum + to.at - since;
}
