import { HostError } from "../errors.ts";
import type { HostErrorCode } from "../errors.ts";

/** What an operation on the disk was about. */
export interface StorageSubject {
  readonly folder: string;
  readonly sessionId?: string;
}

/** Why the disk did not do its part; `data.reason` of the {@linkcode HostError}. */
export type StorageReason =
  | "denied" // Deno was started without the permission
  | "read_only" // the system does not let this user write
  | "full" // no room on the disk
  | "damaged" // what is stored cannot be read
  | "empty" // a file was begun and never written, or is not there
  | "locked" // another process keeps a database to itself
  | "version" // written by a newer Gangway
  | "foreign" // not ours
  | "failed"; // anything else

/** The refusal of a storage operation, in words that name the Session or the folder, and the remedy. */
export function storageRefusal(reason: StorageReason, subject: StorageSubject, cause?: unknown): HostError {
  const { folder, sessionId } = subject;
  const [code, message] = wording(reason, folder, sessionId);
  return new HostError(code, message, { data: { reason, folder, ...(sessionId && { sessionId }) }, cause });
}

/** Turns whatever the file system or SQLite threw into a {@linkcode HostError}; one that is there already stays. */
export function storageFailure(cause: unknown, subject: StorageSubject): HostError {
  return cause instanceof HostError ? cause : storageRefusal(reasonOf(cause), subject, cause);
}

function wording(reason: StorageReason, folder: string, sessionId?: string): [HostErrorCode, string] {
  const elsewhere = "choose another with --state, or keep Sessions in memory with --memory";
  const what = sessionId === undefined ? "The list of Sessions" : `The Session "${sessionId}"`;
  switch (reason) {
    case "denied":
      return [
        "unavailable",
        `Cannot use the state folder "${folder}" without permission: ` +
        `start with --allow-read="${folder}" and --allow-write="${folder}", ${elsewhere}`,
      ];
    case "read_only":
      return [
        "persistence_failed",
        `Cannot write to the state folder "${folder}": make it writable for this user, ${elsewhere}`,
      ];
    case "full":
      return [
        "persistence_failed",
        `${what} cannot be saved because the disk of the state folder "${folder}" is full: free some space and try again`,
      ];
    case "damaged":
    case "empty":
      return [
        "persistence_failed",
        sessionId === undefined
          ? `${what} in the state folder "${folder}" is damaged: end every Gangway and delete its index.db, which is then made anew from the Sessions`
          : `${what} is damaged on disk: delete the Session, or put its folder back from a backup. Other Sessions are not affected`,
      ];
    case "locked":
      return [
        "unavailable",
        `${what} is being written by another process that takes too long: try again, or end that process`,
      ];
    case "version":
      return [
        "persistence_failed",
        `${what} in the state folder "${folder}" was written by a newer Gangway: update this one, or ${elsewhere}`,
      ];
    case "foreign":
      return [
        "persistence_failed",
        `The state folder "${folder}" holds something that is not Gangway's: ${elsewhere}`,
      ];
    case "failed":
      return [
        "persistence_failed",
        `${what} cannot be read or saved in the state folder "${folder}": check the disk and try again`,
      ];
  }
}

/** node:sqlite gives no result codes, only SQLite's own fixed English sentences. */
const SENTENCES: readonly (readonly [RegExp, StorageReason])[] = [
  [/disk is full/, "full"],
  [/readonly database|unable to open database/, "read_only"],
  [/malformed|not a database/, "damaged"],
  [/is locked/, "locked"],
];

const CODES: { readonly [code: string]: StorageReason } = {
  EEXIST: "foreign",
  ENOTDIR: "foreign",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
};

function reasonOf(cause: unknown): StorageReason {
  if (cause instanceof Deno.errors.NotCapable) return "denied";
  // A stored value that does not read as what was written.
  if (cause instanceof SyntaxError) return "damaged";
  if (!(cause instanceof Error)) return "failed";
  const code = "code" in cause && typeof cause.code === "string" ? CODES[cause.code] : undefined;
  return code ?? SENTENCES.find(([sentence]) => sentence.test(cause.message))?.[1] ?? "failed";
}
