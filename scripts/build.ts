/**
 * Builds the product as one file or as one program, and runs it: a build counts only after its product answered initialize and
 * a prompt.
 *
 * Usage: `deno task bundle` for `dist/gangway.js`, `deno task compile [--target=…]` for `dist/gangway`.
 */
import { Editor } from "../src/cli/editor.ts";
import { fileURLToPath } from "node:url";
import type { Launch } from "../src/cli/launch.ts";
import { stdoutScreen } from "../src/cli/screen.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** The bundle: one file that any Deno runs, also from a URL. */
export const BUNDLE: string = `${ROOT}dist/gangway.js`;

/** The compiled program. */
export const BINARY: string = `${ROOT}dist/gangway${Deno.build.os === "windows" ? ".exe" : ""}`;

/** Builds {@linkcode BUNDLE}, or the same into another file. Throws where it cannot. */
export async function bundle(file: string = BUNDLE): Promise<void> {
  await deno(["bundle", "--quiet", "--minify", "--platform=deno", `--output=${file}`, `${ROOT}mod.ts`]);
}

/**
 * Builds {@linkcode BINARY}. It holds all permissions, of which `--allow-…` of its own gives some to the worker that serves.
 * `DENORT_BIN` names a runtime of the same version where it cannot be downloaded.
 */
export async function compile(flags: readonly string[] = []): Promise<void> {
  const worker = `${ROOT}src/cli/worker.ts`;
  await deno([
    ...["compile", "--quiet", "-A", "--no-prompt", "--unstable-worker-options", "--app-name=gangway"],
    ...[`--include=${worker}`, `--output=${BINARY}`, ...flags, `${ROOT}mod.ts`],
  ]);
}

/** Lets the product answer initialize and a prompt, without any permission. Throws where it does not. */
export async function prove(product: Launch): Promise<void> {
  const editor = new Editor(product);
  try {
    await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId = null } = await editor.request("session/new", { cwd: ROOT, mcpServers: [] });
    const prompt = [{ type: "text", text: "/say It works" }];
    const { stopReason } = await editor.request("session/prompt", { sessionId, prompt });
    const { code } = await editor.close();
    if (stopReason !== "end_turn" || code !== 0) {
      throw new Error(`the product's prompt ended with ${stopReason}, its process with ${code}`);
    }
  } finally {
    await editor.close();
  }
}

async function deno(args: readonly string[]): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd: ROOT }).spawn().status;
  if (!success) throw new Error(`"deno ${args[0]}" failed`);
}

async function main([what, ...flags]: readonly string[]): Promise<number> {
  const screen = stdoutScreen();
  const crossed = flags.some((flag) => flag.startsWith("--target"));
  await Deno.mkdir(`${ROOT}dist`, { recursive: true });
  switch (what) {
    case "bundle":
      await bundle();
      await prove({ program: Deno.execPath(), args: ["run", "--no-prompt", BUNDLE, "--memory"] });
      screen.line(`dist/gangway.js: ${(await Deno.stat(BUNDLE)).size} bytes. It answered a prompt.`);
      return 0;
    case "compile":
      await compile(flags);
      if (!crossed) await prove({ program: BINARY, args: ["--memory"] });
      screen.line(
        crossed ? `${BINARY} is not proved: it is for another machine` : `${BINARY}: it answered a prompt.`,
      );
      return 0;
    default:
      screen.line('Say what to build: "bundle" or "compile"');
      return 2;
  }
}

if (import.meta.main) {
  try {
    Deno.exit(await main(Deno.args));
  } catch (error) {
    stdoutScreen().line(`Not built: ${error instanceof Error ? error.message : String(error)}`);
    Deno.exit(1);
  }
}
