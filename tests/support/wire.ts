import { Rules } from "./rules.ts";

/** An id of a JSON-RPC request. */
export type RequestId = string | number | null;

/** A JSON-RPC message by what it is. */
export type Message =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: RequestId; readonly result: unknown }
  | { readonly kind: "error"; readonly id: RequestId; readonly error: RpcError };

/** The error of a JSON-RPC response. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Who wrote a line. */
export type From = "client" | "agent";

/** One line as it crossed the wire. */
export interface Entry {
  /** Position among all lines of both directions, from 0. */
  readonly index: number;
  /** Milliseconds since the wire was opened. */
  readonly at: number;
  readonly from: From;
  /** Length of the line in bytes, without its end. */
  readonly bytes: number;
  readonly text: string;
  /** Absent where the line is no JSON-RPC message. */
  readonly message?: Message;
}

const SHOWN_LINES = 400;
const SHOWN_LENGTH = 1500;

/** All lines of one connection in order, and what is wrong with them. */
export class Wire {
  /** Judges every line as it is recorded. */
  readonly rules: Rules = new Rules();
  readonly faults: string[] = [];
  #entries: Entry[] = [];
  #keep: number;
  #count = 0;
  #opened = performance.now();
  #watchers = new Set<(entry: Entry) => void>();

  /** Keeps at most `keep` of the latest lines; all are judged. */
  constructor(keep: number = Infinity) {
    this.#keep = keep;
  }

  /** The lines that are kept, oldest first. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** How many lines there were. */
  get count(): number {
    return this.#count;
  }

  /** Takes one line. `judged` is false for what a test gets wrong on purpose. */
  record(from: From, text: string, bytes: number, judged = true): Entry {
    const message = parse(text);
    const entry: Entry = {
      index: this.#count,
      at: performance.now() - this.#opened,
      from,
      bytes,
      text,
      ...(message === undefined ? {} : { message }),
    };
    this.#count += 1;
    this.#entries.push(entry);
    if (this.#entries.length > 2 * this.#keep) this.#entries.splice(0, this.#entries.length - this.#keep);
    for (const fault of this.rules.take(entry, judged)) this.faults.push(`line ${entry.index}: ${fault}`);
    for (const watcher of [...this.#watchers]) watcher(entry);
    return entry;
  }

  /** Calls `watcher` with every further line until the returned function is called. */
  watch(watcher: (entry: Entry) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The whole conversation for people; long lines and long middles are cut. */
  dump(): string {
    const lines = this.#entries.map((entry) => {
      const text = entry.text.length > SHOWN_LENGTH
        ? `${entry.text.slice(0, SHOWN_LENGTH)}… (${entry.bytes} bytes)`
        : entry.text;
      return `${entry.index} +${entry.at.toFixed(0)}ms ${entry.from === "client" ? "->" : "<-"} ${text}`;
    });
    if (lines.length <= SHOWN_LINES) return lines.join("\n");
    const half = SHOWN_LINES / 2;
    const left = lines.length - SHOWN_LINES;
    return [...lines.slice(0, half), `… ${left} lines …`, ...lines.slice(-half)].join("\n");
  }
}

/** Tells the JSON-RPC messages apart; undefined for anything else. */
export function parse(text: string): Message | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const has = (key: string) => Object.hasOwn(value, key);
  const { id, method, params, result, error } = value as Record<string, unknown>;
  if (has("id") && id !== null && typeof id !== "string" && typeof id !== "number") return undefined;
  const requestId = id as RequestId;
  if (typeof method === "string") {
    return has("id")
      ? { kind: "request", id: requestId, method, params }
      : { kind: "notification", method, params };
  }
  if (!has("id") || has("result") === has("error")) return undefined;
  return has("result")
    ? { kind: "result", id: requestId, result }
    : { kind: "error", id: requestId, error: error as RpcError };
}
