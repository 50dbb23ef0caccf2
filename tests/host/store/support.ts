import { digestOf } from "../../../src/model/digest.ts";
import type { RowHead } from "../../../src/model/row.ts";
import type { Log } from "../../../src/model/log.ts";
import type { SessionInfo } from "../../../src/host/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import type { Write } from "../../../src/host/store/contract.ts";

/** A log that keeps its warnings. */
export interface KeptLog extends Log {
  readonly warnings: string[];
}

/** Makes a {@linkcode KeptLog}. */
export function keptLog(): KeptLog {
  const warnings: string[] = [];
  const nothing = () => {};
  return {
    warnings,
    debug: nothing,
    info: nothing,
    warn: (message) => warnings.push(message),
    error: nothing,
  };
}

/** Runs with an empty folder that is gone afterwards. */
export async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gangway-store-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A listing entry. */
export function infoOf(sessionId: string, changes: Partial<SessionInfo> = {}): SessionInfo {
  return {
    sessionId,
    cwd: "/work",
    roots: [],
    engineId: "workbench",
    createdAt: 1000,
    updatedAt: 1000,
    config: { revision: 0, options: [] },
    commands: [],
    ...changes,
  };
}

/** A row's head; `text` is its whole body. */
export function headOf(seq: number, text: string, changes: Partial<RowHead> = {}): RowHead {
  return {
    seq,
    run: { turnId: "turn-1", runId: "run-1" },
    kind: "text",
    id: `message-${seq}`,
    complete: true,
    sensitive: false,
    length: text.length,
    sha256: digestOf(text),
    at: 1_700_000_000_000 + seq,
    ...changes,
  };
}

/** The writes of a whole row. */
export function rowOf(seq: number, text: string, changes: Partial<RowHead> = {}): Write[] {
  return [
    { op: "row", head: headOf(seq, text, changes) },
    { op: "append", seq, offset: 0, text },
  ];
}

/** The HostError that some work ends with. */
export async function refusalOf(work: Promise<unknown>): Promise<HostError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

/** Numbers that look random and are the same for the same seed. */
export function numbersOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
