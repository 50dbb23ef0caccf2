/**
 * Runs `deno ARGS…` so that it also works where JSR cannot be reached: there, and only there, the `@std`
 * packages are taken from `scripts/std`, a thin front on the same sources from npm.
 *
 * Usage: `deno run -A scripts/deno.ts test -A`
 *
 * A release needs one run where JSR answers: the stand-in's declarations are this project's own.
 */
const JSR = "https://jsr.io/";
const PROBE_MS = 4000;

/** Lays `scripts/std` out like a registry folder and returns its URL; the caller removes the folder. */
async function standIn(): Promise<{ url: string; folder: string }> {
  const source = new URL("./std/", import.meta.url);
  const folder = await Deno.makeTempDir({ prefix: "gangway-std-" });
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
  return { url: `file://${folder}/`, folder };
}

async function reachable(): Promise<boolean> {
  try {
    const answer = await fetch(`${JSR}@std/assert/meta.json`, { signal: AbortSignal.timeout(PROBE_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

async function main(): Promise<number> {
  const env: Record<string, string> = {};
  let folder: string | undefined;
  if (Deno.env.get("JSR_URL") === undefined && !await reachable()) {
    const made = await standIn();
    folder = made.folder;
    env.JSR_URL = made.url;
    await Deno.stderr.write(
      new TextEncoder().encode("JSR does not answer: using the npm stand-in for @std\n"),
    );
  }
  // The running program's own path: a machine may have Deno under no name on PATH.
  const child = new Deno.Command(Deno.execPath(), { args: Deno.args, env, stdin: "inherit" }).spawn();
  // Ctrl-C reaches the whole foreground group; the child decides and its code is passed through.
  const ignore = () => {};
  Deno.addSignalListener("SIGINT", ignore);
  const status = await child.status;
  Deno.removeSignalListener("SIGINT", ignore);
  if (folder !== undefined) await Deno.remove(folder, { recursive: true });
  return status.code;
}

if (import.meta.main) Deno.exit(await main());
