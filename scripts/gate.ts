/**
 * The whole gate, step by step: check, lint, fmt, doc lint, the acceptance list, and the tests with leak tracing. Every step
 * runs, whatever the ones before it said.
 *
 * Usage: `deno task ok [STEP…]`; without steps all of them. Ends with 1 where one failed.
 */
import { stdoutScreen } from "../src/cli/screen.ts";

/** The areas of the acceptance list that are not built yet. */
const NOT_BUILT = "L";

/** The entry points of the package, from `deno.json`. */
async function entryPoints(): Promise<string[]> {
  const config = JSON.parse(await Deno.readTextFile(new URL("../deno.json", import.meta.url)));
  return Object.values<string>(config.exports);
}

async function steps(): Promise<ReadonlyMap<string, readonly string[]>> {
  return new Map([
    ["check", ["check", "--quiet", "mod.ts", "src", "scripts", "tests"]],
    ["lint", ["lint", "--quiet"]],
    ["fmt", ["fmt", "--check", "--quiet"]],
    ["doc", ["doc", "--lint", "--quiet", ...await entryPoints()]],
    ["acceptance", ["run", "--allow-read=.", "scripts/acceptance.ts", "--check", `--allow=${NOT_BUILT}`]],
    ["test", ["test", "-A", "--doc", "--trace-leaks"]],
  ]);
}

async function main(names: readonly string[]): Promise<number> {
  const screen = stdoutScreen();
  const known = await steps();
  const strange = names.find((name) => !known.has(name));
  if (strange !== undefined) {
    screen.line(`There is no step "${strange}": take some of ${[...known.keys()].join(", ")}`);
    return 2;
  }
  const failed: string[] = [];
  for (const [name, args] of known) {
    if (names.length > 0 && !names.includes(name)) continue;
    screen.line(screen.paint("bold", `${name}: deno ${args.join(" ")}`));
    const { success } = await new Deno.Command(Deno.execPath(), { args: [...args] }).spawn().status;
    if (!success) failed.push(name);
  }
  screen.line(
    failed.length === 0 ? screen.paint("green", "ok") : screen.paint("red", `failed: ${failed.join(", ")}`),
  );
  return failed.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
