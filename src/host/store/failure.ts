import { HostError } from "../errors.ts";

/** Who has a Session, as far as its lock tells. */
export interface Holder {
  readonly pid?: number;
  readonly program?: string;
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether an id may become part of a path. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Lets an id through that may become part of a path; `what` names it in the refusal. */
export function checkedId(what: string, id: string): string {
  if (isId(id)) return id;
  throw new HostError(
    "invalid",
    `Cannot use this ${what} id: it has to be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"`,
  );
}

/** There is no such Session. */
export function sessionMissing(sessionId: string): HostError {
  return new HostError("not_found", `There is no Session "${sessionId}"`, { data: { sessionId } });
}

/** The id of a new Session is taken. */
export function sessionExists(sessionId: string): HostError {
  return new HostError("conflict", `There is a Session "${sessionId}" already`, { data: { sessionId } });
}

/** Somebody has the Session. */
export function sessionBusy(sessionId: string, holder: Holder): HostError {
  const by = holder.pid === undefined
    ? "another process"
    : `${holder.program ?? "a program"} (process ${holder.pid})`;
  return new HostError(
    "busy",
    `The Session "${sessionId}" is open in ${by}: close it there, or wait until that process has ended`,
    { data: { sessionId, ...holder } },
  );
}

/** The holder let go of the Session, or the store is closed. */
export function storeClosed(what: string): HostError {
  return new HostError("unavailable", `${what} is closed: open it again`);
}

/** A batch contradicts what is stored; nothing of it is kept. */
export function batchRefused(sessionId: string, reason: string): HostError {
  return new HostError("persistence_failed", `Cannot write to the Session "${sessionId}": ${reason}`, {
    data: { sessionId, reason: "refused" },
  });
}

/** There is no such upload or Artifact. */
export function bytesMissing(what: "upload" | "Artifact", id: string): HostError {
  return new HostError("not_found", `There is no ${what} "${id}" in this Session`);
}
