import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fields } from "../support/rules.ts";
import { gangway, type Launch, permitted, withFolder } from "../support/launch.ts";
import { link, listed, newSession, openSession, promptParams, tell, type Told } from "../support/talk.ts";
import { OFFERED } from "../../src/acp/negotiation.ts";
import { textOf } from "../support/screen.ts";
import { withEditor } from "../support/editor.ts";

function refusalOf(
  { answer }: Told,
): { readonly code: number; readonly message: string; readonly data?: unknown } {
  assert("error" in answer, `not refused: ${JSON.stringify(answer)}`);
  return answer.error;
}

Deno.test("[A2] [P8] bad input is answered by name with a remedy, and another Session does not notice", async (t) => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/fine.txt`, "fine");
    const large = await Deno.create(`${folder}/large.bin`);
    await large.truncate(65 * 1024 * 1024);
    large.close();
    await withEditor(
      { launch: gangway("--state", `${folder}/state`), deadlineMs: 20_000 },
      async (editor) => {
        const other = await openSession(editor, folder);
        const sessionId = await newSession(editor, folder);
        const beside = tell(editor, other, "/say begin\n/sleep 2000\n/say end");

        const requests:
          readonly (readonly [name: string, method: string, params: object, code: number, says: RegExp])[] = [
            ["relative cwd", "session/new", { cwd: "here", mcpServers: [] }, -32602, /absolute.*"here"/],
            ["missing cwd", "session/new", { cwd: `${folder}/gone`, mcpServers: [] }, -32602, /gone/],
            [
              "unknown Session",
              "session/prompt",
              promptParams("who", "hi"),
              -32002,
              /create, load or resume/,
            ],
            ["empty prompt", "session/prompt", { sessionId, prompt: [] }, -32602, /prompt/],
          ];
        for (const [name, method, params, code, says] of requests) {
          await t.step(name, async () => {
            const error = await editor.refused(method, params as never);
            assertEquals(error.code, code, JSON.stringify(error));
            assertMatch(error.message, says);
          });
        }
        const prompts: readonly (readonly [
          name: string,
          blocks: Parameters<typeof tell>[2][],
          code: number,
          says: RegExp,
        ])[] = [
          ["unknown step", ["/conjure rabbit"], -32603, /\/conjure/],
          ["malformed step", ["/sleep soon"], -32603, /\/sleep/],
          ["broken URI", ["x", link("file:///a%zz", { uri: "file:///a%zz" })], -32602, /%/],
          ["missing file", ["x", link(`${folder}/gone.txt`)], -32602, /gone\.txt/],
          ["file too large", ["x", link(`${folder}/large.bin`)], -32602, /large\.bin.*64/],
        ];
        for (const [name, blocks, code, says] of prompts) {
          await t.step(name, async () => {
            const error = refusalOf(await tell(editor, sessionId, ...blocks));
            assertEquals(error.code, code, JSON.stringify(error));
            assertMatch(error.message, says);
          });
        }
        await t.step("the Session goes on and the other one did not notice", async () => {
          assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
          const { stopReason, screen } = await beside;
          assertEquals([stopReason, textOf(screen)], ["end_turn", "begin\nend"]);
        });
      },
    );
  });
});

Deno.test("[F1] an unreadable file is refused by name", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/locked.txt`, "x");
    await Deno.writeTextFile(`${folder}/open.txt`, "x");
    // Root may read everything, so the permission that is missing here is Deno's.
    const launch = permitted(
      [`--allow-read=${folder}`, `--deny-read=${folder}/locked.txt`],
      "mod.ts",
      "--memory",
    );
    await withEditor({ launch }, async (editor) => {
      const sessionId = await openSession(editor, folder);
      assertMatch(
        refusalOf(await tell(editor, sessionId, "x", link(`${folder}/locked.txt`))).message,
        /locked\.txt/,
      );
      assertEquals((await tell(editor, sessionId, "x", link(`${folder}/open.txt`))).stopReason, "end_turn");
    });
  });
});

Deno.test("[A8] a state folder that cannot be written is named with its remedy; the process lives", async () => {
  await withFolder(async (folder) => {
    await withEditor({ launch: gangway("--state", "/proc/gangway") }, async (editor) => {
      await editor.initialize();
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = await editor.refused("session/new", { cwd: folder, mcpServers: [] });
        assertEquals(error.code, -32603);
        assertStringIncludes(error.message, "/proc/gangway");
        assertMatch(error.message, /disk|--state|--memory/);
      }
    });
  });
});

/** Gangway on a file system of its own that is nearly full; writing a line to `free` removes what fills it. */
async function crampedGangway(folder: string): Promise<Launch | undefined> {
  const probe = await new Deno.Command("unshare", { args: ["-rm", "true"] }).output().catch(() => undefined);
  if (probe?.success !== true) return undefined;
  await Deno.mkdir(`${folder}/small`);
  await new Deno.Command("mkfifo", { args: [`${folder}/free`] }).output();
  const { program, args, env } = gangway("--state", `${folder}/small/state`);
  const prepare = `
    mount -t tmpfs -o size=8m tmpfs "$0/small" && head -c 7000000 /dev/zero >"$0/small/filler" || exit 9
    (read -r _ <"$0/free"; rm "$0/small/filler"; echo freed >"$0/free") </dev/null >/dev/null 2>&1 &
    exec "$@"`;
  return {
    program: "unshare",
    args: ["-rm", "sh", "-c", prepare, folder, program, ...args],
    ...(env && { env }),
  };
}

Deno.test("[A8] [P8] a full disk fails what needs it, by name; nothing is lost and work goes on when there is room", async (t) => {
  await withFolder(async (folder) => {
    const launch = await crampedGangway(folder);
    if (launch === undefined) {
      await t.step({ name: "needs unshare", ignore: true, fn: () => {} });
      return;
    }
    const big = crypto.getRandomValues(new Uint8Array(60_000));
    await Deno.writeFile(
      `${folder}/big.bin`,
      new Uint8Array(3_000_000).map((_, at) => big[at % big.length] ?? 0),
    );
    await withEditor({ launch, deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, folder);
      const other = await newSession(editor, folder);
      assertEquals((await tell(editor, other, "/say before")).stopReason, "end_turn");
      const error = refusalOf(await tell(editor, sessionId, "x", link(`${folder}/big.bin`)));
      assertEquals([error.code, fields(error.data).code], [-32603, "storage_failed"]);
      assertMatch(error.message, /disk|space|full/i);
      const flood = refusalOf(await tell(editor, sessionId, "/emit 4000 1000"));
      assertMatch(JSON.stringify(flood), /disk|space|full|storage/i);
      assertEquals((await listed(editor)).length, 2);

      await Deno.writeTextFile(`${folder}/free`, "now\n");
      assertEquals((await Deno.readTextFile(`${folder}/free`)).trim(), "freed");
      for (const id of [sessionId, other]) {
        assertEquals(textOf((await tell(editor, id, "/say after")).screen), "after");
      }
      assertEquals((await tell(editor, sessionId, "x", link(`${folder}/big.bin`))).stopReason, "end_turn");
    });
  });
});

Deno.test("[A8] a damaged database of one Session is named; the others are untouched", async (t) => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    const ids: string[] = [];
    await withEditor({ launch }, async (editor) => {
      await editor.initialize();
      for (const word of ["one", "two"]) {
        const sessionId = await newSession(editor, folder);
        await tell(editor, sessionId, `/say ${word}`);
        ids.push(sessionId);
      }
    });
    const [damaged = "", whole = ""] = ids;
    let spoilt = 0;
    for await (const path of databasesBelow(`${folder}/state`, damaged)) {
      await Deno.writeFile(path, crypto.getRandomValues(new Uint8Array(20_000)));
      spoilt += 1;
    }
    assert(spoilt > 0, "no database was found");
    await withEditor({ launch }, async (editor) => {
      await editor.initialize();
      await t.step("both are listed", async () => {
        assertEquals(new Set((await listed(editor)).map((info) => info.sessionId)), new Set(ids));
      });
      await t.step("new Sessions work", async () => {
        const sessionId = await newSession(editor, folder);
        assertEquals((await tell(editor, sessionId, "/say new")).stopReason, "end_turn");
      });
      await t.step({
        name: "the damaged one is named",
        ignore: !OFFERED.load,
        async fn() {
          const error = await editor.refused("session/load", {
            sessionId: damaged,
            cwd: folder,
            mcpServers: [],
          });
          assertEquals([error.code, fields(error.data).code], [-32603, "storage_failed"]);
          assertMatch(error.message, /damaged|corrupt/i);
          assertStringIncludes(error.message, damaged);
        },
      });
      await t.step({
        name: "the other one loads",
        ignore: !OFFERED.load,
        async fn() {
          await editor.request("session/load", { sessionId: whole, cwd: folder, mcpServers: [] });
          assertEquals((await tell(editor, whole, "/say still")).stopReason, "end_turn");
        },
      });
    });
  });
});

async function* databasesBelow(folder: string, sessionId: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* databasesBelow(path, sessionId);
    else if (path.includes(sessionId) && entry.name.includes(".db")) yield path;
  }
}
