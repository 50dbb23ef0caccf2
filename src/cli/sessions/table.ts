import type { HeldSession } from "../daemon/status.ts";
import type { SessionInfo } from "../../host/contract.ts";

/** A Session as a list shows it. */
export interface ListedSession {
  readonly info: SessionInfo;
  /** How its first prompt begins, where it has no title. */
  readonly words?: string;
  readonly held?: HeldSession;
}

/** What a Session is doing. */
export type SessionState = "running" | "waiting" | "open" | "idle";

const HEADS = ["ID", "LAST USED", "STATE", "TITLE", "FOLDER"] as const;
/** Columns of an id that a table shows; a command takes as much of one as is unique. */
const ID_LENGTH = 8;
/** The least that titles get. */
const LEAST = 16;
const GAP = 2;

/** What a Session is doing, as far as a Host tells. */
export function stateOf(held: HeldSession | undefined): SessionState {
  if (held === undefined) return "idle";
  if (held.waiting > 0) return "waiting";
  return held.running > 0 ? "running" : held.editors > 0 ? "open" : "idle";
}

/** Sessions as lines that fit into `width` columns; `now` is in milliseconds since the epoch. */
export function tableOf(
  sessions: readonly ListedSession[],
  now: number,
  width: number,
  home?: string,
): string[] {
  const idLength = shortest(sessions.map(({ info }) => info.sessionId));
  const cells = sessions.map(({ info, words, held }) => [
    info.sessionId.slice(0, idLength),
    ageOf(now - info.updatedAt),
    stateOf(held),
    plain(info.title ?? words ?? ""),
    shortFolder(plain(info.cwd), home),
  ]);
  const widths = HEADS.map((head, at) => Math.max(head.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const fixed = widths.slice(0, 3).reduce((sum, each) => sum + each + GAP, 0);
  const room = Math.max(2 * LEAST + GAP, width - fixed);
  const folder = Math.min(widths[4] ?? 0, Math.max(LEAST, Math.floor(room / 2)));
  const title = Math.min(widths[3] ?? 0, room - GAP - folder);
  const line = (row: readonly string[]) =>
    row.map((cell, at) =>
      at === 3
        ? fit(cell, title, "end").padEnd(title)
        : at === 4
        ? fit(cell, folder, "start")
        : cell.padEnd(widths[at] ?? 0)
    )
      .join(" ".repeat(GAP)).trimEnd();
  return [HEADS, ...cells].map(line);
}

/** How long ago, in as many words as a column has room for. */
export function ageOf(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days < 365 ? `${days} d ago` : `${Math.floor(days / 365)} y ago`;
}

/** Text of others on one line, without anything that could steer a terminal. */
export function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ")
    .replaceAll(/ {2,}/g, " ").trim();
}

/** As many characters of ids as tell them apart. */
function shortest(ids: readonly string[]): number {
  let length = ID_LENGTH;
  while (length < 64 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length++;
  return length;
}

function shortFolder(folder: string, home: string | undefined): string {
  return home !== undefined && (folder === home || folder.startsWith(`${home}/`))
    ? `~${folder.slice(home.length)}`
    : folder;
}

function fit(text: string, width: number, cut: "start" | "end"): string {
  if (text.length <= width) return text;
  return cut === "end" ? `${text.slice(0, width - 1)}…` : `…${text.slice(text.length - width + 1)}`;
}
