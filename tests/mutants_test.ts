import { assertEquals } from "@std/assert";
import { namedIds } from "../scripts/acceptance.ts";
import { type Mutant, MUTANTS } from "../scripts/mutants/mod.ts";

const ROOT = new URL("../", import.meta.url);
const read = new Map<string, string>();

function textOf(path: string): string {
  let text = read.get(path);
  if (text === undefined) read.set(path, text = Deno.readTextFileSync(new URL(path, ROOT)));
  return text;
}

/** The test files behind an entry's name, which may be a folder. */
function* filesOf(path: string): Generator<string> {
  if (path.endsWith(".ts")) return yield path;
  for (const { name, isDirectory } of Deno.readDirSync(new URL(`${path}/`, ROOT))) {
    if (isDirectory) yield* filesOf(`${path}/${name}`);
    else if (name.endsWith("_test.ts")) yield `${path}/${name}`;
  }
}

function faults(wrong: (mutant: Mutant) => boolean): string[] {
  return MUTANTS.filter(wrong).map(({ ids, fault, file }) => `[${ids.join("] [")}] ${fault} (${file})`);
}

Deno.test("each planted fault changes one place that there is", () => {
  assertEquals(faults(({ file, find }) => textOf(file).split(find).length !== 2), []);
  assertEquals(faults(({ find, replace }) => find === replace), []);
});

Deno.test("no fault is planted twice", () => {
  const places = MUTANTS.map(({ file, find, replace, tests }) =>
    JSON.stringify([file, find, replace, tests])
  );
  assertEquals(
    faults((mutant) => places.indexOf(places[MUTANTS.indexOf(mutant)]!) !== MUTANTS.indexOf(mutant)),
    [],
  );
});

Deno.test("each planted fault names rules that there are, and tests that name them", () => {
  const known: Record<string, string> = JSON.parse(textOf("tests/acceptance.json"));
  assertEquals(faults(({ ids }) => ids.length === 0 || ids.some((id) => !Object.hasOwn(known, id))), []);
  assertEquals(
    faults(({ ids, tests }) => {
      const named = new Set(
        tests.flatMap((test) => [...filesOf(test)]).flatMap((path) => namedIds(textOf(path))),
      );
      return !ids.some((id) => named.has(id));
    }),
    [],
  );
});
