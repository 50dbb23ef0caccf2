import { decodeBody, type RowBody, type RowHead } from "../../model/row.ts";
import type { RuntimeHost, Subscription } from "../../host/contract.ts";

/** A row with its whole body; undefined where the body is damaged. */
export interface ReadRow {
  readonly head: RowHead;
  readonly body: RowBody | undefined;
}

const NO_SERVICES = { readTextFile: false, writeTextFile: false, terminal: false, forms: false };

/** UTF-16 units that are looked at to find out how a Session began. */
const BEGINNING = 2000;

/** Every row of a Session, in order, one at a time. The Session is let go of at the end. Rejects where it cannot be opened. */
export async function* rowsOf(host: RuntimeHost, sessionId: string): AsyncGenerator<ReadRow> {
  const subscription = await host.sessions.open(sessionId, NO_SERVICES);
  try {
    yield* read(subscription, 64 * 1024);
  } finally {
    await subscription.close();
    await host.sessions.release(sessionId);
  }
}

/** What the first prompt of a Session says; undefined where nobody can tell now. */
export async function firstWords(host: RuntimeHost, sessionId: string): Promise<string | undefined> {
  try {
    const subscription = await host.sessions.open(sessionId, NO_SERVICES);
    try {
      const { rows: [row] } = await subscription.read({ after: 0, maxLength: BEGINNING });
      if (row?.kind !== "user" || row.body === undefined) return undefined;
      return row.body.text.length < row.length
        ? wordsOf(row.body.text)
        : textOf(decodeBody("user", row.body.text));
    } finally {
      await subscription.close();
      await host.sessions.release(sessionId);
    }
  } catch {
    // It is open elsewhere, or damaged: a list goes without.
    return undefined;
  }
}

async function* read(subscription: Subscription, maxLength: number): AsyncGenerator<ReadRow> {
  const { last } = subscription.snapshot;
  let cursor: string | undefined;
  let text = "";
  do {
    const page = await subscription.read({ after: 0, through: last, maxLength, cursor });
    for (const row of page.rows) {
      text = row.body?.offset === 0 ? row.body.text : text + (row.body?.text ?? "");
      if (text.length < row.length) continue;
      yield { head: row, body: bodyOf(row, text) };
      text = "";
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function bodyOf({ kind }: RowHead, text: string): RowBody | undefined {
  try {
    return decodeBody(kind, text);
  } catch {
    return undefined;
  }
}

/** The words of a prompt's text parts. */
export function textOf(body: RowBody): string | undefined {
  if (body.kind !== "user") return undefined;
  const text = body.input.parts.map((part) => part.kind === "text" ? part.text : "").join(" ").trim();
  return text === "" ? undefined : text;
}

/** The first text in the beginning of an encoded prompt. */
function wordsOf(encoded: string): string | undefined {
  const found = /"text":"((?:[^"\\]|\\.)*)/.exec(encoded)?.[1];
  if (found === undefined) return undefined;
  try {
    return JSON.parse(`"${found}"`);
  } catch {
    return undefined;
  }
}
