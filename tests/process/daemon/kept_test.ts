import { assertEquals } from "@std/assert";
import { askedOf, keep, keeping, talked } from "../../engine/acp/keeping_agent.ts";
import { listed, tell } from "../../support/talk.ts";
import { screenOf } from "../../support/screen.ts";
import { script } from "../../support/launch.ts";
import { withEditor } from "../../support/editor.ts";
import { withHouse } from "./house.ts";

Deno.test("[E4] [W1] a Session that an agent had before is listed, taken over and deleted through a Host in another process", async () => {
  await withHouse(async (house) => {
    const file = `${house.cwd}/kept.json`;
    const { cwd } = house;
    const updates = talked(["Remember 7", "I will"]);
    keep(file, { sessionId: "old", cwd, title: "An old one", updates }, { sessionId: "older", cwd });
    const { program, args } = keeping({ file });
    const launch = script("mod.ts", "--state", house.state, "--host", "auto", "--", program, ...args);
    await withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
      await editor.initialize();
      assertEquals((await listed(editor)).map(({ sessionId }) => sessionId), ["older", "old"]);
      const from = editor.wire.count;
      await editor.request("session/load", { sessionId: "old", cwd, mcpServers: [] });
      const { messages } = screenOf(editor.wire.entries, "old", from);
      assertEquals(messages.map(({ text }) => text), ["Remember 7", "I will"]);
      const { screen } = await tell(editor, "old", "What was it?");
      assertEquals(screen.messages.map(({ text }) => text), ["I know 2"]);
      await editor.request("session/delete", { sessionId: "older" });
    });
    await withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
      await editor.initialize();
      assertEquals((await listed(editor)).map(({ sessionId }) => sessionId), ["old"]);
    });
    assertEquals(askedOf(file).filter((line) => /load|resume|new|delete/.test(line)), [
      "session/load old",
      "session/delete older",
    ]);
  });
});
