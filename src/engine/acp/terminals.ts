import { isAbsolute } from "node:path";
import { type Exit, runCommand } from "../command.ts";
import type { EngineContext } from "../contract.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import { numberOf, recordsOf, textOf } from "./shape.ts";
import { refused } from "./link.ts";
import { Scrollback } from "./scrollback.ts";
import { breathe, untilAborted } from "../waiting.ts";

/** ACP's codes for a request that is wrong, and for one that failed. */
const INVALID = -32602;
const FAILED = -32603;
const NOT_FOUND = -32002;

/** Terminals of one Session that live at a time. */
const OPEN = 64;
/** How ids of ours begin; those of an editor are its own. */
const PREFIX = "gangway-terminal-";

/** Whether an id is one of ours. */
export function isOwnTerminal(terminalId: Json | undefined): boolean {
  return typeof terminalId === "string" && terminalId.startsWith(PREFIX);
}

/** Hears what a terminal's program writes, in order; the program waits while it waits. */
export type Hearer = (stream: "stdout" | "stderr", text: string) => Promise<void>;

/** One program that runs here for an agent, or ran. */
export class OwnTerminal {
  readonly #stop = new AbortController();
  readonly #scrollback: Scrollback;
  readonly #ended: Promise<Exit>;
  readonly #hearers = new Set<Hearer>();
  #exit: Exit | undefined;

  /** Starts it. */
  constructor(
    command: { argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
    bytes: number,
  ) {
    this.#scrollback = new Scrollback(bytes);
    this.#ended = this.#run(command);
    this.#ended.catch(() => {});
  }

  /** What its program wrote, as far as it is kept. */
  get output(): string {
    return this.#scrollback.text();
  }

  /** How it ended; undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Resolves when its program ended. Rejects where it could not be started. */
  ended(): Promise<Exit> {
    return this.#ended;
  }

  /** Resolves when it was started, rejects where it could not be. */
  async started(): Promise<void> {
    // Whether the system lets it is known at once.
    await Promise.race([this.#ended, breathe()]);
  }

  /** As `terminal/output` gives it. */
  report(): JsonObject {
    return {
      output: this.output,
      truncated: this.#scrollback.truncated,
      ...(this.#exit !== undefined && { exitStatus: statusOf(this.#exit) }),
    };
  }

  /** From now on somebody hears it, what was written before first. */
  async hear(hearer: Hearer): Promise<void> {
    const before = this.output;
    this.#hearers.add(hearer);
    if (before !== "") await hearer("stdout", before);
  }

  /** Somebody hears it no more. */
  leave(hearer: Hearer): void {
    this.#hearers.delete(hearer);
  }

  /** Ends its program with all that that started. */
  kill(): void {
    this.#stop.abort(new Error("The terminal was killed"));
  }

  async #run(
    command: { argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
  ): Promise<Exit> {
    const { signal } = this.#stop;
    try {
      this.#exit = await runCommand({
        ...command,
        signal,
        output: async (stream, text) => {
          this.#scrollback.push(text);
          for (const hearer of [...this.#hearers]) await hearer(stream, text);
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#exit = { signal: "SIGKILL" };
    }
    return this.#exit;
  }
}

/** Terminals of one Session of an agent that no editor serves: programs that run here, within this process's permissions. */
export class OwnTerminals {
  readonly #open = new Map<string, OwnTerminal>();
  readonly #used: () => boolean;
  #count = 0;

  /** `used` says whether the Session is open: what begins while it is closed ends at once. */
  constructor(used: () => boolean) {
    this.#used = used;
  }

  /** One by its id; undefined for one that is an editor's, or released. */
  get(terminalId: Json | undefined): OwnTerminal | undefined {
    return typeof terminalId === "string" ? this.#open.get(terminalId) : undefined;
  }

  /** The result of a `terminal/*` request. What it throws becomes the error. */
  async answer(
    method: string,
    params: JsonObject,
    context: EngineContext,
    signal: AbortSignal,
  ): Promise<Json> {
    if (method === "terminal/create") return await this.#create(params, context);
    const terminal = this.get(params.terminalId);
    switch (method) {
      case "terminal/kill":
        terminal?.kill();
        return {};
      case "terminal/release":
        terminal?.kill();
        this.#open.delete(String(params.terminalId));
        return {};
    }
    if (terminal === undefined) throw refused(NOT_FOUND, "There is no such terminal");
    if (method === "terminal/output") return terminal.report();
    return statusOf(await untilAborted(terminal.ended(), signal));
  }

  /** Ends all of them. */
  close(): void {
    for (const terminal of this.#open.values()) terminal.kill();
    this.#open.clear();
  }

  async #create(params: JsonObject, context: EngineContext): Promise<Json> {
    const { command, args } = params;
    const cwd = textOf(params.cwd) ?? context.cwd;
    if (typeof command !== "string" || command === "") throw refused(INVALID, '"command" must be a string');
    if (!isAbsolute(cwd)) throw refused(INVALID, '"cwd" must be an absolute path');
    if (this.#open.size >= OPEN) {
      throw refused(FAILED, `There are ${OPEN} terminals already: release those that are not needed`);
    }
    const words = Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [];
    const env = Object.fromEntries(
      recordsOf(params.env).flatMap(({ name, value }) =>
        typeof name === "string" && typeof value === "string" ? [[name, value]] : []
      ),
    );
    // Without arguments it is a line for the shell, as editors take it.
    const argv = words.length === 0 ? ["sh", "-c", command] : [command, ...words];
    const bytes = Math.min(
      numberOf(params.outputByteLimit) ?? LIMITS.toolOutputLength,
      LIMITS.toolOutputLength,
    );
    const terminal = new OwnTerminal({ argv, cwd, env }, bytes);
    try {
      await terminal.started();
    } catch (error) {
      throw refused(FAILED, `Cannot run "${command}": ${reasonOf(error)}`);
    }
    if (!this.#used()) {
      terminal.kill();
      throw refused(NOT_FOUND, "There is no such Session: it was closed");
    }
    const terminalId = `${PREFIX}${++this.#count}`;
    this.#open.set(terminalId, terminal);
    return { terminalId };
  }
}

function statusOf({ exitCode, signal }: Exit): JsonObject {
  return { exitCode: exitCode ?? null, signal: signal ?? null };
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) return "start Gangway with --allow-run=sh";
  if (error instanceof Deno.errors.NotFound) return "its working directory does not exist";
  return "the system does not let it";
}
