import type { EngineContext } from "../contract.ts";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import { numberOf, textOf } from "./shape.ts";
import { refused } from "./link.ts";

/** ACP's codes for a request that is wrong, and for one that failed. */
const INVALID = -32602;
const FAILED = -32603;

/**
 * Reads a text file for an agent whose Turn no editor serves: within the Session's folders and this process's permissions. `line`
 * counts from 1.
 */
export async function readOwnFile(params: JsonObject, context: EngineContext): Promise<JsonObject> {
  const path = await admitted(params, context);
  return await doing("read", params, async () => {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) throw refused(INVALID, `"${params.path}" is not a regular file`);
    if (size > LIMITS.assemblyLength) throw refused(INVALID, `"${params.path}" is too long: ${size} bytes`);
    const text = await Deno.readTextFile(path);
    const [line, limit] = [numberOf(params.line), numberOf(params.limit)];
    if (line === undefined && limit === undefined) return { content: text };
    const from = Math.max(0, (line ?? 1) - 1);
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return { content: lines.slice(from, limit === undefined ? undefined : from + limit).join("") };
  });
}

/** Writes a text file as a whole, in the same bounds. */
export async function writeOwnFile(params: JsonObject, context: EngineContext): Promise<JsonObject> {
  const content = textOf(params.content);
  if (content === undefined) throw refused(INVALID, '"content" must be a string');
  const path = await admitted(params, context);
  return await doing("write", params, async () => {
    const known = await Deno.stat(path).catch(() => undefined);
    if (known !== undefined && !known.isFile) {
      throw refused(INVALID, `"${params.path}" is not a regular file`);
    }
    if (known === undefined) await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, content);
    return {};
  });
}

/** The real path, where it lies in the Session's folders. */
async function admitted(params: JsonObject, context: EngineContext): Promise<string> {
  const path = textOf(params.path);
  if (path === undefined || !isAbsolute(path)) throw refused(INVALID, '"path" must be an absolute path');
  const real = await doing("read", params, () => realPathOf(path));
  for (const root of [context.cwd, ...context.roots]) {
    if (isBelow(relative(root, real))) return real;
    // A Session that an agent kept may name its folder by a link.
    if (isBelow(relative(await Deno.realPath(root).catch(() => root), real))) return real;
  }
  throw refused(INVALID, `"${path}" lies outside of the Session's folders`);
}

/** With every link followed; what does not exist yet counts where it would be made. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
  }
  // Writing would follow a link to nothing.
  if (await Deno.lstat(path).then((info) => info.isSymlink, () => false)) throw new Deno.errors.NotFound();
  return join(await realPathOf(dirname(path)), basename(path));
}

function isBelow(way: string): boolean {
  return !isAbsolute(way) && way !== ".." && !/^\.\.[/\\]/.test(way);
}

async function doing<T>(verb: "read" | "write", params: JsonObject, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const what = `Cannot ${verb} "${params.path}"`;
    if (error instanceof Deno.errors.NotCapable) {
      throw refused(FAILED, `${what}: Gangway has no permission for it`);
    }
    if (error instanceof Deno.errors.NotFound) throw refused(-32002, `${what}: it does not exist`);
    if (error instanceof Error && "code" in error && typeof error.code === "number") throw error;
    throw refused(FAILED, `${what}: the system does not let it`);
  }
}
