import { createHash } from "node:crypto";
import { HostError } from "../errors.ts";

/** Where a page of the list ended: the next one starts behind it. */
export interface ListPosition {
  readonly updatedAt: number;
  readonly sessionId: string;
}

/** Which list a cursor belongs to. */
export interface ListScope {
  readonly storeId: string;
  readonly cwd?: string;
}

/** Longer than any that {@linkcode encodeCursor} and {@linkcode sealed} make. */
const MAX_LENGTH = 256;
const MAX_SEALED = 2048;

/** The seal ties a cursor to its store and filter, so that a foreign one is told from one of ours. */
function sealOf(scope: ListScope, position: string): string {
  const hash = createHash("sha256").update(JSON.stringify([scope.storeId, scope.cwd ?? null, position]));
  return hash.digest("base64url").slice(0, 16);
}

/** Makes the opaque cursor of a position. */
export function encodeCursor(scope: ListScope, position: ListPosition): string {
  const text = `${position.updatedAt}.${position.sessionId}`;
  return `${text}.${sealOf(scope, text)}`;
}

/** Reads a cursor back. Throws `invalid` for one that was cut, altered, or made by another store or for another filter. */
export function decodeCursor(scope: ListScope, cursor: string): ListPosition {
  const parts = cursor.length <= MAX_LENGTH ? cursor.split(".") : [];
  const seal = parts.pop();
  const position = parts.join(".");
  if (parts.length < 2 || seal !== sealOf(scope, position)) throw foreign();
  const sessionId = parts.pop() ?? "";
  return { updatedAt: Number(parts.join(".")), sessionId };
}

/** Makes an opaque cursor of a text; `mark` tells its kind and has no place in another. */
export function sealed(scope: ListScope, text: string, mark: string): string {
  const body = new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
  return `${mark}${body}.${sealOf(scope, mark + body)}`;
}

/** Reads it back. Throws `invalid` as {@linkcode decodeCursor} does. */
export function unsealed(scope: ListScope, cursor: string, mark: string): string {
  const [body = "", seal, ...more] = cursor.startsWith(mark) && cursor.length <= MAX_SEALED
    ? cursor.slice(mark.length).split(".")
    : [];
  if (more.length > 0 || seal !== sealOf(scope, mark + body)) throw foreign();
  return new TextDecoder().decode(Uint8Array.fromBase64(body, { alphabet: "base64url" }));
}

function foreign(): HostError {
  return new HostError(
    "invalid",
    "The cursor does not belong to this list: ask for the first page without a cursor",
  );
}

/** Orders newest first; Sessions of the same moment by falling id. */
export function newestFirst(a: ListPosition, b: ListPosition): number {
  if (a.updatedAt !== b.updatedAt) return b.updatedAt - a.updatedAt;
  return a.sessionId < b.sessionId ? 1 : a.sessionId > b.sessionId ? -1 : 0;
}
