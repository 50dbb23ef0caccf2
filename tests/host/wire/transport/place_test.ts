import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { HostError } from "../../../../src/host/errors.ts";
import { HostLock } from "../../../../src/host/wire/transport/host_lock.ts";
import { publishEndpoint, readEndpoint } from "../../../../src/host/wire/transport/endpoint.ts";
import { dialSocket, listenOnSocket } from "../../../../src/host/wire/transport/socket.ts";
import { dialWeb, listenOnWeb } from "../../../../src/host/wire/transport/web.ts";
import { NEVER, portOf, withPlace } from "./meeting.ts";
import { Rendezvous } from "../../../../src/host/wire/transport/rendezvous.ts";
import { withFolder } from "../../../support/launch.ts";

/** Only root can give files away; everybody else leaves these cases out. */
const ROOT = Deno.uid() === 0;

/** How a place stops being for us alone. */
const SPOILT: readonly {
  readonly name: string;
  readonly needsRoot?: true;
  spoil(path: string, folder: string): void;
}[] = [
  { name: "the folder is open to its group", spoil: (_, folder) => Deno.chmodSync(folder, 0o750) },
  { name: "the folder is open to all", spoil: (_, folder) => Deno.chmodSync(folder, 0o701) },
  { name: "it is open to others itself", spoil: (path) => Deno.chmodSync(path, 0o606) },
  {
    name: "the folder belongs to another",
    needsRoot: true,
    spoil: (_, folder) => Deno.chownSync(folder, 12345, null),
  },
  {
    name: "it belongs to another itself",
    needsRoot: true,
    spoil: (path) => Deno.chownSync(path, 12345, null),
  },
  {
    name: "it is a link",
    spoil: (path) => {
      Deno.renameSync(path, `${path}.real`);
      Deno.symlinkSync(`${path}.real`, path);
    },
  },
  {
    name: "the folder is a link",
    spoil: (_, folder) => {
      Deno.renameSync(folder, `${folder}.real`);
      Deno.symlinkSync(`${folder}.real`, folder);
    },
  },
];

for (const { name, needsRoot, spoil } of SPOILT) {
  Deno.test({
    name: `[W4] nobody is dialled where ${name}`,
    ignore: needsRoot === true && !ROOT,
    async fn(t) {
      await t.step("socket", () =>
        withPlace(async (place) => {
          const path = place.socket(undefined);
          const listener = listenOnSocket(path);
          spoil(path, place.folder);
          await refused(() => dialSocket(path, NEVER));
          await listener.close();
        }));
      await t.step("secret of the web", () =>
        withPlace(async (place) => {
          const listener = listenOnWeb(place);
          spoil(place.secret, place.folder);
          await refused(() => dialWeb(place, portOf(listener), NEVER));
          await listener.close();
        }));
      await t.step("notice", () =>
        withPlace(async (place) => {
          publishEndpoint(place, { transport: "web", port: 1 });
          assertEquals(readEndpoint(place), { transport: "web", port: 1 });
          spoil(place.endpoint, place.folder);
          await refused(() => Promise.resolve().then(() => readEndpoint(place)));
        }));
    },
  });
}

const FOLDERS: readonly { readonly name: string; readonly needsRoot?: true; spoil(folder: string): void }[] =
  [
    { name: "is open to others", spoil: (folder) => Deno.chmodSync(folder, 0o711) },
    { name: "belongs to another", needsRoot: true, spoil: (folder) => Deno.chownSync(folder, 12345, null) },
    {
      name: "is a link",
      spoil: (folder) => {
        Deno.renameSync(folder, `${folder}.real`);
        Deno.symlinkSync(`${folder}.real`, folder);
      },
    },
    {
      name: "is no folder",
      spoil: (folder) => {
        Deno.removeSync(folder);
        Deno.writeTextFileSync(folder, "");
      },
    },
  ];

for (const { name, needsRoot, spoil } of FOLDERS) {
  Deno.test({
    name: `[W4] no Host listens where its folder ${name}`,
    ignore: needsRoot === true && !ROOT,
    fn: () =>
      withPlace((place) => {
        spoil(place.folder);
        assertThrows(() => place.prepare());
        return Promise.resolve();
      }),
  });
}

Deno.test("[W4] a Host's socket is for its user alone, and a file in its place stays", async () => {
  await withPlace(async (place) => {
    const path = place.socket(undefined);
    const listener = listenOnSocket(path);
    assertEquals(((await Deno.lstat(path)).mode ?? 0) & 0o777, 0o600);
    await listener.close();
    await Deno.writeTextFile(path, "mine");
    assertThrows(() => listenOnSocket(path), HostError, "no socket");
    assertEquals(await Deno.readTextFile(path), "mine");
  });
});

Deno.test("where no socket lies nobody is found, and the folder is not blamed", async () => {
  await withPlace(async (place) => {
    await Deno.chmod(place.folder, 0o755);
    await assertRejects(() => dialSocket(`${place.folder}/none`, NEVER), Deno.errors.NotFound);
  });
});

Deno.test("[W3] a socket that a killed Host left is replaced", async () => {
  await withPlace(async (place) => {
    const path = place.socket(undefined);
    const left = new Deno.Command(Deno.execPath(), {
      args: ["eval", `Deno.listen({ transport: "unix", path: "${path}" }); Deno.kill(Deno.pid, "SIGKILL");`],
      stderr: "null",
    });
    await left.output();
    assert((await Deno.lstat(path)).isSocket);
    await Deno.chmod(path, 0o600);
    await assertRejects(() => dialSocket(path, NEVER), Deno.errors.ConnectionRefused);
    const listener = listenOnSocket(path);
    const arrivals = listener.connections[Symbol.asyncIterator]();
    const [near, far] = await Promise.all([dialSocket(path, NEVER), arrivals.next()]);
    near.close();
    far.value?.close();
    await listener.close();
  });
});

Deno.test("[W3] one Host has a state folder; the next one learns who, and has it when that one is gone", async () => {
  await withPlace((place) => {
    const first = HostLock.take(place.lock);
    assert(first instanceof HostLock);
    assertEquals(HostLock.take(place.lock), { heldBy: Deno.pid });
    first.release();
    const second = HostLock.take(place.lock);
    assert(second instanceof HostLock);
    second.release();
    return Promise.resolve();
  });
});

Deno.test("a socket's path is always the same for a state folder, and never too long", async () => {
  await withFolder((folder) => {
    const deep = `${folder}/${"d".repeat(100)}`;
    const runtime = `${folder}/run`;
    const other = `${folder}/${"e".repeat(100)}`;
    const path = (state: string, given: string | undefined) => {
      Deno.mkdirSync(state, { recursive: true, mode: 0o700 });
      const place = new Rendezvous(state);
      place.prepare();
      return place.socket(given);
    };
    assertEquals(path(`${folder}/s`, runtime), `${folder}/s/host/socket`);
    const far = path(deep, runtime);
    assert(far.startsWith(`${runtime}/gangway/`) && far.length < 104, far);
    Deno.symlinkSync(deep, `${folder}/link`);
    assertEquals(path(`${folder}/link`, runtime), far);
    assert(path(other, runtime) !== far);
    const fallback = path(deep, `${folder}/${"r".repeat(100)}`);
    assert(fallback.startsWith(`/tmp/gangway-${Deno.uid()}/`) && fallback.length < 104, fallback);
    return Promise.resolve();
  });
});

async function refused(act: () => Promise<unknown>): Promise<void> {
  const error = await assertRejects(act, HostError);
  assertEquals([error.code, error.dispatch], ["unauthorized", "not_sent"]);
}
