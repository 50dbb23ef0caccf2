import { LIMITS } from "../limits.ts";
import { quote } from "./quote.ts";
import { ResourceError } from "../session/ports.ts";

/**
 * The sentences of a refusal. Each names the path as the Client wrote it and never where a link leads, and says what to do.
 */

/** What Deno or the system threw. */
export function refusalOf(path: string, error: unknown): ResourceError {
  if (error instanceof ResourceError) return error;
  if (error instanceof Deno.errors.NotCapable) return notPermitted(path);
  const code = error instanceof Error && "code" in error ? String(error.code) : "no reason";
  const [kind, why] = BY_CODE[code] ?? ["unreadable", `cannot be read: the system gives ${code}`];
  return new ResourceError(kind, `${quote(path)} ${why}`, { cause: error });
}

const BY_CODE: Readonly<Record<string, readonly [ResourceError["code"], string]>> = {
  ENOENT: [
    "not_found",
    "does not exist, or is a symbolic link to nothing: save it first, and write # and ? of a name as %23 and %3F",
  ],
  ENOTDIR: ["not_found", "does not exist: a part of its path is a file and no folder"],
  ELOOP: ["not_found", "does not exist: its symbolic links lead in a circle"],
  ENAMETOOLONG: ["not_found", "does not exist: its path is longer than the system allows"],
  EACCES: ["unreadable", "cannot be read: the system does not let this user read it"],
  EPERM: ["unreadable", "cannot be read: the system does not let this user read it"],
};

/** The process was not given the permission. */
export function notPermitted(path: string): ResourceError {
  // Deno splits the flag at commas; two stand for one.
  const flag = `--allow-read=${path.replaceAll(",", ",,")}`;
  return refused(path, `may not be read: start Gangway with ${flag}, or with its folder there`);
}

/** The scope does not let it through, for the reason given. */
export function refused(path: string, why: string): ResourceError {
  return new ResourceError("not_permitted", `${quote(path)} ${why}`);
}

/** What is there is no regular file but `kind`, such as "a socket". */
export function notRegular(path: string, kind: string): ResourceError {
  return new ResourceError(
    "not_a_regular_file",
    `${quote(path)} is ${kind}, and only regular files are read`,
  );
}

/** A folder, for an agent that takes none. */
export function folderRefused(path: string): ResourceError {
  return new ResourceError(
    "not_a_regular_file",
    `${quote(path)} is a folder, and this agent takes only files: link the files in it`,
  );
}

/** No folder to work in. */
export function folderMissing(path: string, cause: Error): ResourceError {
  return new ResourceError("not_found", `${quote(path)} does not exist: name an existing folder to work in`, {
    cause,
  });
}

/** There are more bytes than are taken. */
export function tooLarge(path: string): ResourceError {
  return new ResourceError(
    "too_large",
    `${quote(path)} is larger than ${LIMITS.artifactBytes / 1024 / 1024} MiB: ` +
      "link a smaller file or paste the part that matters",
  );
}

/** It, or a folder on the way to it, was moved while it was opened. */
export function changedWhileOpened(path: string): ResourceError {
  return new ResourceError(
    "changed",
    `${quote(path)} or a folder above it changed while it was opened: send the prompt again`,
  );
}

/** It was written to between its opening and its end. */
export function changedWhileRead(path: string): ResourceError {
  return new ResourceError("changed", `${quote(path)} changed while it was read: send the prompt again`);
}
