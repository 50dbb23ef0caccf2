/** Packages of npm, each with the exact version that is installed. */
export type Pins = Readonly<Record<string, string>>;

/** How long an installation may take. */
const INSTALL_MS = 300_000;
/** How long the registry may take to say that it has a package. */
const ASK_MS = 60_000;

/** The registry does not answer, and the packages were not installed before. */
export class RegistryUnreachable extends Error {
  /** Names no host: whoever runs the tests knows theirs. */
  constructor() {
    super("The npm registry does not answer, and the packages are not in the cache");
    this.name = "RegistryUnreachable";
  }
}

/**
 * Installs packages once into a folder outside the project and returns it. Rejects with {@linkcode RegistryUnreachable} where they
 * cannot be had.
 */
export async function installed(pins: Pins): Promise<string> {
  const home = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  const cache = Deno.env.get("GANGWAY_TEST_CACHE") ?? `${home}/gangway-tests`;
  const folder = `${cache}/${Object.entries(pins).map(nameOf).join("+")}`;
  if (await exists(`${folder}/ready`)) return folder;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify({ private: true, dependencies: pins }));
  const [first = ""] = Object.entries(pins).map(([name, version]) => `${name}@${version}`);
  // Asked first: an installation takes minutes to find out that nobody is there.
  const asked = await npm(["view", first, "version", "--loglevel=silent"], folder, ASK_MS);
  if (!asked.success) throw new RegistryUnreachable();
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { success, stderr } = await npm(install, folder, INSTALL_MS);
  if (!success) {
    const said = new TextDecoder().decode(stderr).replaceAll(/https?:\/\/[^\s"']+/g, "the registry");
    throw new Error(`npm could not install ${Object.keys(pins).join(", ")}: ${said}`);
  }
  await Deno.writeTextFile(`${folder}/ready`, "");
  return folder;
}

function nameOf([name, version]: [string, string]): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}`;
}

async function npm(
  args: string[],
  cwd: string,
  ms: number,
): Promise<{ success: boolean; stderr: Uint8Array }> {
  const signal = AbortSignal.timeout(ms);
  return await new Deno.Command("npm", { args, cwd, stdin: "null", stdout: "null", stderr: "piped", signal })
    .output();
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
