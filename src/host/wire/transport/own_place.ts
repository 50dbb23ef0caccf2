import { dirname } from "node:path";
import { HostError } from "../../errors.ts";

/** Who owns files that this process makes: compared with the owners of what others made. Null where the system knows no such thing. */
export type Owner = number | null;

/** Finds out who we are to a folder's file system, without the permission to ask: by a file that is made and removed at once. */
export function ownerIn(folder: string): Owner {
  const probe = `${folder}/.probe-${crypto.randomUUID()}`;
  const file = Deno.openSync(probe, { write: true, createNew: true, mode: 0o600 });
  try {
    return file.statSync().uid;
  } finally {
    file.close();
    Deno.removeSync(probe);
  }
}

/** Makes a folder that only we can look into, where it is missing, and refuses one that is not so. */
export function prepareFolder(path: string): Owner {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  checkKind(path, "folder");
  const owner = ownerIn(path);
  checkPrivate(path, "folder", owner);
  return owner;
}

/** Refuses a file or socket, and the folder that it lies in, unless both are ours and closed to everybody else. */
export function checkOwn(path: string, kind: "file" | "socket", owner: Owner): void {
  checkPrivate(dirname(path), "folder", owner);
  checkPrivate(path, kind, owner);
}

type Kind = "folder" | "file" | "socket";

/** Throws what `lstat` throws where there is nothing. */
function checkPrivate(path: string, kind: Kind, owner: Owner): void {
  const info = checkKind(path, kind);
  if (info.uid !== owner) throw refusal(path, kind, "belongs to another user");
  // Windows has no such modes.
  if (info.mode !== null && (info.mode & 0o077) !== 0) {
    throw refusal(path, kind, `is open to other users: chmod ${kind === "folder" ? "700" : "600"} it`);
  }
}

function checkKind(path: string, kind: Kind): Deno.FileInfo {
  const info = Deno.lstatSync(path);
  const is = { folder: info.isDirectory, file: info.isFile, socket: info.isSocket === true };
  if (info.isSymlink || !is[kind]) throw refusal(path, kind, `is no ${kind}`);
  return info;
}

function refusal(path: string, kind: Kind, fact: string): HostError {
  return new HostError("unauthorized", `The ${kind} "${path}" cannot be trusted: it ${fact}`, {
    dispatch: "not_sent",
    data: { reason: "untrusted" },
  });
}
