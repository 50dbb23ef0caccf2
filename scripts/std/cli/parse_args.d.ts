// The part of @std/cli 1.x parse-args that this project uses, declared by hand.
export interface ParseOptions {
  "--"?: boolean;
  alias?: Record<string, string | readonly string[]>;
  boolean?: boolean | string | readonly string[];
  default?: Record<string, unknown>;
  stopEarly?: boolean;
  string?: string | readonly string[];
  collect?: string | readonly string[];
  negatable?: string | readonly string[];
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}
// deno-lint-ignore no-explicit-any
export type Args = Record<string, any> & { _: (string | number)[]; "--"?: string[] };
export function parseArgs(args: readonly string[], options?: ParseOptions): Args;
