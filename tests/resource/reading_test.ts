import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { type LinkedFile, ResourceError } from "../../src/session/ports.ts";
import { LIMITS } from "../../src/limits.ts";
import { Place } from "./place.ts";
import { ScopedFiles } from "../../src/resource/mod.ts";
import { setImmediate } from "node:timers";
import { Trail } from "../../src/resource/trail.ts";
import { WatchedDisk } from "./watched_disk.ts";

async function open(place: Place, name: string): Promise<LinkedFile> {
  const files = new ScopedFiles({ denials: [] });
  const link = await files.link(`file://${place.ok}/${name}`, [place.ok], { directories: false });
  if (link.kind !== "file") throw new Error("No file");
  return link.file;
}

async function all(file: LinkedFile): Promise<number> {
  let size = 0;
  for await (const part of file.bytes()) size += part.length;
  return size;
}

Deno.test("[F3] [F5] a file is read whole, in parts of at most one append, and can be read again", async () => {
  await using place = await Place.make();
  for (const size of [0, 1, LIMITS.appendBytes - 1, LIMITS.appendBytes, 3 * LIMITS.appendBytes + 7]) {
    const content = Uint8Array.from({ length: size }, (_, index) => index * 7 + (index >> 8));
    await Deno.writeFile(`${place.ok}/a.bin`, content);
    const file = await open(place, "a.bin");
    for (let reading = 0; reading < 2; reading++) {
      const parts: Uint8Array[] = [];
      for await (const part of file.bytes()) parts.push(part);
      assertEquals(parts.length, Math.ceil(size / LIMITS.appendBytes));
      assertEquals(parts.every((part) => part.length <= LIMITS.appendBytes), true);
      assertEquals(new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()), content);
    }
    file.close();
  }
});

Deno.test("[F3] reading a large file leaves the event loop to others between its parts", async () => {
  await using place = await Place.make();
  await place.sh("truncate -s 64M large");
  const file = await open(place, "large");
  let turns = 0;
  let parts = 0;
  let done = false;
  const turn = () => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  for await (const _ of file.bytes()) parts++;
  done = true;
  await new Promise((resolve) => setImmediate(resolve));
  file.close();
  assertEquals(parts, 256);
  assertGreater(turns, parts / 2);
});

interface Change {
  readonly what: string;
  /** Runs after the file was opened and its first part was read. */
  readonly change: (path: string) => Promise<void>;
  readonly refused?: ResourceError["code"];
}

const SIZE = 2 * LIMITS.appendBytes;
const CHANGES: readonly Change[] = [
  { what: "nothing", change: async () => {} },
  {
    what: "more is written",
    change: (path) => Deno.writeTextFile(path, "x", { append: true }),
    refused: "changed",
  },
  {
    what: "more is written, hiding the time",
    change: async (path) => {
      const { mtime } = await Deno.stat(path);
      await Deno.writeTextFile(path, "x", { append: true });
      await Deno.utime(path, mtime!, mtime!);
    },
    refused: "changed",
  },
  { what: "it is cut", change: (path) => Deno.truncate(path, 10), refused: "changed" },
  { what: "it is emptied", change: (path) => Deno.truncate(path, 0), refused: "changed" },
  {
    what: "it is written over in the same length",
    change: async (path) => {
      await Deno.writeFile(path, new Uint8Array(SIZE).fill(1));
      await Deno.utime(path, new Date(), new Date(Date.now() + 60_000));
    },
    refused: "changed",
  },
  {
    what: "it grows past the cap",
    change: (path) => Deno.truncate(path, LIMITS.artifactBytes + 1),
    refused: "too_large",
  },
  {
    // An editor saves like that; the bytes of the old file are whole.
    what: "another file is put in its place",
    change: async (path) => {
      await Deno.writeTextFile(`${path}.new`, "other");
      await Deno.rename(`${path}.new`, path);
    },
  },
  { what: "it is deleted", change: (path) => Deno.remove(path) },
];

Deno.test("[F5] a file that changes while it is read is an error; what counts is what the reads yield", async () => {
  for (const { what, change, refused } of CHANGES) {
    await using place = await Place.make();
    const path = `${place.ok}/a`;
    await Deno.writeFile(path, new Uint8Array(SIZE));
    const file = await open(place, "a");
    const reading = async () => {
      let size = 0;
      for await (const part of file.bytes()) {
        if (size === 0) await change(path);
        size += part.length;
      }
      return size;
    };
    if (refused === undefined) assertEquals(await reading(), SIZE, what);
    else assertEquals((await assertRejects(reading, ResourceError, path, what)).code, refused, what);
    file.close();
  }
});

Deno.test("[F5] a file that is too large already is refused before a byte is read or sent", async () => {
  await using place = await Place.make();
  await place.sh("truncate -s 67108865 over");
  assertEquals((await assertRejects(() => open(place, "over"), ResourceError)).code, "too_large");
});

Deno.test("[F5] a file that outgrows the cap between opening and reading is too large", async () => {
  await using place = await Place.make();
  await place.sh("printf a > a");
  const file = await open(place, "a");
  await place.sh("truncate -s 67108865 a");
  assertEquals((await assertRejects(() => all(file), ResourceError)).code, "too_large");
  file.close();
});

Deno.test("[F5] a closed file yields nothing more and is closed once", async () => {
  await using place = await Place.make();
  await place.sh("printf a > a; printf bb > b");
  const first = await open(place, "a");
  first.close();
  // The system gives the same number to the next file; a second close must not hit that one.
  const second = await open(place, "b");
  first.close();
  assertEquals((await assertRejects(() => all(first), ResourceError)).code, "unreadable");
  assertEquals(await all(second), 2);
  second.close();
});

Deno.test("[F1] name and type come from the link and not from where it leads", async () => {
  await using place = await Place.make();
  await place.sh("printf a > hidden.png; ln -s hidden.png 'shown name.MD'");
  const table = [
    ["shown%20name.MD#L2:3", "shown name.MD", "text/markdown"],
    ["hidden.png", "hidden.png", "image/png"],
  ] as const;
  for (const [link, name, mimeType] of table) {
    const file = await open(place, link);
    file.close();
    assertEquals([file.name, file.mimeType], [name, mimeType]);
  }
  for (
    const [name, mimeType] of [
      ["Makefile", "text/plain"],
      [".gitignore", "text/plain"],
      ["a.constructor", "application/octet-stream"],
      ["a.tar.gz", "application/gzip"],
      ["noextension", "application/octet-stream"],
      ["a.", "application/octet-stream"],
    ] as const
  ) {
    await Deno.writeTextFile(`${place.ok}/${name}`, "");
    const file = await open(place, name);
    file.close();
    assertEquals(file.mimeType, mimeType, name);
  }
});

Deno.test("[F2] a trail tells a moved folder, a new entry and a denied folder under another name", async () => {
  await using place = await Place.make();
  await place.sh("mkdir -p r/d other; touch -d @1000 r r/d");
  const folders = [`${place.ok}/r`, `${place.ok}/r/d`];
  const trail = Trail.of(folders)!;
  assertEquals(trail.equals(Trail.of(folders)), true);
  assertEquals(trail.passes(await Deno.stat(`${place.ok}/r/d`)), true);
  assertEquals(trail.passes(await Deno.stat(`${place.ok}/other`)), false);
  {
    // The change time cannot be set back, but Deno tells it in seconds: this is the look of one second later.
    using _disk = new WatchedDisk({
      alter: (info) => ({ ...info, ctime: new Date(info.ctime!.getTime() + 1000) }),
    });
    assertEquals(trail.equals(Trail.of(folders)), false);
  }
  await place.sh("touch r/d/new");
  assertEquals(trail.equals(Trail.of(folders)), false);
  await place.sh("rm r/d/new; rmdir r/d; mv other r/d; touch -d @1000 r r/d");
  assertEquals(trail.equals(Trail.of(folders)), false);
  await place.sh("rmdir r/d; ln -s ../../out r/d");
  assertEquals(Trail.of(folders), undefined);
});
