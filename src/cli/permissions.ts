/** The permissions that the command line knows by name, as Deno does. */
export const PERMISSIONS = ["read", "write", "env", "run", "net", "sys"] as const;

/** One of Deno's permissions. */
export type PermissionName = typeof PERMISSIONS[number];

/** What is granted of one permission: all of it or a list. Nothing granted is an absent entry. */
export type Grant = true | readonly string[];

/** What a binary was given by `--allow-…`. */
export type Permissions = Readonly<Partial<Record<PermissionName, Grant>>>;

/** Stands for the Session's own folders in `--allow-read`. */
export const WORKSPACE = "@workspace";

/** Reads Deno's permission flags out of a command line. The others stay in `rest`, in order. */
export function takePermissions(
  args: readonly string[],
): { permissions: Permissions; rest: readonly string[] } {
  const permissions: Partial<Record<PermissionName, Grant>> = {};
  const rest: string[] = [];
  // Behind it stand an agent's own flags.
  const end = args.indexOf("--");
  for (const [at, arg] of args.entries()) {
    if (end >= 0 && at >= end) {
      rest.push(arg);
      continue;
    }
    if (arg === "-A" || arg === "--allow-all") {
      for (const name of PERMISSIONS) permissions[name] = true;
      continue;
    }
    // Nothing is ever asked at run time, so this one is always in force.
    if (arg === "--no-prompt") continue;
    const found = permissionFlag(arg);
    if (found === undefined) {
      rest.push(arg);
      continue;
    }
    const before = permissions[found.name];
    permissions[found.name] = found.list === undefined || before === true
      ? true
      : [...before ?? [], ...found.list];
  }
  return { permissions, rest };
}

/** Reads `--allow-read=a,b`; undefined for anything that is not one of {@linkcode PERMISSIONS}. */
export function permissionFlag(arg: string): { name: PermissionName; list?: readonly string[] } | undefined {
  const match = /^--allow-([a-z]+)(?:=(.*))?$/s.exec(arg);
  const name = PERMISSIONS.find((name) => name === match?.[1]);
  if (name === undefined) return undefined;
  const list = match?.[2]?.split(",").filter((item) => item !== "");
  return list === undefined ? { name } : { name, list };
}
