/**
 * A connection as bytes, in both directions. It belongs to whoever serves it or dials it; nobody else reads, writes or closes it.
 */
export interface WireStream {
  /** What the other side sends. It ends, or fails, when the connection is over. */
  readonly readable: ReadableStream<Uint8Array>;
  /** What goes to the other side. A write resolves when the bytes are taken, which is the back-pressure. */
  readonly writable: WritableStream<Uint8Array>;
  /** Ends both directions at once and frees what is behind them. Called once, after reader and writer were given up. */
  close(): void;
}
