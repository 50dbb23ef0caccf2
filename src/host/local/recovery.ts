import { encodeBody } from "../../model/row.ts";
import type { Ids } from "../../model/clock.ts";
import type { SessionState, SessionStore, Write } from "../store/contract.ts";
import { FixedRow } from "./row.ts";

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
  const end = { how: "interrupted" } as const;
  const body = encodeBody({ kind: "end", end });
  const at = options.date();
  for (const turn of state.unended) {
    if (turn.state !== "admitted") continue;
    const through = ++last;
    const row = new FixedRow({ seq: through, run: turn.run, kind: "end", id: options.ids.next(), at }, body);
    batch.push(...row.take(), { op: "turn", turn: { ...turn, state: "ended", end, through } });
  }
  if (last > state.watermark) batch.push({ op: "watermark", seq: last });
  if (batch.length > 0) await store.commit(batch);
  return { ...state, unended: [], open: [], last, watermark: last };
}
