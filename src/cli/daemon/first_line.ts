import type { WireStream } from "../../host/wire/stream.ts";

/** Bytes of a first line, unless said otherwise. */
const LINE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** A stream whose first line was read, and what that said. */
export interface Opened {
  /** The line's JSON; undefined where it is none. */
  readonly said: unknown;
  /** What follows the line. */
  readonly stream: WireStream;
}

/** Nothing was said in time. */
export class Silence extends Error {
  /** Says how long. */
  constructor(ms: number) {
    super(`Nothing was said for ${ms / 1000} seconds`);
    this.name = "Silence";
  }
}

/**
 * Reads one line of JSON from the beginning of a stream. Rejects where it ends before, where the line is too long, and after `ms` with
 * {@linkcode Silence}.
 */
export async function readFirstLine(
  stream: WireStream,
  ms: number,
  most: number = LINE_BYTES,
): Promise<Opened> {
  const reader = stream.readable.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silence(ms)), ms);
  });
  try {
    return await Promise.race([readLine(reader, stream, most), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Writes one line of JSON. */
export async function writeLine(stream: WireStream, value: unknown): Promise<void> {
  const writer = stream.writable.getWriter();
  try {
    await writer.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
  } finally {
    writer.releaseLock();
  }
}

async function readLine(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  stream: WireStream,
  most: number,
): Promise<Opened> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The connection ended before anything was said");
    const end = value.indexOf(NEWLINE);
    pieces.push(end < 0 ? value : value.subarray(0, end));
    length += end < 0 ? value.length : end;
    if (length > most) throw new Error("The first line is too long");
    if (end < 0) continue;
    const rest = value.subarray(end + 1);
    const said = parse(
      new TextDecoder().decode(await new Blob(pieces.map((piece) => piece.slice())).bytes()),
    );
    if (rest.length > 0) return { said, stream: { ...handles(stream), readable: withRest(rest, reader) } };
    reader.releaseLock();
    return { said, stream };
  }
}

/** The other parts of a stream, which may be an object with private members. */
function handles(stream: WireStream): Pick<WireStream, "writable" | "close"> {
  return { writable: stream.writable, close: () => stream.close() };
}

/** What came together with the line, then the rest of the stream. */
function withRest(
  rest: Uint8Array,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(rest),
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
