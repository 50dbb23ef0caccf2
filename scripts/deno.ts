/**
 * Runs `deno ARGS…` so that it also works where JSR cannot be reached: there, and only there, the `@std`
 * packages are taken from `scripts/std`, a thin front on the same sources from npm.
 *
 * Usage: `deno run -A scripts/deno.ts test -A`
 *
 * A release needs one run where JSR answers: the stand-in's declarations are this project's own.
 */
import { pathToFileURL } from "node:url";

const PROBE = "https://jsr.io/@std/assert/meta.json";
const PROBE_MS = 4000;

/** Lays `scripts/std` out in a folder as JSR does. */
export async function layOutStandIn(folder: string): Promise<void> {
  const source = new URL("./std/", import.meta.url);
  for await (const entry of Deno.readDir(source)) {
    if (!entry.isDirectory) continue;
    const from = new URL(`${entry.name}/`, source);
    const meta = JSON.parse(await Deno.readTextFile(new URL("meta.json", from))) as { latest: string };
    const to = `${folder}/@std/${entry.name}`;
    await Deno.mkdir(`${to}/${meta.latest}`, { recursive: true });
    for await (const file of Deno.readDir(from)) {
      const target = file.name === "meta.json"
        ? `${to}/meta.json`
        : file.name === "version.json"
        ? `${to}/${meta.latest}_meta.json`
        : `${to}/${meta.latest}/${file.name}`;
      await Deno.copyFile(new URL(file.name, from), target);
    }
  }
}

async function reachable(): Promise<boolean> {
  try {
    const answer = await fetch(PROBE, { signal: AbortSignal.timeout(PROBE_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

/** Runs the child to its end. Ctrl-C reaches the whole foreground group by itself; a SIGTERM or SIGHUP is handed on. */
async function run(env: Record<string, string>): Promise<number> {
  // The running program's own path: a machine may have Deno under no name on PATH.
  const child = new Deno.Command(Deno.execPath(), { args: Deno.args, env, stdin: "inherit" }).spawn();
  const handed: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGHUP"] : ["SIGTERM", "SIGHUP"];
  const listeners: [Deno.Signal, () => void][] = [
    ["SIGINT", () => {}],
    ...handed.map((signal): [Deno.Signal, () => void] => [signal, () => child.kill(signal)]),
  ];
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  const status = await child.status;
  for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
  return status.code;
}

async function main(): Promise<number> {
  if (Deno.env.get("JSR_URL") !== undefined || await reachable()) return await run({});
  const folder = await Deno.makeTempDir({ prefix: "gangway-std-" });
  try {
    await layOutStandIn(folder);
    await Deno.stderr.write(
      new TextEncoder().encode("JSR does not answer: taking @std from its npm stand-in\n"),
    );
    return await run({ JSR_URL: pathToFileURL(`${folder}/`).href });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(await main());
