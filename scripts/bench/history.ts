import { digestOf, encodeBody, type RowBody, type RowHead } from "../../src/model/mod.ts";
import { workbench } from "../../src/engine/workbench/mod.ts";
import { openFolderStore } from "../../src/host/store/folder.ts";
import type { Write } from "../../src/host/store/contract.ts";
import { silentLog } from "../../src/model/log.ts";

/** Rows of a Turn: what was asked, three messages, a tool, its end. */
const ROWS_PER_TURN = 6;
/** Turns of one commit. */
const BATCH = 200;

/** Writes a Session with so many rows into a state folder, as fast as the store takes them. */
export async function writeHistory(
  folder: string,
  cwd: string,
  sessionId: string,
  rows: number,
): Promise<void> {
  const store = await openFolderStore({ folder, log: silentLog });
  const { profile } = workbench();
  const now = Date.now();
  const session = await store.create({
    sessionId,
    cwd,
    roots: [],
    engineId: profile.engineId,
    title: "A long history",
    createdAt: now,
    updatedAt: now,
    config: { revision: 0, options: profile.options },
    commands: profile.commands,
  });
  let seq = 0;
  let batch: Write[] = [];
  for (let turn = 0; turn * ROWS_PER_TURN < rows; turn++) {
    const run = { turnId: `turn-${turn}`, runId: `run-${turn}` };
    for (const [id, body] of bodies(turn)) {
      const text = encodeBody(body);
      const head: RowHead = {
        seq: ++seq,
        run,
        kind: body.kind,
        id,
        complete: true,
        sensitive: false,
        length: text.length,
        sha256: digestOf(text),
        at: now,
      };
      batch.push({ op: "row", head }, { op: "append", seq, offset: 0, text });
    }
    if (turn % BATCH === BATCH - 1) {
      await session.commit(batch);
      batch = [];
    }
  }
  await session.commit([...batch, { op: "watermark", seq }]);
  await session.close();
  await store.close();
}

function bodies(turn: number): readonly (readonly [string, RowBody])[] {
  return [
    [`user-${turn}`, { kind: "user", input: { parts: [{ kind: "text", text: `Question ${turn}` }] } }],
    [`thought-${turn}`, {
      kind: "thinking",
      text: "What was asked is clear, and so is what to do about it.",
    }],
    [`first-${turn}`, {
      kind: "text",
      text: "Some words before the work, as long as such words usually are.",
    }],
    [`tool-${turn}`, {
      kind: "tool",
      tool: {
        toolCallId: `tool-${turn}`,
        input: { complete: true, sensitive: false, title: "Run make", kind: "execute", locations: [] },
        result: { status: "completed", content: [{ kind: "text", text: "done" }], diffs: [], exitCode: 0 },
      },
    }],
    [`last-${turn}`, { kind: "text", text: "And some words after it, with what came of it." }],
    [`end-${turn}`, { kind: "end", end: { how: "completed", stopReason: "end_turn" } }],
  ];
}
