import { admit, admitWithoutLooking, type Place } from "./place.ts";
import { failureOf, ToolFailure } from "./failure.ts";
import { dirname } from "node:path";
import { fieldOf } from "./answer.ts";
import type { Job } from "./job.ts";
import { LIMITS } from "../../limits.ts";

/** What a file holds. `unknown` where only the editor could tell and did not. */
export type FileState =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing" }
  | { readonly kind: "binary"; readonly bytes: number }
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * Bytes of a file that the workbench reads: as much as the Host keeps of one tool. A longer one is refused rather than
 * shown or changed by halves.
 */
const FILE_BYTES = LIMITS.toolOutputLength;

/** Reads a file of the Session: through the editor where it offers that, since it knows what is not saved yet. */
export async function readFile(job: Job, place: Place): Promise<FileState> {
  if (!job.services().readTextFile) return await readOwn(job, place);
  await admitForEditor(job, place);
  try {
    const answer = await job.call("fs/read_text_file", { path: place.path });
    const content = fieldOf(answer, "content");
    if (typeof content !== "string") throw new Error("The editor answered without content");
    if (content.length > FILE_BYTES) throw tooLong(place, content.length, "characters");
    return { kind: "text", text: content };
  } catch (error) {
    if (job.signal.aborted || error instanceof ToolFailure) throw error;
    // Editors differ in how they say that there is no such file: the disk knows.
    if (await isMissing(place)) return { kind: "missing" };
    return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Writes a file of the Session as a whole, through the editor where it offers that. Makes the folders above it. */
export async function writeFile(job: Job, place: Place, text: string): Promise<void> {
  if (job.services().writeTextFile) {
    await admitForEditor(job, place);
    try {
      await job.call("fs/write_text_file", { path: place.path, content: text });
    } catch (error) {
      throw job.signal.aborted ? error : failureOf(error, { verb: "write", what: place.shown });
    }
    return;
  }
  try {
    const real = await admit(job.context, place);
    if (!await isRegular(real, place)) await Deno.mkdir(dirname(real), { recursive: true });
    job.signal.throwIfAborted();
    await Deno.writeTextFile(real, text);
  } catch (error) {
    throw job.signal.aborted ? error : failureOf(error, { verb: "write", what: place.shown });
  }
}

async function readOwn(job: Job, place: Place): Promise<FileState> {
  try {
    const real = await admit(job.context, place);
    if (!await isRegular(real, place)) return { kind: "missing" };
    const bytes = await readBytes(real, place, job.signal);
    try {
      // The byte order mark is the file's own and stays in the text.
      return { kind: "text", text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      return { kind: "binary", bytes: bytes.length };
    }
  } catch (error) {
    throw job.signal.aborted ? error : failureOf(error, { verb: "read", what: place.shown });
  }
}

/** Whether there is a regular file; false for nothing. All else is refused before it is opened: opening a pipe would hang. */
async function isRegular(real: string, { shown }: Place): Promise<boolean> {
  try {
    const info = await Deno.stat(real);
    if (info.isFile) return true;
    throw new ToolFailure(`${shown} is ${info.isDirectory ? "a folder" : "not a regular file"}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function readBytes(real: string, place: Place, signal: AbortSignal): Promise<Uint8Array> {
  using file = await Deno.open(real);
  const { size } = await file.stat();
  // One byte more than the size tells a file that grows.
  let bytes = new Uint8Array(Math.min(size, FILE_BYTES) + 1);
  let length = 0;
  while (true) {
    signal.throwIfAborted();
    const count = await file.read(bytes.subarray(length));
    if (count === null) return bytes.subarray(0, length);
    length += count;
    if (length > FILE_BYTES) throw tooLong(place, Math.max(size, length), "bytes");
    if (length === bytes.length) {
      const grown = new Uint8Array(Math.min(2 * length, FILE_BYTES + 1));
      grown.set(bytes);
      bytes = grown;
    }
  }
}

async function admitForEditor(job: Job, place: Place): Promise<void> {
  try {
    await admit(job.context, place);
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    // Without permission to look, the editor guards its own files; the path as written still has to fit.
    admitWithoutLooking(job.context, place);
  }
}

async function isMissing({ path }: Place): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

function tooLong({ shown }: Place, size: number, unit: string): ToolFailure {
  return new ToolFailure(`${shown} is too long: ${size} ${unit}, and the workbench takes ${FILE_BYTES}`);
}
