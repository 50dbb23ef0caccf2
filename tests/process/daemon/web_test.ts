import { assert, assertEquals } from "@std/assert";
import { openSession, promptParams, tell } from "../../support/talk.ts";
import { choose } from "../../support/answers.ts";
import { textOf } from "../../support/screen.ts";
import { withEditor } from "../../support/editor.ts";
import { withHouse } from "./house.ts";

Deno.test("[W4] [W1] the whole of a prompt goes over loopback, where there are no sockets", async () => {
  await withHouse(async (house) => {
    const launch = house.editor("--transport", "web");
    await withEditor({ launch, answers: choose("allow_once"), deadlineMs: 30_000 }, async (editor) => {
      const sessionId = await openSession(editor, house.cwd);
      const told = await tell(editor, sessionId, "/emit 300 1000\n/run echo ran > out\n/say done");
      assertEquals(told.stopReason, "end_turn");
      assert(textOf(told.screen).endsWith("done"));
      assert(textOf(told.screen).length >= 300_000);
      assertEquals(await Deno.readTextFile(`${house.cwd}/out`), "ran\n");
      const status = await house.status();
      assertEquals(status?.endpoint.transport, "web");
      const answer = editor.call("session/prompt", promptParams(sessionId, "/say begun\n/sleep 60000"));
      await editor.updated(sessionId, (update) => JSON.stringify(update).includes("begun"), "begun");
      editor.notify("session/cancel", { sessionId });
      const ended = await answer;
      assertEquals("result" in ended && (ended.result as { stopReason: string }).stopReason, "cancelled");
    });
  });
});
