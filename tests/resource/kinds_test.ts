import { assertEquals, assertMatch } from "@std/assert";
import { type Finding, probe } from "./probe.ts";
import { Place } from "./place.ts";

interface Kind {
  readonly what: string;
  /** Makes it, as a shell line in the folder that is in scope. */
  readonly make: string;
  /** Path of the link, as it stands in the URI, below that folder. */
  readonly link: string;
  readonly expected: { readonly size: number; readonly text?: string } | {
    readonly refused: string;
    readonly says: RegExp;
  };
  /** Only root can make it. */
  readonly root?: true;
}

const LONG = "n".repeat(255);
const read = (text: string) => ({ size: text.length, text });
const refused = (code: string, says: RegExp) => ({ refused: code, says });
const notRegular = (says: RegExp) => refused("not_a_regular_file", says);

const KINDS: readonly Kind[] = [
  { what: "regular file", make: "printf abc > a", link: "a", expected: read("abc") },
  { what: "empty file", make: ": > empty", link: "empty", expected: read("") },
  { what: "file at the cap", make: "truncate -s 64M cap", link: "cap", expected: { size: 64 * 1024 * 1024 } },
  {
    what: "file over the cap",
    make: "truncate -s 67108865 over",
    link: "over",
    expected: refused("too_large", /larger than 64 MiB/),
  },
  {
    what: "sparse 10 GiB",
    make: "truncate -s 10G sparse",
    link: "sparse",
    expected: refused("too_large", /64 MiB/),
  },
  { what: "named pipe", make: "mkfifo pipe", link: "pipe", expected: notRegular(/named pipe/) },
  {
    what: "link to a named pipe",
    make: "ln -s pipe topipe",
    link: "topipe",
    expected: notRegular(/named pipe/),
  },
  { what: "socket", make: "", link: "socket", expected: notRegular(/socket/) },
  { what: "directory", make: "mkdir dir", link: "dir", expected: notRegular(/folder.*link the files in it/) },
  { what: "directory with a slash", make: "", link: "dir/", expected: notRegular(/folder/) },
  { what: "link to a directory", make: "ln -s dir todir", link: "todir", expected: notRegular(/folder/) },
  { what: "the root itself", make: "", link: "", expected: notRegular(/folder/) },
  {
    what: "character device",
    make: "mknod zero c 1 5",
    link: "zero",
    expected: notRegular(/device/),
    root: true,
  },
  {
    what: "block device",
    make: "mknod loop0 b 7 0",
    link: "loop0",
    expected: notRegular(/device/),
    root: true,
  },
  { what: "link in scope", make: "ln -s a in", link: "in", expected: read("abc") },
  { what: "file below a linked folder", make: "echo -n x > dir/x", link: "todir/x", expected: read("x") },
  { what: "hard link", make: "ln ../out/secret hard", link: "hard", expected: read("outside") },
  {
    what: "link to outside",
    make: "ln -s ../out/secret escape",
    link: "escape",
    expected: refused("not_permitted", /symbolic link out of the Session's folders/),
  },
  {
    what: "file below a folder linked to outside",
    make: "ln -s ../out escapes",
    link: "escapes/secret",
    expected: refused("not_permitted", /symbolic link out of the Session's folders/),
  },
  {
    what: "folder linked to outside",
    make: "",
    link: "escapes",
    expected: refused("not_permitted", /out of/),
  },
  {
    what: "dangling link",
    make: "ln -s nothing dangling",
    link: "dangling",
    expected: refused("not_found", /link to nothing/),
  },
  { what: "link loop", make: "ln -s loop loop", link: "loop", expected: refused("not_found", /in a circle/) },
  { what: "nothing", make: "", link: "nothing", expected: refused("not_found", /does not exist/) },
  {
    what: "dots out of scope",
    make: "",
    link: "../out/secret",
    expected: refused("not_permitted", /--allow-read=/),
  },
  {
    what: "escaped dots out",
    make: "",
    link: "%2e%2e/out/secret",
    expected: refused("not_permitted", /--allow-read=/),
  },
  {
    what: "file used as a folder",
    make: "",
    link: "a/x",
    expected: refused("not_found", /a file and no folder/),
  },
  {
    what: "link to a process's environment",
    make: "ln -s /proc/self/environ env",
    link: "env",
    expected: refused("not_permitted", /symbolic link/),
  },
  {
    what: "link to a device",
    make: "ln -s /dev/zero device",
    link: "device",
    expected: refused("not_permitted", /symbolic link/),
  },
  { what: "space, escaped", make: "printf abc > 'a b'", link: "a%20b", expected: read("abc") },
  { what: "space, raw", make: "", link: "a b", expected: read("abc") },
  { what: "# and ? and %", make: "printf abc > 'a#b?c%20'", link: "a%23b%3Fc%2520", expected: read("abc") },
  { what: "raw #", make: "", link: "a#b?c%2520", expected: read("abc") },
  { what: "raw ? in a name", make: "printf q > 'w?x'", link: "w?x", expected: refused("not_found", /%3F/) },
  {
    what: "composed letter",
    make: "printf 1 > \"$(printf 'u\\303\\244')\"",
    link: "u%C3%A4",
    expected: read("1"),
  },
  {
    what: "decomposed letter",
    make: "printf 22 > \"$(printf 'ua\\314\\210')\"",
    link: "ua\u0308",
    expected: read("22"),
  },
  {
    what: "name that is not UTF-8",
    make: "printf abc > \"$(printf 'b\\377')\"",
    link: "b%FF",
    expected: refused("invalid_uri", /not UTF-8/),
  },
  {
    what: "that name as it is listed",
    make: "",
    link: "b\ufffd",
    expected: refused("not_found", /does not exist/),
  },
  {
    what: "newline in the name",
    make: "printf abc > \"$(printf 'l\\nm')\"",
    link: "l%0Am",
    expected: read("abc"),
  },
  { what: "escaped slash", make: "", link: "dir%2Fx", expected: refused("invalid_uri", /%2F/) },
  { what: "escaped zero", make: "", link: "a%00", expected: refused("invalid_uri", /%00/) },
  { what: "longest name", make: `printf abc > ${LONG}`, link: LONG, expected: read("abc") },
  {
    what: "name too long",
    make: "",
    link: `${LONG}n`,
    expected: refused("not_found", /longer than the system allows/),
  },
  {
    what: "path too long",
    make: "",
    link: "dir/".repeat(1100) + "x",
    expected: refused("not_found", /does not exist/),
  },
];

async function makeAll(place: Place, root: boolean): Promise<Kind[]> {
  const kinds = KINDS.filter((kind) => root || kind.root === undefined);
  for (const { make } of kinds) if (make !== "") await place.sh(make);
  return kinds;
}

function check(kind: Kind, finding: Finding): void {
  const { expected } = kind;
  if ("refused" in expected) {
    assertEquals(finding.refused, expected.refused, `${kind.what}: ${JSON.stringify(finding)}`);
    assertMatch(finding.message!, expected.says, kind.what);
    // What was refused is named as it was given; where a link leads is not.
    const target = /secret|environ|\/proc|\/dev\/|\/out/;
    assertEquals(target.test(finding.message!) && !target.test(kind.link), false, finding.message);
  } else {
    assertEquals(finding.size, expected.size, `${kind.what}: ${JSON.stringify(finding)}`);
    if (expected.text !== undefined) assertEquals(finding.text, expected.text, kind.what);
  }
}

for (const width of ["its folder", "everything"]) {
  Deno.test(`[F1] [F2] every kind of file is read or refused at once, reading ${width}`, async () => {
    await using place = await Place.make();
    using _socket = Deno.listen({ transport: "unix", path: `${place.ok}/socket` });
    const kinds = await makeAll(place, Deno.uid() === 0);
    const permission = width === "everything" ? "--allow-all" : `--allow-read=${place.ok}`;
    const findings = await probe([permission], {
      links: kinds.map((kind) => `file://${place.ok}/${kind.link}`),
      roots: [place.ok],
    });
    for (const [index, kind] of kinds.entries()) {
      // With everything allowed, what is outside is refused for that and not for a missing flag.
      const isOutside = kind.link.includes("out/secret");
      if (width === "everything" && isOutside) {
        assertMatch(findings[index]!.message!, /lies outside the Session/);
      } else check(kind, findings[index]!);
    }
  });
}

Deno.test("[F1] a linked directory is a reference where the Engine takes them, within the scope", async () => {
  await using place = await Place.make();
  await place.sh("mkdir dir; ln -s dir todir; ln -s ../out escapes; printf a > a");
  const findings = await probe([`--allow-read=${place.ok}`], {
    links: ["dir/", "todir", "dir#L1:3", "", "a", "escapes"].map((name) => `file://${place.ok}/${name}`),
    roots: [place.ok],
    takesDirectories: true,
  });
  assertEquals(findings.slice(0, 4), [
    { reference: true },
    { reference: true },
    { reference: true, lines: { from: 1, to: 3 } },
    { reference: true },
  ]);
  assertEquals([findings[4]!.size, findings[5]!.refused], [1, "not_permitted"]);
});

Deno.test("[F1] a file that the system does not let this user read is refused with that reason", async () => {
  await using place = await Place.make();
  await place.sh(
    "printf abc > closed; chmod 000 closed; mkdir locked; printf a > locked/a; chmod 000 locked",
  );
  // Root may read everything, so as root another user looks.
  const user = Deno.uid() === 0 ? { uid: 65534, cache: `${place.base}/cache` } : undefined;
  if (user !== undefined) await Deno.mkdir(user.cache).then(() => Deno.chown(user.cache, user.uid, user.uid));
  const findings = await probe([`--allow-read=${place.ok}`], {
    links: [`file://${place.ok}/closed`, `file://${place.ok}/locked/a`],
    roots: [place.ok],
  }, user);
  await place.sh("chmod 700 locked");
  for (const finding of findings) {
    assertEquals(finding.refused, "unreadable");
    assertMatch(finding.message!, /does not let this user read it/);
  }
});
