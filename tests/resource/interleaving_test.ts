import { assertEquals, assertGreater, assertMatch, assertRejects } from "@std/assert";
import { denoGrants } from "../../src/resource/grants.ts";
import { Place } from "./place.ts";
import { ReadScope } from "../../src/resource/scope.ts";
import { ResourceError } from "../../src/session/ports.ts";
import { WatchedDisk } from "./watched_disk.ts";

/** `ok/d/f` is inside, `out/f` outside; `ok/d` is a folder or a link to `out`. */
class Swapped implements AsyncDisposable {
  readonly place: Place;
  #isLink = false;

  private constructor(place: Place) {
    this.place = place;
  }

  static async make(): Promise<Swapped> {
    const place = await Place.make();
    await place.sh("mkdir d; printf inside > d/f; printf outside > ../out/f; ln -s ../out link");
    const swapped = new Swapped(place);
    swapped.age();
    return swapped;
  }

  /** Makes the folder look as if nothing had happened to it for long. */
  age(): void {
    Deno.utimeSync(this.place.ok, 1000, 1000);
  }

  /** Puts the link or the folder in place. */
  set(isLink: boolean): void {
    if (isLink === this.#isLink) return;
    const { ok } = this.place;
    if (isLink) {
      Deno.renameSync(`${ok}/d`, `${ok}/aside`);
      Deno.renameSync(`${ok}/link`, `${ok}/d`);
    } else {
      Deno.renameSync(`${ok}/d`, `${ok}/link`);
      Deno.renameSync(`${ok}/aside`, `${ok}/d`);
    }
    this.#isLink = isLink;
  }

  /** What one admission brings in: a text, or the code of its refusal. */
  async admit(options: { rounds?: number; onlyFile?: boolean } = {}): Promise<string> {
    const { rounds, onlyFile } = options;
    const path = `${this.place.ok}/d/f`;
    const grants = onlyFile ? { readable: (asked: string) => asked === path } : denoGrants;
    const scope = new ReadScope({ denials: [], grants, ...rounds === undefined ? {} : { rounds } });
    try {
      const admission = await scope.admit(path, [this.place.ok]);
      if (admission.kind !== "file") return admission.kind;
      const part = new Uint8Array(16);
      const count = await admission.descriptor.read(part, 0);
      admission.descriptor.close();
      return new TextDecoder().decode(part.subarray(0, count));
    } catch (error) {
      if (error instanceof ResourceError) return error.code;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place[Symbol.asyncDispose]();
  }
}

/** Runs all swaps in one admission: the link is in place from look `from` up to look `to`, or to the end. */
async function sweep(
  options: { rounds?: number; hides?: boolean; onlyFile?: boolean },
): Promise<Map<string, number>> {
  await using swapped = await Swapped.make();
  let looks = 0;
  {
    using disk = new WatchedDisk();
    await swapped.admit(options);
    looks = disk.looks.length;
  }
  const outcomes = new Map<string, number>();
  for (let from = 1; from <= looks; from++) {
    for (let to = from + 1; to <= looks + 1; to++) {
      swapped.age();
      let outcome: string;
      {
        using _disk = new WatchedDisk({
          before: (_, count) => {
            swapped.set(count >= from && count < to);
            if (options.hides) swapped.age();
          },
        });
        outcome = await swapped.admit(options);
      }
      swapped.set(false);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  }
  return outcomes;
}

const SWEEPS = [
  { how: "in one admission" },
  { how: "even where it hides the time of the change", hides: true },
  { how: "even where only the file may be looked at", onlyFile: true },
];

for (const { how, ...options } of SWEEPS) {
  Deno.test(`[F2] [F5] no swap there or back lets an outside byte in, ${how}`, async () => {
    const outcomes = await sweep(options);
    assertEquals(outcomes.get("outside"), undefined, JSON.stringify([...outcomes]));
    assertGreater(outcomes.get("inside") ?? 0, 0);
  });
}

Deno.test("[F5] the same swaps get through where the re-checks are off", async () => {
  const outcomes = await sweep({ hides: true, rounds: 0 });
  assertGreater(outcomes.get("outside") ?? 0, 0, JSON.stringify([...outcomes]));
});

Deno.test("[F5] a swapper that meets every single look is seen by the times of the folders", async () => {
  await using swapped = await Swapped.make();
  const file = `lstatSync ${swapped.place.ok}/d/f`;
  using disk = new WatchedDisk({ before: (look) => swapped.set(look === file) });
  assertEquals(await swapped.admit(), "changed");
  swapped.set(false);
  assertGreater(
    disk.looks.filter((look) => look === file).length,
    4,
    "it is tried again before it is refused",
  );
});

Deno.test("[F5] a folder that was busy for a moment is read at the next try", async () => {
  await using swapped = await Swapped.make();
  using _disk = new WatchedDisk({
    before: (_, count) => {
      if (count === 5) Deno.writeTextFileSync(`${swapped.place.ok}/new`, "");
    },
  });
  assertEquals(await swapped.admit(), "inside");
});

Deno.test("[F2] nothing on the disk is looked at before the path as written is granted", async () => {
  await using swapped = await Swapped.make();
  using disk = new WatchedDisk();
  const asked: string[] = [];
  const grants = {
    readable: (path: string) => {
      asked.push(path);
      return false;
    },
  };
  const scope = new ReadScope({ denials: ["/nothing"], grants });
  const path = `${swapped.place.ok}/d/f`;
  await assertRejects(() => scope.admit(path, [swapped.place.ok]), ResourceError, "--allow-read");
  assertEquals([asked, disk.looks], [[path], []]);
});

Deno.test("[F2] the real path is granted before anything below it is looked at", async () => {
  await using swapped = await Swapped.make();
  const { ok } = swapped.place;
  await swapped.place.sh("ln -s d/f shown");
  using disk = new WatchedDisk();
  const scope = new ReadScope({ denials: [], grants: { readable: (path) => path === `${ok}/shown` } });
  await assertRejects(() => scope.admit(`${ok}/shown`, [ok]), ResourceError, "real place");
  assertEquals(disk.looks, [`realPathSync ${ok}/shown`]);
});

Deno.test("[F5] of several roots the outermost is where the looks begin", async () => {
  await using swapped = await Swapped.make();
  const { ok } = swapped.place;
  for (const roots of [[ok, `${ok}/d`], [`${ok}/d`, ok]]) {
    using disk = new WatchedDisk();
    const admission = await new ReadScope({ denials: [], grants: denoGrants }).admit(`${ok}/d/f`, roots);
    if (admission.kind === "file") admission.descriptor.close();
    assertEquals(disk.looks.includes(`lstatSync ${ok}`), true);
  }
});

Deno.test("[F2] nothing is looked at that is not granted, neither folders on the way nor the state folder", async () => {
  await using swapped = await Swapped.make();
  const { ok, out } = swapped.place;
  using disk = new WatchedDisk();
  const scope = new ReadScope({ denials: [out], grants: { readable: (path) => path === `${ok}/d/f` } });
  const admission = await scope.admit(`${ok}/d/f`, [ok]);
  if (admission.kind === "file") admission.descriptor.close();
  assertEquals(new Set(disk.looks), new Set([`realPathSync ${ok}/d/f`, `lstatSync ${ok}/d/f`]));
});

Deno.test("[F2] the state folder is known by what it is where a file system has two spellings for it", async () => {
  await using swapped = await Swapped.make();
  const { ok } = swapped.place;
  using _disk = new WatchedDisk({ rename: (path) => path.replace("/D", "/d") });
  const scope = new ReadScope({ denials: [`${ok}/d`], grants: denoGrants });
  const error = await assertRejects(() => scope.admit(`${ok}/D/f`, [ok]), ResourceError);
  assertMatch(error.message, /Gangway's own state/);
});

Deno.test("[F2] the state folder is known by its real path where the system does not number files", async () => {
  await using swapped = await Swapped.make();
  const { ok } = swapped.place;
  await swapped.place.sh("ln -s d named");
  using _disk = new WatchedDisk({ alter: (info) => ({ ...info, ino: null }) });
  const scope = new ReadScope({ denials: [`${ok}/named`], grants: denoGrants });
  const error = await assertRejects(() => scope.admit(`${ok}/d/f`, [ok]), ResourceError);
  assertMatch(error.message, /Gangway's own state/);
});

Deno.test("[F1] what was opened is a regular file by its own word, whatever was seen before", async () => {
  await using swapped = await Swapped.make();
  const { ok } = swapped.place;
  await swapped.place.sh("mkfifo pipe");
  using _disk = new WatchedDisk({ alter: (info) => ({ ...info, isFile: !info.isDirectory }) });
  const scope = new ReadScope({ denials: [], grants: denoGrants });
  const error = await assertRejects(() => scope.admit(`${ok}/pipe`, [ok]), ResourceError);
  assertEquals(error.code, "changed");
});
