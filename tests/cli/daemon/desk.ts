import { AgentBook } from "../../../src/cli/daemon/agent_book.ts";
import type { Address } from "../../../src/cli/daemon/caller.ts";
import { call } from "../../../src/cli/daemon/caller.ts";
import { Daemon } from "../../../src/cli/daemon/daemon.ts";
import type { ExtensionOutlet } from "../../../src/engine/contract.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { listenOnSocket } from "../../../src/host/wire/transport/socket.ts";
import { LocalHost } from "../../../src/host/local/host.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { randomIds, systemClock } from "../../../src/system.ts";
import { RemoteHost } from "../../../src/host/wire/client.ts";
import { Rendezvous } from "../../../src/host/wire/transport/rendezvous.ts";
import { silentLog } from "../../../src/model/log.ts";
import { unknownExtension } from "../../../src/model/extension.ts";
import type { WireStream } from "../../../src/host/wire/stream.ts";
import { withFolder } from "../../support/launch.ts";

/** Nobody hears what agents say beyond Sessions and Turns. */
export const NO_OUTLET: ExtensionOutlet = {
  call: ({ method }) => Promise.resolve(unknownExtension(method)),
  notify() {},
};

export const NEVER: AbortSignal = new AbortController().signal;

/** A Host of several editors in this process, and whoever calls it. */
export interface Desk {
  readonly daemon: Daemon;
  readonly address: Address;
  readonly folder: string;
  /** Resolves with why it ended. */
  readonly ended: Promise<string>;
  /** Another editor. Its streams are kept in `streams`, so that a test can cut them. */
  editor(streams?: WireStream[]): Promise<RemoteHost>;
}

/** Runs a desk for `body` and ends it. */
export function withDesk(options: { idleMs?: number }, body: (desk: Desk) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const place = new Rendezvous(folder);
    place.prepare();
    const book = new AgentBook({ folder, file: place.agents, base: {}, outlet: NO_OUTLET, log: silentLog });
    const host = new LocalHost({
      store: () => Promise.resolve(new MemoryStore()),
      engines: [],
      engineOf: (engineId) => book.engineOf(engineId),
      defaultEngine: "workbench",
      clock: systemClock,
      ids: randomIds,
      log: silentLog,
    });
    const path = place.socket(undefined);
    const daemon = new Daemon({
      ...{ host, book, listener: listenOnSocket(path), version: "1.2.3", folder },
      ...options,
      ...{ clock: systemClock, log: silentLog },
    });
    const ended = daemon.serve();
    const address: Address = { kind: "socket", path };
    const editors: RemoteHost[] = [];
    try {
      await body({
        daemon,
        address,
        folder,
        ended,
        editor: async (streams = []) => {
          const editor = await RemoteHost.connect({
            dial: async (signal) => {
              const reached = await call(address, { want: "host" }, signal);
              if (reached === undefined) throw new Error("nobody is there");
              streams.push(reached.stream);
              return reached.stream;
            },
            ...{ clock: systemClock, ids: randomIds, log: silentLog },
            client: { name: "test", version: "1", details: introduction() },
          });
          editors.push(editor);
          return editor;
        },
      });
    } finally {
      await Promise.all(editors.map((editor) => editor.close()));
      daemon.stop();
      await ended;
    }
  });
}

/** How an editor without agents of its own introduces itself. */
export function introduction(more: JsonObject = {}): JsonObject {
  return { defaultEngine: "workbench", workbench: "chosen", agents: [], environment: {}, ...more };
}

export const NO_SERVICES = { readTextFile: false, writeTextFile: false, terminal: false, forms: false };
