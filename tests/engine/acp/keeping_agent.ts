/**
 * An agent that keeps its Sessions in a file, as agents do that were used alone before. Its one argument is JSON ({@linkcode Keeping});
 * what it was asked goes to `FILE.log`, a line each.
 */
import type { AgentCommand } from "../../../src/engine/acp/mod.ts";

/** A Session as the agent keeps it. */
export interface KeptByAgent {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  readonly updatedAt?: string;
  readonly updates?: readonly Record<string, unknown>[];
}

/** How the agent behaves. */
export interface Keeping {
  readonly file: string;
  /** Sessions a page. */
  readonly page?: number;
  /** What it can do, beside what all agents can; all of it where absent. */
  readonly can?: readonly ("list" | "load" | "resume" | "delete" | "close")[];
  readonly fault?:
    | "list hangs"
    | "list fails"
    | "list loops"
    | "list babbles"
    | "load refuses"
    | "load wants a login"
    | "load dies"
    | "load dies late"
    | "load hangs"
    | "delete refuses";
}

/** How it is started. */
export function keeping(how: Keeping): AgentCommand {
  const path = new URL(import.meta.url).pathname;
  return { program: Deno.execPath(), args: ["run", "-A", "--no-check", path, JSON.stringify(how)] };
}

/** What a user said and an agent answered. */
export function talked(
  ...turns: readonly (readonly [user: string, agent: string])[]
): Record<string, unknown>[] {
  return turns.flatMap(([user, agent]) => [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: user } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: agent } },
  ]);
}

/** Gives the agent Sessions. */
export function keep(file: string, ...sessions: readonly KeptByAgent[]): void {
  Deno.writeTextFileSync(file, JSON.stringify(sessions));
}

/** The Sessions that the agent has. */
export function keptBy(file: string): KeptByAgent[] {
  return JSON.parse(Deno.readTextFileSync(file));
}

/** What the agent was asked so far. */
export function askedOf(file: string): string[] {
  try {
    return Deno.readTextFileSync(`${file}.log`).trimEnd().split("\n");
  } catch {
    return [];
  }
}

type Message = { id?: unknown; method?: string; params?: Record<string, unknown> };

if (import.meta.main) {
  const { file, page = 100, can, fault }: Keeping = JSON.parse(Deno.args[0] ?? "{}");
  const able = (what: "list" | "load" | "resume" | "delete" | "close") => can?.includes(what) ?? true;
  const read = () => keptBy(file);
  const send = (message: Record<string, unknown>) => {
    const bytes = new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  };
  const update = (sessionId: unknown, update: unknown) =>
    send({ method: "session/update", params: { sessionId, update } });
  const note = (line: string) => Deno.writeTextFileSync(`${file}.log`, `${line}\n`, { append: true });
  const change = (sessionId: unknown, to: (session: KeptByAgent) => KeptByAgent | undefined) =>
    keep(file, ...read().flatMap((each) => each.sessionId === sessionId ? to(each) ?? [] : [each]));

  const capabilities = {
    loadSession: able("load"),
    sessionCapabilities: {
      ...(able("list") && { list: {} }),
      ...(able("resume") && { resume: {} }),
      ...(able("delete") && { delete: {} }),
      ...(able("close") && { close: {} }),
    },
  };

  const list = ({ cwd, cursor }: Record<string, unknown>): unknown => {
    const all = read().filter((each) => typeof cwd !== "string" || each.cwd === cwd);
    const from = Number(cursor ?? 0);
    const sessions: unknown[] = all.slice(from, from + page).map(({ updates: _, ...each }) => each);
    if (fault === "list babbles") {
      sessions.push(null, 7, { sessionId: 7 }, { sessionId: "x", cwd: "relative" });
    }
    const next = fault === "list loops" ? "1" : from + page < all.length ? String(from + page) : undefined;
    return { sessions, ...(next !== undefined && { nextCursor: next }) };
  };

  const load = (id: unknown, sessionId: unknown): void => {
    const session = read().find((each) => each.sessionId === sessionId);
    if (session === undefined) return send({ id, error: { code: -32002, message: "No such session" } });
    if (fault === "load wants a login") return send({ id, error: { code: -32000, message: "Log in" } });
    const updates = session.updates ?? [];
    // Some go on with the history behind their answer.
    if (fault === "load dies late") send({ id, result: {} });
    updates.forEach((each, at) => {
      if (fault !== undefined && at === Math.floor(updates.length / 2)) return;
      update(sessionId, each);
    });
    if (fault === "load dies" || fault === "load dies late") Deno.exit(5);
    if (fault === "load hangs") return;
    if (fault === "load refuses") return send({ id, error: { code: -32603, message: "history is broken" } });
    send({
      id,
      result: {
        modes: { currentModeId: "b", availableModes: [{ id: "a", name: "A" }, { id: "b", name: "B" }] },
      },
    });
    update(sessionId, {
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "late", description: "Comes behind the answer" }],
    });
  };

  const answer = ({ id, method, params = {} }: Message): void => {
    const { sessionId } = params;
    note([method, ...(typeof sessionId === "string" ? [sessionId] : [])].join(" "));
    switch (method) {
      case "initialize":
        note(`fs ${JSON.stringify((params.clientCapabilities as Record<string, unknown>)?.fs)}`);
        return send({ id, result: { protocolVersion: 1, agentCapabilities: capabilities } });
      case "session/list":
        if (fault === "list hangs") return;
        if (fault === "list fails") return send({ id, error: { code: -32603, message: "no index" } });
        return send({ id, result: list(params) });
      case "session/new": {
        const made = crypto.randomUUID();
        keep(file, ...read(), { sessionId: made, cwd: String(params.cwd), updates: [] });
        return send({ id, result: { sessionId: made } });
      }
      case "session/load":
        return load(id, sessionId);
      case "session/resume":
        if (read().some((each) => each.sessionId === sessionId)) return send({ id, result: {} });
        return send({ id, error: { code: -32002, message: "No such session" } });
      case "session/delete":
        if (fault === "delete refuses") {
          return send({ id, error: { code: -32603, message: "it is in use" } });
        }
        change(sessionId, () => undefined);
        return send({ id, result: {} });
      case "session/prompt": {
        const words = (params.prompt as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
        const known = read().find((each) => each.sessionId === sessionId)?.updates?.length ?? 0;
        const told = {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: `I know ${known}` },
        };
        update(sessionId, told);
        const heard = { sessionUpdate: "user_message_chunk", content: { type: "text", text: words } };
        change(sessionId, (each) => ({ ...each, updates: [...each.updates ?? [], heard, told] }));
        return send({ id, result: { stopReason: "end_turn" } });
      }
      default:
        if (id !== undefined) send({ id, result: {} });
    }
  };

  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of Deno.stdin.readable) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) answer(JSON.parse(text));
  }
}
