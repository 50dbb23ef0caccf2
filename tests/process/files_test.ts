import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import type { JsonObject } from "../../src/model/json.ts";
import { type Block, link, newSession, openSession, tell, type Told } from "../support/talk.ts";
import { permitted, withFolder } from "../support/launch.ts";
import { fields } from "../support/rules.ts";
import { textOf } from "../support/screen.ts";
import { withEditor } from "../support/editor.ts";

const CONTENT = "the quick brown fox\njumps over\nthe lazy dog\n";

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function refusalOf({ answer }: Told): { readonly code: number; readonly message: string } {
  assert("error" in answer, `taken: ${JSON.stringify(answer)}`);
  return answer.error;
}

/** Runs a program that makes what Deno cannot: pipes, sockets. */
async function make(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  assert(success, new TextDecoder().decode(stderr));
}

Deno.test("[F1] [F2] [F3] a linked file is read where it is regular and in scope, and refused by name where not", async (t) => {
  await withFolder(async (folder) => {
    const work = `${folder}/work`;
    const outside = `${folder}/outside`;
    for (const path of [work, `${work}/dir`, outside]) await Deno.mkdir(path);
    await Deno.writeTextFile(`${work}/plain.txt`, CONTENT);
    await Deno.writeTextFile(`${work}/empty.txt`, "");
    await Deno.writeTextFile(`${work}/with space & ä#%.txt`, CONTENT);
    await Deno.writeTextFile(`${outside}/hidden-name.txt`, "outside");
    await Deno.symlink(`${work}/plain.txt`, `${work}/inner-link`);
    await Deno.symlink(`${outside}/hidden-name.txt`, `${work}/escape`);
    await Deno.symlink(outside, `${work}/escape-dir`);
    await Deno.symlink(`${work}/nowhere`, `${work}/dangling`);
    await Deno.symlink(`${work}/loop`, `${work}/loop`);
    await Deno.symlink("/proc/self/environ", `${work}/environ`);
    await Deno.symlink("/dev/zero", `${work}/zero`);
    await make("mkfifo", `${work}/fifo`);
    const socket = Deno.listen({ transport: "unix", path: `${work}/socket` });
    const sparse = await Deno.create(`${work}/sparse.bin`);
    await sparse.truncate(10 * 1024 ** 3);
    sparse.close();

    await withEditor({ deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, work);

      const taken: readonly (readonly [name: string, block: Block, size: number, sha: string])[] = [
        ["a regular file", link(`${work}/plain.txt`), CONTENT.length, sha256(CONTENT)],
        ["an empty file", link(`${work}/empty.txt`), 0, sha256("")],
        ["a link inside", link(`${work}/inner-link`), CONTENT.length, sha256(CONTENT)],
        [
          "escapes",
          link(`file://${work}/${encodeURIComponent("with space & ä#%.txt")}`),
          CONTENT.length,
          sha256(CONTENT),
        ],
        ["localhost", link(`file://localhost${work}/plain.txt`), CONTENT.length, sha256(CONTENT)],
      ];
      for (const [name, block, size, sha] of taken) {
        await t.step(`taken: ${name}`, async () => {
          const told = await tell(editor, sessionId, "what is this", block);
          assertEquals(told.stopReason, "end_turn", JSON.stringify(told.answer));
          assertStringIncludes(textOf(told.screen), sha);
          assertMatch(textOf(told.screen), new RegExp(`\\b${size}\\b`));
        });
      }

      const refused: readonly (readonly [name: string, path: string, says: RegExp])[] = [
        ["a FIFO", `${work}/fifo`, /fifo/],
        ["a socket", `${work}/socket`, /socket/],
        ["a device", "/dev/zero", /dev\/zero/],
        ["a link to a device", `${work}/zero`, /zero/],
        ["a link into /proc", `${work}/environ`, /environ/],
        ["/proc itself", "/proc/self/environ", /environ/],
        ["a directory", `${work}/dir`, /dir/],
        ["a link out of the scope", `${work}/escape`, /escape/],
        ["a file below a linked directory", `${work}/escape-dir/hidden-name.txt`, /escape-dir/],
        ["a file outside", `${outside}/hidden-name.txt`, /hidden-name/],
        ["dots out of the scope", `${work}/../outside/hidden-name.txt`, /hidden-name/],
        ["a missing file", `${work}/nowhere.txt`, /nowhere\.txt/],
        ["a dangling link", `${work}/dangling`, /dangling/],
        ["a loop", `${work}/loop`, /loop/],
        ["below a file", `${work}/plain.txt/x`, /plain\.txt/],
        ["a name too long", `${work}/${"n".repeat(300)}`, /nnn/],
        ["a file too large", `${work}/sparse.bin`, /sparse\.bin.*(large|MiB|bytes)/],
      ];
      for (const [name, path, says] of refused) {
        await t.step(`refused: ${name}`, async () => {
          const told = await tell(editor, sessionId, "what is this", link(path));
          const error = refusalOf(told);
          assertEquals(error.code, -32602, JSON.stringify(error));
          assertMatch(error.message, says);
          if (!path.includes("outside")) {
            assert(!JSON.stringify(error).includes("outside"), JSON.stringify(error));
          }
          assertEquals(told.screen.messages, []);
          assert(told.ms < 2000, `${told.ms.toFixed(0)} ms`);
        });
      }

      await t.step("schemes that are never read go through as references", async () => {
        for (const uri of ["https://example.com/a%20b", "untitled:Untitled-1", "git:/x?ref=main"]) {
          const told = await tell(editor, sessionId, "what is this", link(uri, { uri, name: "elsewhere" }));
          assertEquals(told.stopReason, "end_turn", JSON.stringify(told.answer));
          assertMatch(textOf(told.screen), /elsewhere.*reference/);
        }
      });

      await t.step("one bad link among good ones starts nothing, and the Session goes on", async () => {
        const told = await tell(
          editor,
          sessionId,
          "/say started",
          link(`${work}/plain.txt`),
          link(`${work}/fifo`),
        );
        assertMatch(refusalOf(told).message, /fifo/);
        assertEquals(told.screen.messages, []);
        assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
      });
    });
    socket.close();
  });
});

Deno.test("[F6] URIs are read as editors write them, and refused with a sentence where they are ambiguous", async (t) => {
  await withFolder(async (work) => {
    await Deno.writeTextFile(`${work}/plain.txt`, CONTENT);
    await Deno.writeTextFile(`${work}/a b.txt`, CONTENT);
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, work);
      const taken: readonly (readonly [uri: string, lines: string | undefined])[] = [
        [`file://${work}/plain.txt#L1:2`, "lines 1 to 2"],
        [`file://${work}/plain.txt#L2-L3`, "lines 2 to 3"],
        [`file://${work}/plain.txt#L2`, "lines 2 to 2"],
        [`file://${work}/plain.txt?symbol=fox`, undefined],
        [`file://${work}/a%20b.txt`, undefined],
        [`file://${work}/a b.txt`, undefined],
        [`file:${work}/plain.txt`, undefined],
        [`FILE://${work}/plain.txt`, undefined],
        [`file://${work}/./plain.txt`, undefined],
      ];
      for (const [uri, lines] of taken) {
        await t.step(`taken: ${uri.replace(work, "…")}`, async () => {
          const told = await tell(editor, sessionId, "look", {
            type: "resource_link",
            uri,
            name: "plain.txt",
          });
          assertEquals(told.stopReason, "end_turn", JSON.stringify(told.answer));
          assertStringIncludes(textOf(told.screen), sha256(CONTENT));
          if (lines !== undefined) assertStringIncludes(textOf(told.screen), lines);
        });
      }
      const refused: readonly (readonly [uri: string, says: RegExp])[] = [
        [`file://${work}%2Fplain.txt`, /%2F/],
        [`file://${work}/plain%00.txt`, /%00/],
        [`file://${work}/%FF%FE.txt`, /UTF-8/],
        [`file://${work}/plain%zz.txt`, /%/],
        [`file://elsewhere${work}/plain.txt`, /elsewhere/],
        ["file:///C:/Users/me/x.txt", /Windows|drive/],
        ["file:////server/share/x.txt", /share|machine|network/],
        ["file:plain.txt", /absolute|path/],
        ["plain.txt", /absolute|URI/],
        [`file://${work}/${"d/".repeat(10_000)}x`, /long/],
      ];
      for (const [uri, says] of refused) {
        await t.step(`refused: ${uri.replace(work, "…").slice(0, 60)}`, async () => {
          const told = await tell(editor, sessionId, "look", {
            type: "resource_link",
            uri,
            name: "plain.txt",
          });
          const error = refusalOf(told);
          assertEquals(error.code, -32602);
          assertMatch(error.message, says);
        });
      }
    });
  });
});

Deno.test("[F7] embedded resources and images take the Artifact path; what is not advertised is refused", async (t) => {
  await withFolder(async (work) => {
    await withEditor({}, async (editor) => {
      const hello = await editor.initialize();
      const can = fields(fields(hello.agentCapabilities).promptCapabilities);
      const sessionId = await newSession(editor, work);
      const bytes = crypto.getRandomValues(new Uint8Array(50_000));
      const data = bytes.toBase64();
      const blocks: readonly (readonly [ability: string, block: JsonObject, sha: string])[] = [
        ["image", { type: "image", mimeType: "image/png", data }, sha256(bytes)],
        ["audio", { type: "audio", mimeType: "audio/wav", data }, sha256(bytes)],
        [
          "embeddedContext",
          {
            type: "resource",
            resource: { uri: `file://${work}/unsaved.txt`, text: CONTENT, mimeType: "text/plain" },
          },
          sha256(CONTENT),
        ],
        [
          "embeddedContext",
          { type: "resource", resource: { uri: "zed:///thread/1", blob: data, mimeType: "application/zip" } },
          sha256(bytes),
        ],
      ];
      for (const [ability, block, sha] of blocks) {
        await t.step(`${ability}: ${can[ability] === true ? "taken" : "refused"}`, async () => {
          const told = await tell(editor, sessionId, "look", block);
          if (can[ability] === true) {
            assertEquals(told.stopReason, "end_turn", JSON.stringify(told.answer));
            assertStringIncludes(textOf(told.screen), sha);
          } else {
            assertEquals(refusalOf(told).code, -32602);
          }
        });
      }
      await t.step("bytes that are no base64 are refused", async () => {
        const told = await tell(editor, sessionId, "look", {
          type: "image",
          mimeType: "image/png",
          data: "!!!",
        });
        assertEquals(refusalOf(told).code, -32602);
      });
    });
  });
});

Deno.test("[F2] without the permission to read a link is refused by the name of the flag that is missing", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/allowed`);
    await Deno.mkdir(`${folder}/other`);
    for (const name of ["allowed", "other"]) await Deno.writeTextFile(`${folder}/${name}/a.txt`, CONTENT);
    const launch = permitted([`--allow-read=${folder}/allowed`], "mod.ts", "--memory");
    await withEditor({ launch }, async (editor) => {
      const sessionId = await openSession(editor, `${folder}/allowed`);
      const told = await tell(editor, sessionId, "look", link(`${folder}/allowed/a.txt`));
      assertStringIncludes(textOf(told.screen), sha256(CONTENT));
      const error = refusalOf(await tell(editor, sessionId, "look", link(`${folder}/other/a.txt`)));
      assertEquals(error.code, -32602);
      assertMatch(error.message, /--allow-read|root|workspace|folder/i);
    });
  });
});
