import type { Log } from "../model/log.ts";
import type { ServeOptions } from "./serve.ts";

/** What {@linkcode serveStdio} needs: all of {@linkcode ServeOptions} but the streams. */
export interface StdioOptions extends Omit<ServeOptions, "input" | "output" | "signal"> {
  /** Frees what the caller brought, the Host first of all. It gets what is left of the second that an exit may take. */
  readonly release?: () => Promise<void>;
}

/** Signals that end the program as the end of input does, and their numbers. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** Milliseconds for `release`: with what {@linkcode serve} takes at most it stays under a second. */
const RELEASE_MS = 250;

/**
 * Serves the Client on stdin and stdout and resolves with the exit code: 0, or 128 and the number of the signal that ended
 * it. The caller exits with it, since stdin may still be read from. Nothing else may write to stdout: what libraries print
 * with `console` goes to the log from now on.
 */
export async function serveStdio(options: StdioOptions): Promise<number> {
  moveConsole(options.log);
  const { serve } = await import("./serve.ts");
  const signals = new Signals();
  try {
    await serve({
      ...options,
      input: Deno.stdin.readable,
      output: Deno.stdout.writable,
      signal: signals.aborted,
    });
    await withinMs(RELEASE_MS, options.release?.());
  } finally {
    signals.close();
  }
  return signals.exitCode;
}

/** Listens for the signals that end the program. */
class Signals {
  exitCode = 0;
  #abort: AbortController = new AbortController();
  #listeners: Map<Deno.Signal, () => void> = new Map();

  constructor() {
    for (const [signal, number] of Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][]) {
      const listener = () => {
        this.exitCode ||= 128 + number;
        this.#abort.abort();
      };
      try {
        Deno.addSignalListener(signal, listener);
        this.#listeners.set(signal, listener);
      } catch {
        // Windows knows only some of them.
      }
    }
  }

  get aborted(): AbortSignal {
    return this.#abort.signal;
  }

  close(): void {
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }
}

/** Whatever is called on `console`, its text becomes a line of the log. */
function moveConsole(log: Log): void {
  const print = (...values: unknown[]) =>
    log.debug(values.map((value) => typeof value === "string" ? value : Deno.inspect(value)).join(" "));
  globalThis.console = new Proxy(globalThis.console, {
    get: (target, name, receiver) => {
      const member = Reflect.get(target, name, receiver);
      return typeof member === "function" ? print : member;
    },
  });
}

async function withinMs(ms: number, work: Promise<void> | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
