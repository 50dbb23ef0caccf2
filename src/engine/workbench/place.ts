import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { EngineContext } from "../contract.ts";
import { ToolFailure } from "./failure.ts";

/** A path of a step. */
export interface Place {
  /** Absolute, without `..`, links as they were written. */
  readonly path: string;
  /** For people: relative to the working directory where it lies below it. */
  readonly shown: string;
}

/** Takes a path relative to the working directory. No I/O. */
export function placeOf(context: EngineContext, written: string): Place {
  const path = resolve(context.cwd, written);
  const below = relative(context.cwd, path);
  return { path, shown: isBelow(below) ? below || "." : path };
}

/**
 * The path with every link followed, where it lies in the working directory or a root. What does not exist yet counts where it
 * would be made. Throws a {@linkcode ToolFailure} for all else, and what the system says where it cannot look.
 */
export async function admit(context: EngineContext, { path, shown }: Place): Promise<string> {
  const real = await realPathOf(path, shown);
  admitWithoutLooking(context, { path: real, shown });
  return real;
}

/** The same decision by the path as written, for a runtime that may not look. */
export function admitWithoutLooking(context: EngineContext, { path, shown }: Place): void {
  const roots = [context.cwd, ...context.roots];
  if (roots.some((root) => isBelow(relative(root, path)))) return;
  throw new ToolFailure(`${shown} lies outside of the Session's folders`);
}

function isBelow(way: string): boolean {
  return !isAbsolute(way) && way !== ".." && !/^\.\.[/\\]/.test(way);
}

async function realPathOf(path: string, shown: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
  }
  // A link to nothing would be followed by writing.
  if (await isLink(path)) throw new ToolFailure(`${shown} goes through a link to what does not exist`);
  return join(await realPathOf(dirname(path), shown), basename(path));
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isSymlink;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
