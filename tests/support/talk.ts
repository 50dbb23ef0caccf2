import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Answer, Editor } from "./editor.ts";
import { type Screen, screenOf } from "./screen.ts";

/** A piece of a prompt; a string is a text block. */
export type Block = string | JsonObject;

/** What a prompt came to. */
export interface Told {
  readonly answer: Answer;
  /** Undefined where the answer is an error. */
  readonly stopReason: string | undefined;
  /** What was shown while it ran. */
  readonly screen: Screen;
  /** Milliseconds from the request to the answer. */
  readonly ms: number;
}

/** Says hello and opens a Session. */
export async function openSession(editor: Editor, cwd: string, more: JsonObject = {}): Promise<string> {
  await editor.initialize();
  return await newSession(editor, cwd, more);
}

/** Opens one more Session. */
export async function newSession(editor: Editor, cwd: string, more: JsonObject = {}): Promise<string> {
  const result = await editor.request("session/new", { cwd, mcpServers: [], ...more }) as JsonObject;
  return String(result.sessionId);
}

/** The params of a prompt. */
export function promptParams(sessionId: string, ...blocks: readonly Block[]): JsonObject {
  const prompt = blocks.map((block): Json =>
    typeof block === "string" ? { type: "text", text: block } : block
  );
  return { sessionId, prompt };
}

/** Sends a prompt and waits for its answer. */
export async function tell(editor: Editor, sessionId: string, ...blocks: readonly Block[]): Promise<Told> {
  const from = editor.wire.count;
  const started = performance.now();
  const answer = await editor.call("session/prompt", promptParams(sessionId, ...blocks));
  return {
    answer,
    stopReason: stopReasonOf(answer),
    screen: screenOf(editor.wire.entries, sessionId, from),
    ms: performance.now() - started,
  };
}

/** The stop reason of a prompt's answer; undefined for an error. */
export function stopReasonOf(answer: Answer): string | undefined {
  return "result" in answer ? String((answer.result as JsonObject).stopReason) : undefined;
}

/** A link to a file as an editor sends it. */
export function link(path: string, more: JsonObject = {}): JsonObject {
  const uri = path.includes("://") ? path : `file://${encodeURI(path)}`;
  return { type: "resource_link", uri, name: uri.split("/").at(-1) ?? uri, ...more };
}

/** The Sessions that a list shows, all pages of it. */
export async function listed(editor: Editor, params: JsonObject = {}): Promise<readonly JsonObject[]> {
  const sessions: JsonObject[] = [];
  let cursor: Json | undefined;
  do {
    const page = await editor.request("session/list", {
      ...params,
      ...(cursor === undefined ? {} : { cursor }),
    }) as { readonly sessions: readonly JsonObject[]; readonly nextCursor?: Json };
    sessions.push(...page.sessions);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return sessions;
}
