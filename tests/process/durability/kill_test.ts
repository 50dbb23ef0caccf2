import { assertEquals } from "@std/assert";
import { broken, type Claim, claimsOf } from "./claims.ts";
import type { Entry } from "../../support/wire.ts";
import { gangway, withFolder } from "../../support/launch.ts";
import { Editor, RpcFailure } from "../../support/editor.ts";
import { listed, newSession, openSession, tell } from "../../support/talk.ts";
import { choose } from "../../support/answers.ts";
import { fields } from "../../support/rules.ts";
import { OFFERED } from "../../../src/acp/negotiation.ts";
import { readFacts } from "./facts.ts";

/** Rounds of the short form; GANGWAY_KILLS asks for more. */
const ROUNDS = 8;
/** A process lives at most so many milliseconds after its first Session is there. */
const LIFE_MS = 400;

/** A generator of the same numbers for the same seed, between 0 and 1. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Works without a pause until the process is gone. */
async function work(editor: Editor, cwd: string, random: () => number, name: string): Promise<void> {
  const sessions = [await openSession(editor, cwd), ...await earlierSessions(editor, cwd, random)];
  const mode = ["ask", "accept_edits", "read_only"];
  for (let at = 0;; at++) {
    const sessionId = sessions[Math.floor(random() * sessions.length)] ?? "";
    const word = `${name}-${at}`;
    switch (Math.floor(random() * 6)) {
      case 0:
        sessions.push(await newSession(editor, cwd));
        break;
      case 1:
        await editor.request("session/set_mode", { sessionId, modeId: mode[at % 3] ?? "ask" });
        break;
      case 2:
        await tell(editor, sessionId, `/write ${word}.txt ${word}`);
        break;
      case 3:
        await tell(editor, sessionId, `/think ${word}\n/emit 200 50\n/say ${word}`);
        break;
      case 4:
        await tell(editor, sessionId, `/run echo ${word}`);
        break;
      default:
        await tell(editor, sessionId, `/say ${word}`);
    }
  }
}

/** Goes on with some Sessions of processes that were killed; the other living process may hold one of them. */
async function earlierSessions(
  editor: Editor,
  cwd: string,
  random: () => number,
): Promise<readonly string[]> {
  const resumed: string[] = [];
  if (!OFFERED.resume) return resumed;
  for (const { sessionId } of await listed(editor)) {
    if (random() > 0.2) continue;
    const answer = await editor.call("session/resume", { sessionId: String(sessionId), cwd, mcpServers: [] });
    if (!("error" in answer)) resumed.push(String(sessionId));
    else if (fields(answer.error.data).code !== "session_busy") {
      throw new RpcFailure("session/resume", answer.error);
    }
  }
  return resumed;
}

/** Starts one process, lets it work, kills it at a random moment and returns what was said until then. */
async function life(
  state: string,
  cwd: string,
  random: () => number,
  name: string,
): Promise<readonly Entry[]> {
  const editor = new Editor({ launch: gangway("--state", state), answers: choose("allow_always") });
  try {
    work(editor, cwd, random, name).catch((error) => editor.wire.faults.push(String(error)));
    await editor.until(
      ({ text, from }) => from === "agent" && text.includes("sessionId") || undefined,
      "a Session",
    );
    await new Promise((resolve) => setTimeout(resolve, random() * LIFE_MS));
    await editor.kill();
    assertEquals(editor.wire.faults, [], editor.report());
    return editor.wire.entries;
  } finally {
    if (!editor.finished) await editor.kill();
  }
}

/** What the lives of the first round were promised, given what was said beside them and after them. */
function claimed([first = [], ...later]: readonly (readonly (readonly Entry[])[])[]): readonly Claim[] {
  return first.flatMap((life) =>
    claimsOf(life, [...first.filter((other) => other !== life), ...later.flat()])
  );
}

Deno.test("[S8] two processes on one folder, killed at random moments, keep what they acknowledged", async () => {
  const rounds = Number(Deno.env.get("GANGWAY_KILLS") ?? ROUNDS);
  const seed = Number(Deno.env.get("GANGWAY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/work`);
    const said: (readonly Entry[])[][] = [];
    for (let round = 0; round < rounds; round++) {
      const lives = ["a", "b"].map((name, at) =>
        life(`${folder}/state`, `${folder}/work`, numbers(seed + 2 * round + at), `${name}${round}`)
      );
      said.push(await Promise.all(lives));
      const facts = await readFacts(`${folder}/state`);
      assertEquals(broken(claimed(said.slice(round)), facts), [], `round ${round} of seed ${seed}`);
    }
    const facts = await readFacts(`${folder}/state`);
    for (const round of said.keys()) {
      assertEquals(
        broken(claimed(said.slice(round)), facts),
        [],
        `round ${round} at the end of seed ${seed}`,
      );
    }
  });
});
