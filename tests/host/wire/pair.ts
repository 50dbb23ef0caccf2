import type { WireStream } from "../../../src/host/wire/mod.ts";

/** One direction, and what ends it. */
interface Pipe {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  end(): void;
}

function pipe(): Pipe {
  let controller: TransformStreamDefaultController<Uint8Array> | undefined;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start: (given) => void (controller = given),
  });
  return { readable, writable, end: () => controller?.terminate() };
}

/** A connection within this process: what one end writes the other reads. Closing one end ends both. */
export function pair(): [WireStream, WireStream] {
  const there = pipe();
  const back = pipe();
  const close = () => {
    there.end();
    back.end();
  };
  return [
    { readable: back.readable, writable: there.writable, close },
    { readable: there.readable, writable: back.writable, close },
  ];
}
