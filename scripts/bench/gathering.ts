/** Bytes that wait above which a write is not done before they have left. */
const HIGH_WATER = 256 * 1024;

/** Gathers the chunks of one turn into one write. */
export function gathering(output: WritableStream<Uint8Array>): WritableStream<Uint8Array> {
  const writer = output.getWriter();
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    await Promise.resolve();
    while (chunks.length > 0) {
      const gathered = new Uint8Array(bytes);
      let at = 0;
      for (const chunk of chunks) {
        gathered.set(chunk, at);
        at += chunk.length;
      }
      chunks = [];
      bytes = 0;
      await writer.write(gathered);
    }
    flushing = undefined;
  }

  return new WritableStream({
    write(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      flushing ??= flush();
      return bytes > HIGH_WATER ? flushing : undefined;
    },
    close: async () => {
      await flushing;
      await writer.close();
    },
  });
}
