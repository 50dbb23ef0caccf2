import { type ListedSession, plain, stateOf, tableOf } from "./table.ts";
import { openSource, type SessionSource } from "./source.ts";
import { firstWords } from "./transcript.ts";
import type { Command } from "../flags.ts";
import { HostError } from "../../host/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Screen } from "../screen.ts";
import { showSession } from "./show.ts";
import { thisMachine } from "../state.ts";
import { variableOf } from "../daemon/environment.ts";

/** Sessions that a list shows unless all are wanted. */
const SHOWN = 30;
/** Sessions whose first words are looked up for a list. */
const LOOKED_UP = 100;
/** Characters of an id that may stand for it. */
const LEAST_ID = 4;

type SessionsCommand = Command & { kind: "sessions" };

/** `gangway sessions`: lists, shows and deletes. Resolves with 0, or 1 with a sentence. */
export async function sessionsCommand(command: SessionsCommand, screen: Screen): Promise<number> {
  let source: SessionSource | undefined;
  try {
    source = await openSource(command.options.store);
    if (command.action === "list") return await list(source, command, screen);
    if (source === undefined) throw missing(command.sessionId);
    const sessionId = await found(source, command.sessionId);
    if (command.action === "show") return await showSession(source, sessionId, command.print, screen);
    await source.host.sessions.remove(sessionId);
    screen.line(command.print.json ? JSON.stringify({ deleted: sessionId }) : `Deleted ${sessionId}`);
    return 0;
  } catch (error) {
    const sentence = error instanceof HostError ? error.message : `Failed: ${error}`;
    screen.line(command.print.json ? JSON.stringify({ error: sentence }) : sentence);
    return 1;
  } finally {
    await source?.close();
  }
}

async function list(
  source: SessionSource | undefined,
  { print }: SessionsCommand,
  screen: Screen,
): Promise<number> {
  const { sessions, more } = source === undefined
    ? { sessions: [], more: false }
    : await listed(source, print.all || print.json ? Infinity : SHOWN);
  if (print.json) screen.line(JSON.stringify(sessions.map(jsonOf), null, 2));
  else if (sessions.length === 0) screen.line("There are no Sessions");
  else {
    const [head = "", ...lines] = tableOf(
      sessions,
      Date.now(),
      screen.width,
      variableOf(thisMachine(), "HOME"),
    );
    screen.line(screen.paint("bold", head));
    for (const line of lines) screen.line(line);
    if (more) screen.line(screen.paint("dim", "There are older ones: --all lists them"));
  }
  return 0;
}

/** The newest Sessions, and whether there are more. */
async function listed(
  { host, held }: SessionSource,
  most: number,
): Promise<{ readonly sessions: readonly ListedSession[]; readonly more: boolean }> {
  const sessions: ListedSession[] = [];
  let cursor: string | undefined;
  let looked = 0;
  do {
    const page = await host.sessions.list({ cursor, limit: Math.min(100, most - sessions.length) });
    for (const info of page.sessions) {
      const words = info.title === undefined && looked++ < LOOKED_UP
        ? await firstWords(host, info.sessionId)
        : undefined;
      sessions.push({ info, words, held: held.get(info.sessionId) });
    }
    cursor = page.cursor;
  } while (cursor !== undefined && sessions.length < most);
  return { sessions, more: cursor !== undefined };
}

/** A listed Session for programs. */
function jsonOf({ info, words, held }: ListedSession): JsonObject {
  const { sessionId, title, cwd, roots, engineId, createdAt, updatedAt } = info;
  return {
    sessionId,
    ...(title !== undefined && { title }),
    ...(words !== undefined && { firstWords: plain(words).slice(0, 200) }),
    cwd,
    roots,
    agent: engineId,
    state: stateOf(held),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

/** The id that a person means: all of it, or its beginning where that is unique. */
async function found({ host }: SessionSource, given: string): Promise<string> {
  const matches: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await host.sessions.list({ cursor });
    for (const { sessionId } of page.sessions) {
      if (sessionId === given) return sessionId;
      if (given.length >= LEAST_ID && sessionId.startsWith(given)) matches.push(sessionId);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  const [match] = matches;
  if (match === undefined) throw missing(given);
  if (matches.length === 1) return match;
  throw new HostError(
    "invalid",
    `${matches.length} Sessions begin with "${plain(given)}": give more of the id`,
  );
}

function missing(given: string): HostError {
  const short = given.length < LEAST_ID ? `: give at least ${LEAST_ID} characters of its id` : "";
  return new HostError("not_found", `There is no Session "${plain(given)}"${short}`);
}
