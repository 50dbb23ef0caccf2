/**
 * Plants faults, one at a time, and says which tests catch them: a check that cannot fail proves nothing.
 *
 * Usage: `deno task mutate [--only ID|PATH] [--jobs N]`. Each fault is a small edit of a copy of the source; the tests that its entry
 * names are run on it. It counts as caught only when a test that carries one of its acceptance ids fails, and when those tests pass
 * without it. `--only` takes those of one id, or of the files whose path begins so. As many run at a time as there are processors,
 * at most four.
 */
import { parseArgs } from "@std/cli/parse-args";
import { type Mutant, MUTANTS } from "./mutants/mod.ts";
import { stdoutScreen } from "../src/cli/screen.ts";

const screen = stdoutScreen();

/** How long the tests of one fault may take; a fault that makes them hang is stopped then. */
const DEADLINE_MS = 90_000;
const ROOT = new URL("../", import.meta.url).pathname;
const COPIED = ["deno.json", "mod.ts", "src", "tests", "scripts"];

/** What became of a planted fault. */
interface Verdict {
  readonly mutant: Mutant;
  readonly kind: "caught" | "unnamed" | "survived" | "unfit" | "unsound";
  readonly by: readonly string[];
}

async function copyTree(from: string, to: string): Promise<void> {
  const info = await Deno.stat(from);
  if (info.isFile) return await Deno.copyFile(from, to);
  await Deno.mkdir(to, { recursive: true });
  for await (const entry of Deno.readDir(from)) {
    if (!entry.isSymlink) await copyTree(`${from}/${entry.name}`, `${to}/${entry.name}`);
  }
}

/** Names of the tests that fail, from the TAP report; those that never ended included. */
function failed(report: string): string[] {
  const names: string[] = [];
  for (const line of report.split("\n")) {
    const match = /^\s*not ok \d+ - (.*)$/.exec(line);
    if (match !== null && !match[1]!.endsWith("_test.ts")) names.push(match[1]!);
  }
  return names;
}

/** What a run of a fault's tests came to. */
interface Outcome {
  readonly code: number;
  /** Names of the tests that failed. */
  readonly by: readonly string[];
}

/** Runs the tests of a fault; with `ids` only those that carry one of them. */
async function runTests({ tests }: Mutant, folder: string, ids: readonly string[] = []): Promise<Outcome> {
  const filter = ids.length === 0 ? [] : [`--filter=/\\[(${ids.join("|")})\\]/`];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--reporter=tap", ...filter, ...tests],
    cwd: folder,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const deadline = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
  const { code, stdout } = await child.output();
  clearTimeout(deadline);
  return { code, by: failed(new TextDecoder().decode(stdout)) };
}

/** What tests come to without any fault. */
const soundness = new Map<string, Outcome>();

async function soundnessOf(mutant: Mutant, folder: string): Promise<Outcome> {
  const key = mutant.tests.join();
  let outcome = soundness.get(key);
  if (outcome === undefined) soundness.set(key, outcome = await runTests(mutant, folder));
  return outcome;
}

async function judge(mutant: Mutant, folder: string): Promise<Verdict> {
  const path = `${folder}/${mutant.file}`;
  const source = await Deno.readTextFile(path);
  const parts = source.split(mutant.find);
  if (parts.length !== 2) return { mutant, kind: "unfit", by: [] };
  const without = await soundnessOf(mutant, folder);
  if (without.code !== 0) return { mutant, kind: "unsound", by: without.by };
  await Deno.writeTextFile(path, parts.join(mutant.replace));
  try {
    const named = await runTests(mutant, folder, mutant.ids);
    // A run that was stopped, or that could not even begin, names nobody.
    if (named.code !== 0 && named.by.length > 0) return { mutant, kind: "caught", by: named.by };
    const { code, by } = await runTests(mutant, folder);
    return { mutant, kind: code === 0 ? "survived" : "unnamed", by };
  } finally {
    await Deno.writeTextFile(path, source);
  }
}

async function worker(queue: Mutant[], verdicts: Verdict[]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gangway-mutants-" });
  for (const each of COPIED) await copyTree(`${ROOT}${each}`, `${folder}/${each}`);
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const verdict = await judge(mutant, folder);
    verdicts.push(verdict);
    const { kind, by } = verdict;
    screen.line(`${kind.padEnd(8)} [${mutant.ids.join("] [")}] ${mutant.fault}`);
    if (kind === "unnamed") { for (const name of by) screen.line(`           only by: ${name}`); }
    if (kind === "unsound") { for (const name of by) screen.line(`           fails anyway: ${name}`); }
  }
  await Deno.remove(folder, { recursive: true });
}

async function main(): Promise<number> {
  const jobs = String(Math.min(4, navigator.hardwareConcurrency));
  const flags = parseArgs(Deno.args, { string: ["only", "jobs"], default: { jobs } });
  const { only } = flags;
  const queue = MUTANTS.filter(({ ids, file }) =>
    only === undefined || ids.includes(only) || file.startsWith(only)
  );
  const verdicts: Verdict[] = [];
  await Promise.all(Array.from({ length: Number(flags.jobs) }, () => worker(queue, verdicts)));
  const count = (kind: Verdict["kind"]) => verdicts.filter((verdict) => verdict.kind === kind).length;
  const caught = count("caught");
  screen.line(
    `${caught} caught by a test that names the rule, ${count("unnamed")} by another, ` +
      `${count("survived")} survived, ${count("unfit")} do not fit the source, ` +
      `${count("unsound")} have tests that fail anyway`,
  );
  return caught === verdicts.length ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
