import { HostError } from "../errors.ts";

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether an id may become part of a path or a key. */
export function isId(id: string): boolean {
  return ID.test(id);
}

/** Refuses an id that may not become part of a path or a key. `what` names it for people. */
export function checkId(what: string, id: string): void {
  if (typeof id === "string" && ID.test(id)) return;
  throw new HostError(
    "invalid",
    `Cannot use this ${what} id: it has to be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"`,
  );
}
