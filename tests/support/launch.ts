import { fileURLToPath } from "node:url";

/** A program to start as a child process. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The folder of the project. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** Where no configuration file lies: the one of whoever runs the tests changes nothing. */
export const NO_CONFIG: string = `${ROOT}tests/support/no-config`;

/** Gangway itself with the workbench chosen, as `deno run -A mod.ts --agent workbench ARGS…`. */
export function gangway(...args: string[]): Launch {
  return script("mod.ts", "--agent", "workbench", ...args);
}

/** A script of the project with all permissions. */
export function script(file: string, ...args: string[]): Launch {
  return permitted(["-A"], file, ...args);
}

/** A script of the project with exactly these permission flags. */
export function permitted(flags: readonly string[], file: string, ...args: string[]): Launch {
  return {
    program: Deno.execPath(),
    args: ["run", "--quiet", "--no-prompt", ...flags, `${ROOT}${file}`, ...args],
    env: { NO_COLOR: "1", XDG_CONFIG_HOME: NO_CONFIG },
  };
}

/** Gives a new folder to `body` and removes it afterwards. */
export async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "gangway-test-" });
  try {
    return await body(await Deno.realPath(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
