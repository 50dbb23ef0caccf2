import { type LineSink, lineSink } from "../log.ts";

/** Bytes at which a log begins anew; the one before is kept. */
const MOST = 1024 * 1024;

/** Lines to the end of a file that only its owner may read, and that never takes more than twice its bound. Throws what opening throws. */
export function boundedFileSink(path: string, most: number = MOST): LineSink {
  let file = openLog(path);
  let size = file.statSync().size;
  return lineSink({
    write: async (bytes) => {
      if (size > 0 && size + bytes.length > most) {
        file.close();
        await Deno.rename(path, `${path}.old`);
        file = openLog(path);
        size = 0;
      }
      const written = await file.write(bytes);
      size += written;
      return written;
    },
    close: () => file.close(),
  });
}

function openLog(path: string): Deno.FsFile {
  return Deno.openSync(path, { append: true, create: true, mode: 0o600 });
}
