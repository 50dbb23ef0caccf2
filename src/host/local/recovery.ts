import { digestOf } from "../../model/digest.ts";
import { encodeBody } from "../../model/row.ts";
import type { Ids } from "../../model/clock.ts";
import type { SessionState, SessionStore, Write } from "../store/contract.ts";

/**
 * Makes a Session whole that an earlier process left in the middle: its Turns without an end are interrupted, what they were
 * saying is kept as far as it was saved. Returns the state that then holds, durable.
 */
export async function recover(
  store: SessionStore,
  options: { ids: Ids; date: () => number },
): Promise<SessionState> {
  const state = await store.load();
  const batch: Write[] = [];
  for (const head of state.open) {
    if (!head.complete) batch.push({ op: "row", head: { ...head, complete: true } });
  }
  let last = state.last;
  const body = encodeBody({ kind: "end", end: { how: "interrupted" } });
  const at = options.date();
  for (const turn of state.unended) {
    if (turn.state !== "admitted") continue;
    const seq = ++last;
    const row = { seq, run: turn.run, kind: "end", id: options.ids.next(), at } as const;
    const content = { complete: true, sensitive: false, length: body.length, sha256: digestOf(body) };
    batch.push(
      { op: "row", head: { ...row, ...content } },
      { op: "body", seq, text: body },
      { op: "turn", turn: { ...turn, state: "ended", end: { how: "interrupted" }, through: seq } },
    );
  }
  if (last > state.watermark) batch.push({ op: "watermark", seq: last });
  if (batch.length > 0) await store.commit(batch);
  return { ...state, unended: [], open: [], last, watermark: last };
}
