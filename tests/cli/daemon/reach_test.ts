import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import { HostReach } from "../../../src/cli/daemon/reach.ts";
import { listenOnSocket } from "../../../src/host/wire/transport/socket.ts";
import type { Listener } from "../../../src/host/wire/transport/listener.ts";
import { NEVER } from "./desk.ts";
import { publishEndpoint } from "../../../src/host/wire/transport/endpoint.ts";
import { readFirstLine, writeLine } from "../../../src/cli/daemon/first_line.ts";
import { Rendezvous } from "../../../src/host/wire/transport/rendezvous.ts";
import type { StartEnd } from "../../../src/cli/daemon/start.ts";
import { withFolder } from "../../support/launch.ts";
import type { WireStream } from "../../../src/host/wire/stream.ts";

const SERVED: StartEnd = { code: 0, said: "" };
const FOUND_ANOTHER: StartEnd = { code: 1, said: "A Host is running for this state folder already" };
const BROKEN: StartEnd = { code: 1, said: "The Host cannot be started: no room" };

/** What becomes of each Host that is started. `here`: it serves. `late`: another one serves in the moment in which it has given up. */
type Fate = StartEnd | "here" | "late";

/** Dials in a folder where the started Hosts have these fates; returns how often one was started. */
async function dialled(...fates: readonly Fate[]): Promise<number> {
  let started = 0;
  await withFolder(async (folder) => {
    const place = new Rendezvous(folder);
    place.prepare();
    let listener: Listener | undefined;
    let serving = Promise.resolve();
    const answer = async (stream: WireStream) => {
      await readFirstLine(stream, 5000);
      const status = { version: "1.0.0", pid: 1, folder, uptime: 0, connections: 0, sessions: [] };
      await writeLine(stream, { ok: true, status: { ...status, endpoint: listener?.endpoint } });
    };
    const serve = (first: (stream: WireStream) => Promise<void>) => {
      const here = listener = listenOnSocket(place.socket(undefined));
      publishEndpoint(place, here.endpoint);
      serving = (async () => {
        let handle = first;
        for await (const stream of here.connections) {
          await handle(stream);
          stream.close();
          handle = answer;
        }
      })();
    };
    const start = () => {
      const fate = fates[started++] ?? BROKEN;
      const ended = Promise.withResolvers<StartEnd>();
      if (typeof fate === "object") ended.resolve(fate);
      else if (fate === "here") serve(answer);
      else {
        serve(async (stream) => {
          await readFirstLine(stream, 5000);
          ended.resolve(FOUND_ANOTHER);
        });
      }
      return { ended: ended.promise, release: () => {} };
    };
    try {
      const reach = new HostReach({ folder, start, version: "1.0.0", tell: () => {} });
      (await reach.dial(NEVER)).stream.close();
    } finally {
      await listener?.close();
      await serving;
    }
  });
  return started;
}

const REACHED: readonly { readonly name: string; readonly fates: readonly Fate[] }[] = [
  { name: "serves", fates: ["here"] },
  { name: "found another one that was leaving", fates: [FOUND_ANOTHER, "here"] },
  { name: "had served and left before it was reached", fates: [SERVED, SERVED, SERVED, "here"] },
  { name: "gave up for another one in this moment", fates: ["late"] },
];
for (const { name, fates } of REACHED) {
  Deno.test(`[W1] a Host is reached where the one that was started ${name}`, async () => {
    assertEquals(await dialled(...fates), fates.length);
  });
}

Deno.test("[W1] a Host that cannot be started is given up with its own words", async () => {
  await assertRejects(() => dialled(BROKEN, BROKEN, "here"), HostError, BROKEN.said);
});
