import { denoGrants } from "../../../src/resource/grants.ts";
import type { Orders } from "./swapper.ts";
import { ReadScope } from "../../../src/resource/scope.ts";
import { ResourceError } from "../../../src/session/ports.ts";

/** What the attacker swaps, and for what. */
export const SHAPES = [
  "folder for a link outside",
  "folder for a link outside, hiding the time",
  "folder above the root for a link outside",
  "file for a link outside",
  "file for a named pipe",
] as const;

/** One of {@linkcode SHAPES}. */
export type Shape = typeof SHAPES[number];

/** What came of it. */
export interface Outcome {
  readonly tries: number;
  /** Admissions that yielded the right file. */
  readonly inside: number;
  /** Admissions that yielded the file outside. */
  readonly outside: number;
  readonly refused: number;
  readonly swaps: number;
  /** Files of the place that are still open at the end. */
  readonly open: number;
  /** Microseconds of one admission under attack, refusals included. */
  readonly micros: number;
}

/**
 * Admits and reads a file again and again while a Worker swaps something on its way. Ends after `tries` admissions, or as soon as
 * `enough` says so. `rounds` as in the scope: 0 switches the re-checks off.
 */
export async function attack(
  shape: Shape,
  tries: number,
  options: { rounds?: number; enough?: (sofar: Pick<Outcome, "tries" | "inside" | "outside">) => boolean } =
    {},
): Promise<Outcome> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "gangway-swap-" }));
  const control = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(import.meta.resolve("./swapper.ts"), { type: "module" });
  try {
    const { root, orders } = prepare(base, shape);
    await answer(worker, () => worker.postMessage({ ...orders, control } satisfies Orders));
    const scope = new ReadScope({
      denials: [],
      grants: denoGrants,
      ...options.rounds === undefined ? {} : { rounds: options.rounds },
    });
    const path = `${root}/d/f`;
    let [done, inside, outside, refused] = [0, 0, 0, 0];
    const start = performance.now();
    while (done < tries && !options.enough?.({ tries: done, inside, outside })) {
      done++;
      const read = await readOnce(scope, path, root);
      if (read === "inside") inside++;
      else if (read === "refused") refused++;
      else outside++;
    }
    const micros = (performance.now() - start) * 1000 / done;
    await answer(worker, () => Atomics.store(control, 0, 1));
    return { tries: done, inside, outside, refused, swaps: control[1]!, open: openUnder(base), micros };
  } finally {
    worker.terminate();
    await Deno.remove(base, { recursive: true });
  }
}

/** `base/w/root/d/f` holds "inside", `base/outside/f` and what looks like it from other heights hold "outside". */
function prepare(base: string, shape: Shape): { root: string; orders: Omit<Orders, "control"> } {
  const root = `${base}/w/root`;
  for (const [folder, text] of [[`${root}/d`, "inside"], [`${base}/outside/root/d`, "outside"]]) {
    Deno.mkdirSync(folder!, { recursive: true });
    Deno.writeTextFileSync(`${folder}/f`, text!);
  }
  const outside = `${base}/outside/root/d`;
  switch (shape) {
    case "folder for a link outside":
      Deno.symlinkSync(outside, `${root}/decoy`);
      return { root, orders: { target: `${root}/d`, decoy: `${root}/decoy` } };
    case "folder for a link outside, hiding the time":
      Deno.symlinkSync(outside, `${root}/decoy`);
      return { root, orders: { target: `${root}/d`, decoy: `${root}/decoy`, hide: root } };
    case "folder above the root for a link outside":
      Deno.symlinkSync(`${base}/outside`, `${base}/decoy`);
      return { root, orders: { target: `${base}/w`, decoy: `${base}/decoy` } };
    case "file for a link outside":
      Deno.symlinkSync(`${outside}/f`, `${root}/d/decoy`);
      return { root, orders: { target: `${root}/d/f`, decoy: `${root}/d/decoy` } };
    case "file for a named pipe":
      if (!new Deno.Command("mkfifo", { args: [`${root}/d/decoy`] }).outputSync().success) {
        throw new Error("mkfifo failed");
      }
      return { root, orders: { target: `${root}/d/f`, decoy: `${root}/d/decoy` } };
  }
}

async function readOnce(scope: ReadScope, path: string, root: string): Promise<string> {
  try {
    const admission = await scope.admit(path, [root]);
    if (admission.kind !== "file") return "refused";
    try {
      const part = new Uint8Array(16);
      return new TextDecoder().decode(part.subarray(0, await admission.descriptor.read(part, 0)));
    } finally {
      admission.descriptor.close();
    }
  } catch (error) {
    if (error instanceof ResourceError) return "refused";
    throw error;
  }
}

function openUnder(base: string): number {
  // Other systems have no such list; there the leak checks of the test runner have to do.
  if (Deno.build.os !== "linux") return 0;
  const list = "/proc/self/fd";
  return [...Deno.readDirSync(list)].filter(({ name }) => {
    try {
      return Deno.readLinkSync(`${list}/${name}`).startsWith(base);
    } catch {
      return false; // the one that listed the folder
    }
  }).length;
}

/** The next message of the Worker after something was done. */
function answer(worker: Worker, act: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    act();
  });
}
