import type { StoreChoice } from "./flags.ts";

/** Where Sessions are kept, decided without touching the disk. */
export type StorePlan =
  | { readonly kind: "folder"; readonly folder: string }
  /** Where memory was not asked for, `why` is a sentence for the user, and `remedy` the part of it that says what to do. */
  | { readonly kind: "memory"; readonly why?: string; readonly remedy?: string }
  /** The folder was named but its permission is missing; `why` names the flags. */
  | { readonly kind: "refused"; readonly why: string };

/** What deciding needs to know of the machine. Nothing here ever asks the user. */
export interface Machine {
  readonly os: typeof Deno.build.os;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** Whether the permission is granted now. */
  granted(name: "read" | "write", path: string): boolean;
  /** An environment variable: its value, undefined where it is not set, `denied` where it may not be read. */
  env(variable: string): { readonly value: string | undefined } | "denied";
}

/** Decides where Sessions are kept. */
export function planStore(choice: StoreChoice, machine: Machine): StorePlan {
  switch (choice.kind) {
    case "memory":
      return { kind: "memory" };
    case "folder": {
      const folder = absolute(choice.folder, machine);
      const missing = missingFlags(folder, choice.folder, machine);
      return missing === undefined ? { kind: "folder", folder } : {
        kind: "refused",
        why: `The state folder "${choice.folder}" cannot be used: start Gangway with ${missing}`,
      };
    }
    case "default": {
      const found = defaultFolder(machine);
      if (found.kind === "unknown") return memoryOnly("", found.remedy);
      const missing = missingFlags(found.folder, found.folder, machine);
      return missing === undefined
        ? { kind: "folder", folder: found.folder }
        : memoryOnly(` in "${found.folder}"`, `start Gangway with ${missing}`);
    }
  }
}

/** Says why a command that cannot do without a state folder has none. */
export function folderRefusal(plan: Exclude<StorePlan, { kind: "folder" }>): string {
  if (plan.kind === "refused") return plan.why;
  return plan.remedy === undefined
    ? "What is kept in memory ends with its process: leave out --memory"
    : `The state folder cannot be used: ${plan.remedy}`;
}

function memoryOnly(place: string, remedy: string): StorePlan {
  return { kind: "memory", why: `${MEMORY_ONLY}: to keep them${place} ${remedy}`, remedy };
}

const MEMORY_ONLY = "Sessions are kept in memory only and end with this process";

/** The flags that are missing for a state folder, as a user types them; undefined where none is. */
function missingFlags(folder: string, asWritten: string, machine: Machine): string | undefined {
  const missing = (["read", "write"] as const).filter((name) => !machine.granted(name, folder));
  return missing.length === 0
    ? undefined
    : missing.map((name) => `--allow-${name}=${asWritten}`).join(" and ");
}

type Found =
  | { readonly kind: "found"; readonly folder: string }
  | { readonly kind: "unknown"; readonly remedy: string };

/** The place that the operating system's conventions give to a program's state. */
function defaultFolder(machine: Machine): Found {
  const { variables, folder } = convention(machine.os);
  const values: (string | undefined)[] = [];
  for (const variable of variables) {
    const answer = machine.env(variable);
    if (answer === "denied") {
      return {
        kind: "unknown",
        remedy: `start Gangway with --allow-env=${variables.join(",")}, or name a folder with --state`,
      };
    }
    // The conventions tell programs to ignore a relative path.
    values.push(answer.value !== undefined && isAbsolute(answer.value) ? answer.value : undefined);
  }
  const place = folder(values);
  return place !== undefined ? { kind: "found", folder: place } : {
    kind: "unknown",
    remedy: `set ${variables.at(-1)}, or name a folder with --state`,
  };
}

/** The environment variables that tell where state belongs on this operating system. */
export function stateVariables(os: Machine["os"]): readonly string[] {
  return convention(os).variables;
}

/** Which variables tell the place, and how it is made of their values, in the same order. */
function convention(os: Machine["os"]): {
  variables: readonly string[];
  folder: (values: readonly (string | undefined)[]) => string | undefined;
} {
  switch (os) {
    case "windows":
      return {
        variables: ["LOCALAPPDATA"],
        folder: ([local]) => local && `${local}\\gangway`,
      };
    case "darwin":
      return {
        variables: ["HOME"],
        folder: ([home]) => home && `${home}/Library/Application Support/gangway`,
      };
    default:
      return {
        variables: ["XDG_STATE_HOME", "HOME"],
        folder: ([state, home]) => state ? `${state}/gangway` : home && `${home}/.local/state/gangway`,
      };
  }
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\");
}

/** A path as it is from everywhere. */
export function absolute(path: string, machine: Machine): string {
  if (isAbsolute(path)) return path;
  return `${machine.cwd}${machine.os === "windows" ? "\\" : "/"}${path}`;
}

/** This machine, asked only through permission queries. */
export function thisMachine(): Machine {
  return {
    os: Deno.build.os,
    cwd: Deno.cwd(),
    granted: (name, path) => Deno.permissions.querySync({ name, path }).state === "granted",
    env: (variable) =>
      Deno.permissions.querySync({ name: "env", variable }).state === "granted"
        ? { value: Deno.env.get(variable) }
        : "denied",
  };
}
