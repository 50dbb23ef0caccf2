import type { TurnRecord, Write } from "../../src/host/store/contract.ts";
import type { RowHead } from "../../src/model/row.ts";

/** A row as the store has it. */
export interface TrueRow {
  readonly head: RowHead;
  readonly text: string;
}

/** What the store kept of one Session. */
export class TrueSession {
  readonly rows: Map<number, TrueRow> = new Map<number, TrueRow>();
  readonly turns: Map<string, TurnRecord> = new Map<string, TurnRecord>();
  watermark = 0;

  take(write: Write): void {
    switch (write.op) {
      case "row":
        this.rows.set(write.head.seq, { head: write.head, text: this.rows.get(write.head.seq)?.text ?? "" });
        break;
      case "append":
      case "body": {
        const row = this.rows.get(write.seq)!;
        this.rows.set(write.seq, {
          head: row.head,
          text: write.op === "append" ? row.text + write.text : write.text,
        });
        break;
      }
      case "turn":
        this.turns.set(
          write.turn.state === "tombstone" ? write.turn.turnId : write.turn.run.turnId,
          write.turn,
        );
        break;
      case "watermark":
        this.watermark = write.seq;
        break;
      default:
    }
  }

  /** Rows of a Turn in order. */
  rowsOf(turnId: string): TrueRow[] {
    return [...this.rows.values()].filter((row) => row.head.run.turnId === turnId)
      .sort((a, b) => a.head.seq - b.head.seq);
  }
}

/** What the Host's store kept, commit by commit: the authority that everything shown is compared with. */
export class Truth {
  readonly sessions: Map<string, TrueSession> = new Map<string, TrueSession>();
  /** Sessions that were removed, as they were then. */
  readonly removed: Set<string> = new Set<string>();
  /** Commits that the store refused. */
  refusals = 0;

  session(sessionId: string): TrueSession {
    let session = this.sessions.get(sessionId);
    if (session === undefined) this.sessions.set(sessionId, session = new TrueSession());
    return session;
  }

  take(sessionId: string, batch: readonly Write[]): void {
    const session = this.session(sessionId);
    for (const write of batch) session.take(write);
  }
}
