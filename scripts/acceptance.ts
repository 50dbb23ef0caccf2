/**
 * Lists the acceptance ids that no test names. `tests/acceptance.json` says what each id means; a test names the ids
 * that it proves in square brackets: `Deno.test("[A3] …")`.
 *
 * Usage: `deno task acceptance [--check] [--allow=E,W]`. With `--check` it fails where an id outside the allowed areas
 * is without a test, or a test names an id that does not exist.
 */
import { stdoutScreen } from "../src/cli/screen.ts";

const ROOT = new URL("../", import.meta.url);

/** What a test's text says: the ids that stand in brackets where a name begins. */
export function namedIds(source: string): string[] {
  const names = source.matchAll(/["'`]((?:\[[A-Z]\d+\]\s*)+)/g);
  return [...names].flatMap(([, ids = ""]) => [...ids.matchAll(/[A-Z]\d+/g)].map(([id]) => id));
}

/** Compares the list with what the tests name. */
export function compare(
  known: readonly string[],
  named: ReadonlySet<string>,
): { unproved: readonly string[]; unknown: readonly string[] } {
  return {
    unproved: known.filter((id) => !named.has(id)),
    unknown: [...named].filter((id) => !known.includes(id)),
  };
}

async function* testFiles(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) yield* testFiles(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith("_test.ts")) yield new URL(entry.name, folder);
  }
}

async function main(): Promise<number> {
  const screen = stdoutScreen();
  const check = Deno.args.includes("--check");
  const allowed = Deno.args.find((arg) => arg.startsWith("--allow="))?.slice("--allow=".length).split(",") ??
    [];
  const list: Record<string, string> = JSON.parse(
    await Deno.readTextFile(new URL("tests/acceptance.json", ROOT)),
  );
  const named = new Set<string>();
  for await (const file of testFiles(new URL("tests/", ROOT))) {
    for (const id of namedIds(await Deno.readTextFile(file))) named.add(id);
  }
  const { unproved, unknown } = compare(Object.keys(list), named);
  const wanting = unproved.filter((id) => !allowed.includes(id.slice(0, 1)));
  for (const id of unproved) {
    screen.line(`${id.padEnd(4)} ${list[id]}${wanting.includes(id) ? "" : " (allowed)"}`);
  }
  for (const id of unknown) screen.line(`${id.padEnd(4)} is named by a test but not on the list`);
  screen.line(`${Object.keys(list).length - unproved.length} of ${Object.keys(list).length} ids have a test`);
  return check && wanting.length + unknown.length > 0 ? 1 : 0;
}

if (import.meta.main) Deno.exit(await main());
