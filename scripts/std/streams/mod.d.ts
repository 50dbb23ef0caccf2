// The part of @std/streams 1.x that this project uses, declared by hand.
export class TextLineStream extends TransformStream<string, string> {
  constructor(options?: { allowCR?: boolean });
}
export function toText(stream: ReadableStream): Promise<string>;
export function toBytes(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>>;
export function mergeReadableStreams<T>(...streams: ReadableStream<T>[]): ReadableStream<T>;
