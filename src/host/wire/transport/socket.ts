import { HostError } from "../../errors.ts";
import type { WireStream } from "../stream.ts";
import type { Listener } from "./listener.ts";
import { checkOwn, ownerIn } from "./own_place.ts";
import { dirname } from "node:path";

/**
 * Listens on a Unix socket in a folder that is ours alone. A socket that lies there is stale, for the caller holds the Host's lock; it
 * is removed. Anything else there is refused.
 */
export function listenOnSocket(path: string): Listener {
  const owner = ownerIn(dirname(path));
  removeStale(path);
  const listener = Deno.listen({ transport: "unix", path });
  try {
    // The folder keeps others out in the meantime.
    Deno.chmodSync(path, 0o600);
    checkOwn(path, "socket", owner);
  } catch (error) {
    listener.close();
    throw error;
  }
  return {
    endpoint: { transport: "socket", path },
    connections: accepted(listener),
    close: () => {
      listener.close();
      return Promise.resolve();
    },
  };
}

/**
 * Connects with the Host behind a socket. Rejects with `unauthorized` where socket or folder could be somebody else's, and with what
 * the system says where nobody listens.
 */
export async function dialSocket(path: string, signal: AbortSignal): Promise<WireStream> {
  // Where nothing lies there is nothing to mistrust, whatever the folder.
  await Deno.lstat(path);
  checkOwn(path, "socket", ownerIn(dirname(path)));
  signal.throwIfAborted();
  const connection = await Deno.connect({ transport: "unix", path });
  if (signal.aborted) connection.close();
  signal.throwIfAborted();
  return streamOf(connection);
}

async function* accepted(listener: Deno.UnixListener): AsyncGenerator<WireStream> {
  for (;;) {
    let connection: Deno.UnixConn;
    try {
      connection = await listener.accept();
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      // Whoever hung up again, or the moment's lack of file descriptors, ends nothing.
      await new Promise((resolve) => setTimeout(resolve, 10));
      continue;
    }
    yield streamOf(connection);
  }
}

function streamOf(connection: Deno.UnixConn): WireStream {
  return {
    readable: connection.readable,
    writable: connection.writable,
    close: () => {
      try {
        connection.close();
      } catch {
        // Both of its ends were closed before.
      }
    },
  };
}

function removeStale(path: string): void {
  let found: Deno.FileInfo;
  try {
    found = Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  if (found.isSocket !== true) {
    throw new HostError("unauthorized", `"${path}" is in the way: it is no socket of a Host`, {
      data: { reason: "untrusted" },
    });
  }
  Deno.removeSync(path);
}
