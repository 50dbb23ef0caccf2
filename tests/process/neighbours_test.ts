import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Editor, withEditor } from "../support/editor.ts";
import { gangway, withFolder } from "../support/launch.ts";
import { listed, newSession, openSession, tell } from "../support/talk.ts";
import { fields } from "../support/rules.ts";
import { OFFERED } from "../../src/acp/negotiation.ts";
import { textOf } from "../support/screen.ts";

Deno.test("[S8] two processes on one state folder work side by side", async (t) => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    await withEditor({ launch }, async (first) => {
      await withEditor({ launch }, async (second) => {
        // Both open the folder for the first time at once.
        const [ours, theirs] = await Promise.all([openSession(first, folder), openSession(second, folder)]);

        await t.step("both create, prompt and list", async () => {
          const told = await Promise.all([tell(first, ours, "/say one"), tell(second, theirs, "/say two")]);
          assertEquals(told.map(({ screen }) => textOf(screen)), ["one", "two"]);
          for (const editor of [first, second]) {
            assertEquals((await listed(editor)).map((info) => info.sessionId).sort(), [ours, theirs].sort());
          }
        });

        await t.step("many at once", async () => {
          const create = async (editor: Editor) => {
            for (let at = 0; at < 20; at++) {
              const sessionId = await newSession(editor, folder);
              assertEquals((await tell(editor, sessionId, "/say x")).stopReason, "end_turn");
            }
          };
          await Promise.all([create(first), create(second)]);
          assertEquals((await listed(first)).length, 42);
        });

        await t.step({
          name: "a live one is busy and says by whom",
          ignore: !OFFERED.load || !OFFERED.resume,
          async fn() {
            for (const method of ["session/load", "session/resume"]) {
              const error = await second.refused(method, { sessionId: ours, cwd: folder, mcpServers: [] });
              assertEquals([error.code, fields(error.data).code], [-32603, "session_busy"]);
              assertStringIncludes(error.message, String(first.pid));
            }
          },
        });

        await t.step({
          name: "after its process is gone it is free",
          ignore: !OFFERED.resume,
          async fn() {
            await first.finish();
            await second.request("session/resume", { sessionId: ours, cwd: folder, mcpServers: [] });
            assertEquals(textOf((await tell(second, ours, "/say three")).screen), "three");
          },
        });
      });
    });
  });
});
