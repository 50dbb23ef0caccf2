/** Runs the command line of a step in a process that a test kills: `crash.ts CWD STEP`. */
import { Bench, chooses } from "./bench.ts";

const [cwd = "", step = ""] = Deno.args;
const bench = await Bench.open({ cwd, person: chooses("allow_once") });
const { sink, outcome } = bench.start(step);
await sink.when((made) => made[0] === "toolOutput" && made[3].includes("ready"));
await Deno.stdout.write(new TextEncoder().encode(sink.all("toolOutput").map((made) => made[3]).join("")));
await outcome;
