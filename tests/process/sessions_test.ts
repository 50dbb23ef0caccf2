import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/model/json.ts";
import { withEditor } from "../support/editor.ts";
import { fields } from "../support/rules.ts";
import { gangway, withFolder } from "../support/launch.ts";
import { link, listed, newSession, openSession, promptParams, tell } from "../support/talk.ts";
import { cardText, textOf } from "../support/screen.ts";
import { choose } from "../support/answers.ts";

Deno.test("[S1] a Session needs an absolute existing directory, reached by a symlink or not", async (t) => {
  await withFolder(async (folder) => {
    const real = `${folder}/real`;
    await Deno.mkdir(real);
    await Deno.symlink(real, `${folder}/linked`);
    await Deno.writeTextFile(`${folder}/file`, "");
    await withEditor({ answers: choose("allow_once") }, async (editor) => {
      await editor.initialize();
      const bad: readonly (readonly [name: string, cwd: string])[] = [
        ["relative", "src"],
        ["relative with dots", "../x"],
        ["empty", ""],
        ["missing", `${folder}/nowhere`],
        ["a file", `${folder}/file`],
        ["below a file", `${folder}/file/x`],
        ["a URI", `file://${real}`],
      ];
      for (const [name, cwd] of bad) {
        await t.step(name, async () => {
          const error = await editor.refused("session/new", { cwd, mcpServers: [] });
          assertEquals(error.code, -32602);
          assertStringIncludes(error.message, cwd === "" ? "cwd" : cwd);
        });
      }
      await t.step("nothing came of those", async () => assertEquals(await listed(editor), []));
      await t.step("through a symlink, and durable under its id", async () => {
        const sessionId = await newSession(editor, `${folder}/linked`);
        assertEquals((await listed(editor)).map((info) => info.sessionId), [sessionId]);
        const { screen } = await tell(editor, sessionId, "/run pwd -P");
        assertStringIncludes(cardText(screen.cards[0]!), real);
      });
      await t.step("without mcpServers", async () => {
        const answer = await editor.call("session/new", { cwd: real }, { judged: false });
        assert("result" in answer, JSON.stringify(answer));
      });
      await t.step("a bad additional directory is named", async () => {
        const error = await editor.refused("session/new", {
          cwd: real,
          mcpServers: [],
          additionalDirectories: [`${folder}/nowhere`],
        });
        assertEquals(error.code, -32602);
        assertStringIncludes(error.message, `${folder}/nowhere`);
      });
    });
  });
});

Deno.test("[S3] close ends the Turn and the ownership, and the durable Session stays", async (t) => {
  await withFolder(async (folder) => {
    await withEditor({ launch: gangway("--state", `${folder}/state`) }, async (editor) => {
      const sessionId = await openSession(editor, folder);

      await t.step("idle, twice at once", async () => {
        const other = await newSession(editor, folder);
        const both = [
          editor.request("session/close", { sessionId: other }),
          editor.call("session/close", { sessionId: other }),
        ];
        assertEquals(await both[0], {});
        await both[1];
      });

      await t.step("in the middle of a Turn, with prompts that wait", async () => {
        const prompts = [
          tell(editor, sessionId, "/say one\n/sleep 60000"),
          tell(editor, sessionId, "/say two"),
          tell(editor, sessionId, "/say three"),
        ];
        await editor.updated(
          sessionId,
          (update) => update.sessionUpdate === "agent_message_chunk",
          "the first word",
        );
        const started = performance.now();
        await editor.request("session/close", { sessionId });
        assert(performance.now() - started < 1000);
        const told = await Promise.all(prompts);
        assertEquals(told.map((each) => each.stopReason), ["cancelled", "cancelled", "cancelled"]);
        assertEquals(told.map((each) => textOf(each.screen).includes("two")), [false, false, false]);
      });

      await t.step("it is listed and refused", async () => {
        assert((await listed(editor)).some((info) => info.sessionId === sessionId));
        const error = await editor.refused("session/prompt", promptParams(sessionId, "/say more"));
        assertEquals([error.code, error.data], [-32002, { ...fields(error.data), sessionId }]);
      });
    });
  });
});

Deno.test("[S4] listing grants nothing: what is not owned is refused, whatever is asked of it", async (t) => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    let sessionId = "";
    await withEditor({ launch }, async (editor) => {
      sessionId = await openSession(editor, folder);
      assertEquals((await tell(editor, sessionId, "/say one")).stopReason, "end_turn");
    });
    await withEditor({ launch }, async (editor) => {
      await editor.initialize();
      assertEquals((await listed(editor)).map((info) => info.sessionId), [sessionId]);
      for (const id of [sessionId, "nobody", "../../etc", ""]) {
        const requests: readonly (readonly [string, JsonObject])[] = [
          ["session/prompt", promptParams(id, "/say more")],
          ["session/close", { sessionId: id }],
          ["session/set_mode", { sessionId: id, modeId: "read_only" }],
          ["session/set_config_option", { sessionId: id, configId: "mode", value: "read_only" }],
        ];
        for (const [method, params] of requests) {
          await t.step(`${method} of "${id === sessionId ? "a listed one" : id}"`, async () => {
            const error = await editor.refused(method, params);
            assertEquals(error.code, -32002, JSON.stringify(error));
            assertEquals(fields(error.data).sessionId, id);
          });
        }
      }
      await t.step("a cancel of it harms nobody", () => editor.notify("session/cancel", { sessionId }));
      await t.step("its mode is as it was", async () => assertEquals((await listed(editor)).length, 1));
    });
  });
});

Deno.test("[S6] a list is newest first, by real path, in pages, with ISO dates", async (t) => {
  await withFolder(async (folder) => {
    for (const name of ["a", "b"]) await Deno.mkdir(`${folder}/${name}`);
    await Deno.symlink(`${folder}/a`, `${folder}/to-a`);
    await withEditor(
      { launch: gangway("--state", `${folder}/state`), deadlineMs: 20_000 },
      async (editor) => {
        await editor.initialize();
        const inA: string[] = [];
        for (let at = 0; at < 104; at++) inA.push(await newSession(editor, `${folder}/a`));
        const inB = await newSession(editor, `${folder}/b`);
        const viaLink = await newSession(editor, `${folder}/to-a`);

        await t.step("pages", async () => {
          const page = await editor.request("session/list", {}) as JsonObject;
          assert(typeof page.nextCursor === "string" && page.nextCursor.length < 1024);
          const all = await listed(editor);
          assertEquals(all.map((info) => info.sessionId), [viaLink, inB, ...inA.toReversed()]);
          for (const info of all) {
            assertMatch(String(info.updatedAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
          }
          const pages = await editor.refused("session/list", { cursor: "elsewhere" });
          assertEquals(pages.code, -32602);
          assertMatch(pages.message, /cursor/i);
        });

        await t.step("by real path", async () => {
          assertEquals((await listed(editor, { cwd: `${folder}/b` })).map((info) => info.sessionId), [inB]);
          for (const path of [`${folder}/a`, `${folder}/to-a`, `${folder}/a/.`, `${folder}/b/../a`]) {
            assertEquals((await listed(editor, { cwd: path })).length, 105, path);
          }
          assertEquals(await listed(editor, { cwd: `${folder}/nowhere` }), []);
          assertEquals((await editor.refused("session/list", { cwd: "relative" })).code, -32602);
        });

        await t.step("what was used last comes first", async () => {
          const oldest = inA[0] ?? "";
          assertEquals((await tell(editor, oldest, "/title The oldest\n/say hi")).stopReason, "end_turn");
          const [first] = await listed(editor);
          assertEquals([first?.sessionId, first?.title], [oldest, "The oldest"]);
        });
      },
    );
  });
});

Deno.test("[S7] two Sessions of one process have their own directory, roots and configuration", async (t) => {
  await withFolder(async (folder) => {
    for (const name of ["one", "two", "extra"]) {
      await Deno.mkdir(`${folder}/${name}`);
      await Deno.writeTextFile(`${folder}/${name}/name.txt`, `this is ${name}`);
    }
    await withEditor({ answers: choose("reject_once") }, async (editor) => {
      const hello = await editor.initialize();
      const { additionalDirectories } = fields(fields(hello.agentCapabilities).sessionCapabilities);
      assertEquals(additionalDirectories, {});
      const one = await newSession(editor, `${folder}/one`);
      const two = await newSession(editor, `${folder}/two`, { additionalDirectories: [`${folder}/extra`] });

      await t.step("directory", async () => {
        const told = await Promise.all([one, two].map((id) => tell(editor, id, "/read name.txt")));
        const texts = told.map(({ screen }) => `${cardText(screen.cards[0]!)}${textOf(screen)}`);
        assertStringIncludes(texts[0]!, "this is one");
        assertStringIncludes(texts[1]!, "this is two");
      });

      await t.step("roots", async () => {
        const linked = link(`${folder}/extra/name.txt`);
        assertEquals((await tell(editor, two, "look", linked)).stopReason, "end_turn");
        const refused = await tell(editor, one, "look", linked);
        assert("error" in refused.answer, JSON.stringify(refused.answer));
        assertEquals(refused.answer.error.code, -32602);
        const infos = await listed(editor);
        const rootsOf = (id: string) =>
          infos.find((info) => info.sessionId === id)?.additionalDirectories ?? [];
        assertEquals([rootsOf(one), rootsOf(two)], [[], [`${folder}/extra`]]);
      });

      await t.step("configuration", async () => {
        await editor.request("session/set_mode", { sessionId: two, modeId: "accept_edits" });
        const told = await Promise.all([one, two].map((id) => tell(editor, id, "/write new.txt words")));
        assertEquals(told.map(({ screen }) => screen.cards[0]?.status), ["failed", "completed"]);
        const made = await Promise.all(
          ["one", "two"].map((name) => Deno.stat(`${folder}/${name}/new.txt`).then(() => true, () => false)),
        );
        assertEquals(made, [false, true]);
      });
    });
  });
});
