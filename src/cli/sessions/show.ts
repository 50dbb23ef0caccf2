import { ageOf, plain, stateOf } from "./table.ts";
import { type ReadRow, rowsOf, textOf } from "./transcript.ts";
import { HostError } from "../../host/errors.ts";
import type { PrintOptions } from "../flags.ts";
import type { RunEnd } from "../../model/run.ts";
import { type Screen, wrap } from "../screen.ts";
import type { SessionInfo } from "../../host/contract.ts";
import type { SessionSource } from "./source.ts";

/** Columns before the text of a line. */
const MARGIN = 9;

/** Prints a Session with its conversation. Resolves with 0, also where the conversation cannot be read now, which it then says. */
export async function showSession(
  { host, held }: SessionSource,
  sessionId: string,
  { json }: PrintOptions,
  screen: Screen,
): Promise<number> {
  const info = await host.sessions.get(sessionId);
  const state = stateOf(held.get(sessionId));
  if (!json) { for (const line of headOf(info, state)) screen.line(line); }
  const rows: unknown[] = [];
  let refusal: string | undefined;
  try {
    for await (const row of rowsOf(host, sessionId)) {
      if (json) rows.push(jsonOf(row));
      else print(row, screen);
    }
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    refusal = error.message;
  }
  if (json) {
    screen.line(JSON.stringify({ ...info, state, rows, ...(refusal !== undefined && { refusal }) }, null, 2));
  } else if (refusal !== undefined) screen.line(`Its conversation cannot be shown now. ${refusal}`);
  return 0;
}

function* headOf(info: SessionInfo, state: string): Generator<string> {
  const { sessionId, title, cwd, roots, engineId, createdAt, updatedAt, config } = info;
  if (title !== undefined) yield plain(title);
  yield `Session ${sessionId}, ${state}`;
  yield `Folder ${[cwd, ...roots].map(plain).join(", ")}`;
  yield `Agent ${engineId}`;
  const settings = config.options.map(({ name, value }) => `${plain(name)}: ${plain(String(value))}`);
  if (settings.length > 0) yield settings.join(", ");
  yield `Begun ${new Date(createdAt).toLocaleString()}, last used ${ageOf(Date.now() - updatedAt)}`;
}

function jsonOf({ head: { seq, run, kind, id, at, sensitive }, body }: ReadRow): unknown {
  return { seq, turnId: run.turnId, kind, id, at: new Date(at).toISOString(), ...(!sensitive && { body }) };
}

function print({ head, body }: ReadRow, screen: Screen): void {
  const say = (who: string, text: string) => {
    const lines = text.split("\n").flatMap((line) => wrap(plain(line), screen.width - MARGIN));
    for (const [at, line] of lines.entries()) {
      screen.line(`${screen.paint("dim", (at === 0 ? who : "").padEnd(MARGIN - 1))} ${line}`.trimEnd());
    }
  };
  switch (body?.kind) {
    case "user":
      screen.line();
      return say("you", textOf(body) ?? "(no text)");
    case "text":
      return say("agent", body.text);
    case "tool": {
      const { input, result } = body.tool;
      return say("tool", `${head.sensitive ? input.kind : input.title}: ${result?.status ?? "interrupted"}`);
    }
    case "plan":
      return say("plan", body.entries.map(({ content, status }) => `${content} (${status})`).join("\n"));
    case "notice":
      return say("notice", body.title);
    case "end":
      return say("end", endOf(body.end));
  }
}

function endOf(end: RunEnd): string {
  switch (end.how) {
    case "completed":
      return end.stopReason;
    case "stopped":
      return "cancelled";
    case "failed":
      return `failed: ${end.failure.message}`;
    case "interrupted":
      return "interrupted";
  }
}
