import { assertEquals } from "@std/assert";

/** What the child process is to look at, in this order: directories, then links. */
export interface Questions {
  readonly directories?: readonly string[];
  readonly links?: readonly string[];
  readonly roots?: readonly string[];
  readonly denials?: readonly string[];
  readonly takesDirectories?: boolean;
}

/** What the child found. */
export interface Finding {
  readonly directory?: string;
  readonly reference?: true;
  readonly refused?: string;
  readonly message?: string;
  readonly name?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly text?: string;
  readonly lines?: { readonly from: number; readonly to: number };
}

/** No answer of the child takes longer, except on a machine that hangs. */
const DEADLINE_MS = 30_000;

/**
 * Asks the questions in a process that has exactly the permissions given, and nobody to ask for more. A process that hangs is
 * killed, and the test fails.
 */
export async function probe(
  permissions: readonly string[],
  questions: Questions,
  user?: { readonly uid: number; readonly cache: string },
): Promise<Finding[]> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const { code, signal, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      ...permissions,
      new URL("probe_child.ts", import.meta.url).pathname,
      JSON.stringify(questions),
    ],
    signal: deadline,
    stdin: "null",
    ...user === undefined ? {} : { uid: user.uid, gid: user.uid, env: { DENO_DIR: user.cache } },
  }).output();
  const text = new TextDecoder();
  assertEquals({ code, signal, stderr: text.decode(stderr) }, { code: 0, signal: null, stderr: "" });
  return JSON.parse(text.decode(stdout));
}
