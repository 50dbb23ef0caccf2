import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { type Finding, probe } from "./probe.ts";
import { Place } from "./place.ts";
import { ResourceError } from "../../src/session/ports.ts";
import { ScopedFiles } from "../../src/resource/mod.ts";

function codes(findings: readonly Finding[]): readonly (string | undefined)[] {
  return findings.map((finding) => finding.refused ?? finding.text ?? finding.directory);
}

Deno.test("[F2] without the permission a link is refused naming the flag and the path that was given", async () => {
  await using place = await Place.make();
  await place.sh("printf abc > a; printf x > 'b,c'");
  const findings = await probe([], {
    links: [`file://${place.ok}/a`, `file://${place.ok}/b,c`, `file://${place.ok}/nothing`],
    roots: [place.ok],
  });
  assertEquals(codes(findings), Array(3).fill("not_permitted"));
  assertStringIncludes(findings[0]!.message!, `--allow-read=${place.ok}/a,`);
  assertStringIncludes(findings[1]!.message!, `--allow-read=${place.ok}/b,,c,`);
});

Deno.test("[F2] a permission for one file reads that file and no other", async () => {
  await using place = await Place.make();
  await place.sh("mkdir d; printf abc > d/a; printf x > d/b");
  const findings = await probe([`--allow-read=${place.ok}/d/a`], {
    links: [`file://${place.ok}/d/a`, `file://${place.ok}/d/b`],
    roots: [place.ok],
  });
  assertEquals(codes(findings), ["abc", "not_permitted"]);
});

Deno.test("[F2] what is denied inside what is allowed stays closed, by its name and through a link", async () => {
  await using place = await Place.make();
  await place.sh(
    "mkdir open closed; printf abc > open/a; printf x > closed/b; ln -s ../closed/b open/through",
  );
  const findings = await probe([`--allow-read=${place.ok}`, `--deny-read=${place.ok}/closed`], {
    links: ["open/a", "closed/b", "open/through"].map((name) => `file://${place.ok}/${name}`),
    roots: [place.ok],
  });
  assertEquals(codes(findings), ["abc", "not_permitted", "not_permitted"]);
  assertMatch(findings[2]!.message!, /symbolic link to a place that may not be read/);
  assertEquals(findings[2]!.message!.includes("closed"), false);
});

Deno.test("[F2] the path as written and the real path must both be granted", async () => {
  await using place = await Place.make();
  await place.sh("mkdir real; printf abc > real/a; ln -s real named");
  const questions = {
    directories: [`${place.ok}/named`],
    links: [`file://${place.ok}/named/a`],
    roots: [`${place.ok}/real`],
  };
  const [named, real] = [`--allow-read=${place.ok}/named`, `--allow-read=${place.ok}/real`];
  assertEquals(codes(await probe([named, real], questions)), [`${place.ok}/real`, "abc"]);
  const onlyNamed = await probe([named], questions);
  assertEquals(codes(onlyNamed), [`${place.ok}/real`, "not_permitted"]);
  assertMatch(onlyNamed[1]!.message!, /--allow-read for the real place too/);
  assertEquals(onlyNamed[1]!.message!.includes("/real/"), false);
  assertEquals(codes(await probe([real], questions)), [`${place.ok}/named`, "not_permitted"]);
});

Deno.test("[F2] only what lies under the Session's roots is read, whatever is granted", async () => {
  await using place = await Place.make();
  await place.sh("mkdir one two onetwo; printf 1 > one/a; printf 2 > two/a; printf 3 > onetwo/a");
  const links = ["ok/one/a", "ok/two/a", "ok/onetwo/a", "out/secret"].map((name) =>
    `file://${place.base}/${name}`
  );
  const table: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[`${place.ok}/one`], ["1", "not_permitted", "not_permitted", "not_permitted"]],
    [[`${place.ok}/two`, `${place.ok}/one`], ["1", "2", "not_permitted", "not_permitted"]],
    [[`${place.ok}/one`, place.ok], ["1", "2", "3", "not_permitted"]],
    [["/"], ["1", "2", "3", "outside"]],
    [[], Array(4).fill("not_permitted")],
  ];
  for (const [roots, expected] of table) {
    assertEquals(codes(await probe(["--allow-read"], { links, roots })), expected, JSON.stringify(roots));
  }
});

Deno.test("[F2] the state folder is never read: by name, through links, or where it is given as a link", async () => {
  await using place = await Place.make();
  await place.sh(
    "mkdir state; printf s > state/s; ln -s state named; ln -s state/s file; printf abc > a; mkdir states",
  );
  await place.sh("printf abc > states/a");
  const links = ["state/s", "named/s", "file", "a", "states/a"].map((name) => `file://${place.ok}/${name}`);
  for (const denial of ["state", "named"]) {
    const findings = await probe([`--allow-read=${place.ok}`], {
      links,
      roots: [place.ok],
      denials: [`${place.ok}/missing`, `${place.ok}/${denial}`, `${place.out}/unreadable`],
    });
    assertEquals(codes(findings), ["not_permitted", "not_permitted", "not_permitted", "abc", "abc"], denial);
    assertMatch(findings[0]!.message!, /Gangway's own state/);
  }
  const onlyFile = await probe([`--allow-read=${place.ok}/state/s`], {
    links: links.slice(0, 1),
    roots: [place.ok],
    denials: [`${place.ok}/state`],
  });
  assertMatch(onlyFile[0]!.message!, /Gangway's own state/);
});

Deno.test("[F1] [F2] views of the system are never read, whatever is granted", async () => {
  const links = [
    "/proc/self/environ",
    "/proc/1/../self/environ",
    "/sys/kernel/mm",
    "/dev/zero",
    "/dev/stdin",
    "/dev",
  ];
  for (const permission of ["--allow-all", "--allow-read"]) {
    const findings = await probe([permission], {
      links: links.map((path) => `file://${path}`),
      roots: ["/"],
      takesDirectories: true,
    });
    assertEquals(codes(findings), Array(links.length).fill("not_permitted"));
    for (const finding of findings) assertMatch(finding.message!, /is never read/);
  }
});

Deno.test("[F1] [F2] a link to a view of the system is refused without saying where it leads", async () => {
  await using place = await Place.make();
  await place.sh("ln -s /proc/self/environ env; ln -s /dev/zero device; ln -s /sys folder");
  const findings = await probe(["--allow-all"], {
    links: ["env", "device", "folder/kernel"].map((name) => `file://${place.ok}/${name}`),
    roots: ["/"],
    takesDirectories: true,
  });
  for (const finding of findings) {
    assertEquals(finding.refused, "not_permitted");
    assertMatch(finding.message!, /through a symbolic link to what is never read/);
  }
});

Deno.test("[S1] a working folder is an existing absolute directory, also through a link", async () => {
  await using place = await Place.make();
  await place.sh("mkdir d; ln -s d named; printf a > a; ln -s nothing dangling; ln -s loop loop");
  const names = ["d", "d/", "named", "d/../d/.", "a", "a/d", "dangling", "loop", "nothing"];
  const findings = await probe(["--allow-read"], {
    directories: [...names.map((name) => `${place.ok}/${name}`), "d", "", "C:\\w", "/w\0", "/\ud800"],
  });
  const real = `${place.ok}/d`;
  assertEquals(codes(findings), [
    ...Array(4).fill(real),
    "not_a_directory",
    ...Array(4).fill("not_found"),
    ...Array(5).fill("invalid_path"),
  ]);
  for (const [index, name] of names.entries()) {
    if (index >= 4) assertStringIncludes(findings[index]!.message!, `"${place.ok}/${name}"`);
  }
});

Deno.test("[S1] where nothing may be read a working folder is taken as written", async () => {
  const findings = await probe([], { directories: ["/w/x/../y/", "/nothing", "w"] });
  assertEquals(codes(findings), ["/w/y", "/nothing", "invalid_path"]);
});

Deno.test("[F2] a working folder that is not granted is not looked at", async () => {
  await using place = await Place.make();
  await place.sh("mkdir d; ln -s d named");
  const files = new ScopedFiles({ denials: [], grants: { readable: () => false } });
  assertEquals(await files.directory(`${place.ok}/named`), `${place.ok}/named`);
});

Deno.test("a working folder that is missing is refused as a folder, not as a linked file", async () => {
  await using place = await Place.make();
  const files = new ScopedFiles({ denials: [], grants: { readable: () => true } });
  const error = await assertRejects(
    () => files.directory(`${place.ok}/none`),
    ResourceError,
    `${place.ok}/none`,
  );
  assertEquals(error.code, "not_found");
  assertStringIncludes(error.message, "existing folder to work in");
});
