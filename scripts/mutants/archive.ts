import { type Mutant, planterOf } from "./mutant.ts";

const agent = (name: string, test: string) =>
  planterOf(`src/engine/acp/${name}.ts`, `tests/engine/acp/${test}_test.ts`);
const local = (name: string, test: string) =>
  planterOf(`src/host/local/${name}.ts`, `tests/host/local/${test}_test.ts`);

const recap = agent("recap", "recap");
const lobby = agent("lobby", "rebuilt");
const archive = agent("archive", "archive");
const past = agent("past", "archive");
const history = local("history", "history");
const outside = local("archive", "archive");
const listing = local("listing", "archive");
const registry = local("registry", "takeover");
const takeover = local("takeover", "takeover");

/** Faults in what becomes of an agent's own Sessions, and of those that it lost. */
export const ARCHIVE_MUTANTS: readonly Mutant[] = [
  recap("E4", "a recap tells secrets", "redactSecrets(text).trim()", "text.trim()"),
  recap(
    "E4",
    "what was said can pass for the end of a recap",
    "lines.map((line) => `> ${line}`)",
    "lines.map((line) => line)",
  ),
  recap("E4", "a recap keeps the oldest", "of past.toReversed()", "of past"),
  recap("E4", "a recap is larger than it may be", "if (left < 0) {", "if (left < -1000) {"),
  recap("E4", "one message fills a recap", "bytesOf(entry) <= largest", "bytesOf(entry) > 0"),
  history("E4", "a sensitive tool is told", "head.sensitive || ", ""),
  history("E4", "the Turn at work is told", " || live(head.run.turnId)", ""),
  history("E4", "more is told than was asked for", "if (left < 0) return found.reverse();", ""),
  lobby(
    "E4",
    "an agent that lost a Session is told nothing",
    "recapOf(await context.history(RECAP_BYTES).catch(() => []))",
    "recapOf([])",
  ),
  lobby("E4", "a recap is given with each prompt", "briefing.heard();", ""),
  planterOf("src/engine/acp/session.ts", "tests/engine/acp/rebuilt_test.ts")(
    "E4",
    "a recap that the agent never answered counts as heard",
    "if (signal.aborted && conversation.serving) await",
    "await",
  ),
  archive("E4", "only the first page of an agent's list is read", "cursor = textOf(page.nextCursor);", ""),
  archive(
    "E4",
    "an agent that lists in a circle is not noticed",
    "if (seen.has(cursor)) {",
    "if (cursor === '') {",
  ),
  archive("E4", "Sessions are listed that cannot be gone on with", "list && (load || resume)", "list"),
  archive(
    "E4",
    "a removed Session is listed",
    "if (!profile.removed.has(keptAs)) return true;",
    "return true;",
  ),
  archive(
    "E4",
    "a Session that the agent refused to delete is hidden",
    "      profile.restore(keptAs);\n      throw",
    "      throw",
  ),
  planterOf("src/engine/acp/lobby.ts", "tests/engine/acp/archive_test.ts")(
    "E4",
    "a Session that could not be taken over stays open",
    "      await conversation.end();\n      throw error;",
    "      throw error;",
  ),
  planterOf("src/engine/acp/keeper.ts", "tests/engine/acp/archive_test.ts")(
    "E4",
    "an agent that was started for a list never learns what the editor offers",
    "this.#current?.scout !== true || ",
    "true || ",
  ),
  past("E4", "a recap of an earlier life is shown as the user's words", "withoutRecap(text)", "text"),
  past(
    "E4",
    "two messages of the user become one",
    "this.#words.length > 0 && id !== this.#messageId",
    "false",
  ),
  outside(
    "E4",
    "an agent that fails breaks the list",
    "      return undefined;\n    });\n    const late",
    "      throw error;\n    });\n    const late",
  ),
  outside(
    "E4",
    "Sessions of other folders are listed",
    ".filter((kept) => cwd === undefined || kept.cwd === cwd)",
    "",
  ),
  outside("E4", "what an agent was asked goes on when the Host closes", "this.#closing.abort(", "void ("),
  listing("E4", "a Session is listed beside the one that stands for it", "!wrapped.has(kept.keptAs) && ", ""),
  listing("E4", "the list is not in order", "newestFirst(their, mine) < 0", "newestFirst(their, mine) > 0"),
  listing(
    "E4",
    "a page repeats what the one before showed",
    "!wrapped.has(kept.keptAs) && isBehind(info, from)",
    "!wrapped.has(kept.keptAs)",
  ),
  listing(
    "E4",
    "a list that began without the agent's Sessions goes on with them",
    'from?.outside === "left_out"',
    "from === null",
  ),
  planterOf("src/host/local/listing.ts", "tests/host/local/takeover_test.ts")(
    "E4",
    "a Session that the agent lost is listed twice",
    "if (await this.#store.get(their.sessionId) === undefined) sessions",
    "sessions",
  ),
  registry(
    "E4",
    "two editors take one Session over twice",
    "if (held !== undefined) return await held.then(() => true);",
    "",
  ),
  registry("E4", "the past is not saved", "this.store.create(info, writes)", "this.store.create(info)"),
  registry(
    "E4",
    "a Session that cannot be saved stays open in the agent",
    "      await inherited.session.close();\n      // Another",
    "      // Another",
  ),
  registry(
    "E4 H4",
    "the agent keeps what was deleted",
    "if (keptAs !== undefined && keeper !== undefined)",
    "if (keptAs === '' && keeper !== undefined)",
  ),
  takeover("E4", "what an agent says early is lost", "this.#late.push(act);", ""),
  takeover("E4", "nobody is told that the beginning is missing", 'this.#cut = "cut";', ""),
  takeover("E4", "a past without end fills the memory", "this.#chapters.shift();", ""),
  takeover("E4", "a Turn without end is taken over", 'this.#cut = "endless";', ""),
  registry(
    "H4",
    "a Session that is being taken over outlives its removal",
    "if (!this.#held.has(sessionId)) await",
    "if (sessionId === undefined) await",
  ),
  local("connection", "takeover")(
    "S3",
    "a Session that was taken over for an editor that went away stays in use",
    "if (this.#open.signal.aborted) await registry.release(sessionId, connectionId);",
    "",
  ),
  agent("lobby", "kept_sessions")(
    "E4",
    "half of what an agent tells that falls is taken over",
    "agent.over.throwIfAborted();",
    "",
  ),
  agent("conversation", "pending")(
    "E4",
    "a Session is closed under the one that opened it again",
    "this.agent.seats.of(this.sessionId) === this",
    "this.agent.seats.of(this.sessionId) !== undefined",
  ),
  agent("requests", "pending")(
    "E3",
    "files are written for a Session that was closed",
    "if (!this.#parts.used()) throw closed();\n    return await own",
    "return await own",
  ),
  agent("late", "late")(
    "E2",
    "what waits beside prompts is not bounded",
    "? undefined : this.#begun.promise",
    "? undefined : Promise.resolve()",
  ),
];
