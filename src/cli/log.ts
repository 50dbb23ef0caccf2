import type { JsonObject } from "../model/json.ts";
import type { Log } from "../model/log.ts";
import { LOG_LEVELS, type LogLevel } from "./flags.ts";
import { redactObject, redactSecrets } from "../model/redact.ts";

/** Bytes of lines that wait for a slow reader. Past it lines are dropped and counted, so that a Turn never waits for a log. */
const WAITING_BYTES = 256 * 1024;

/** Milliseconds that the last lines get at the end. */
const CLOSE_MS = 40;

/** Where lines go: one write at a time, never waited for by whoever writes a line. */
export interface LineSink {
  /** Puts one line on its way, or drops it where too much waits. Never blocks, never throws. */
  line(text: string): void;
  /** Gives what waits a moment to leave, then closes what it owns. */
  close(): Promise<void>;
}

/** Lines to a writer whose `write` may take for ever, as stderr's does while nobody reads it. */
export function lineSink(target: { write(bytes: Uint8Array): Promise<number>; close?(): void }): LineSink {
  const encoder = new TextEncoder();
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let dropped = 0;
  let drained: Promise<void> | undefined;
  let broken = false;

  async function drain(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        for (const line of batch) {
          for (let sent = 0; sent < line.length;) sent += await target.write(line.subarray(sent));
          bytes -= line.length;
        }
        if (dropped > 0) {
          waiting.unshift(encoder.encode(`… ${dropped} lines were left out: nobody read them\n`));
          bytes += waiting[0]?.length ?? 0;
          dropped = 0;
        }
      }
    } catch {
      // The reader is gone. There is nobody left to tell.
      broken = true;
      waiting = [];
    }
    drained = undefined;
  }

  return {
    line(text) {
      if (broken) return;
      const line = encoder.encode(`${text}\n`);
      if (bytes + line.length > WAITING_BYTES) {
        dropped++;
        return;
      }
      waiting.push(line);
      bytes += line.length;
      drained ??= drain();
    },
    async close() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSE_MS));
      await Promise.race([drained, late]);
      clearTimeout(timer);
      target.close?.();
    },
  };
}

/** Lines to stderr. */
export function stderrSink(): LineSink {
  return lineSink({ write: (bytes) => Deno.stderr.write(bytes) });
}

/** Lines to the end of a file that only its owner may read. Throws what opening throws. */
export function fileSink(path: string): LineSink {
  return lineSink(Deno.openSync(path, { append: true, create: true, mode: 0o600 }));
}

/** A log of everything from `level` on: time, level, sentence and data as JSON, one line each, secrets taken out. */
export function lineLog(sink: LineSink, level: LogLevel): Log {
  const at = (own: LogLevel) =>
    LOG_LEVELS.indexOf(own) < LOG_LEVELS.indexOf(level)
      ? () => {}
      : (message: string, data?: JsonObject) =>
        sink.line(
          `${new Date().toISOString()} ${own.padEnd(5)} ${oneLine(redactSecrets(message))}` +
            (data === undefined ? "" : ` ${JSON.stringify(redactObject(data, redactSecrets))}`),
        );
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A sentence that tries to be several lines, or to steer a terminal, is made one. */
function oneLine(message: string): string {
  // deno-lint-ignore no-control-regex
  return message.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
}
