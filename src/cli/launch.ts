import { fileURLToPath } from "node:url";
import type { Permissions } from "./permissions.ts";

/** A program with its arguments, ready to start. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** Variables beside the ones that it inherits. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How to start this same program again, with exactly these permissions. */
export function launchSelf(permissions: Permissions, args: readonly string[]): Launch {
  const flags = flagsOf(permissions);
  // A compiled binary is the program; under Deno the program is a module.
  return Deno.build.standalone ? { program: Deno.execPath(), args: [...flags, ...args] } : {
    program: Deno.execPath(),
    args: ["run", "--no-prompt", ...flags, mainModule(), ...args],
  };
}

/** The module that this program was started with, as a person would name it. */
export function mainModule(): string {
  return Deno.mainModule.startsWith("file:") ? fileURLToPath(Deno.mainModule) : Deno.mainModule;
}

/** Permissions as the flags that grant them. */
export function flagsOf(permissions: Permissions): string[] {
  return Object.entries(permissions).map(([name, grant]) =>
    `--allow-${name}` + (grant === true ? "" : `=${grant.join(",")}`)
  );
}

/** A launch as a person would type it. */
export function commandLine({ program, args }: Launch): string {
  return [program, ...args].map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)).join(
    " ",
  );
}
