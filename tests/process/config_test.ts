import { assert, assertEquals, assertMatch } from "@std/assert";
import { tell } from "../support/talk.ts";
import { choose } from "../support/answers.ts";
import { fields } from "../support/rules.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { withEditor } from "../support/editor.ts";
import { withFolder } from "../support/launch.ts";

Deno.test("[G3] bad modes and options are refused and change nothing; commands are announced", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: choose("reject_once") }, async (editor) => {
      await editor.initialize();
      const created = await editor.request("session/new", { cwd, mcpServers: [] }) as JsonObject;
      const sessionId = String(created.sessionId);
      assertEquals(fields(created.modes).currentModeId, "ask");

      await t.step("commands follow session/new", async () => {
        const update = await editor.updated(
          sessionId,
          (each) => each.sessionUpdate === "available_commands_update",
          "commands",
        );
        const names = (update.availableCommands as readonly JsonObject[]).map((command) => command.name);
        assert(names.includes("say") && names.includes("run"), JSON.stringify(names));
      });

      const bad: readonly (readonly [method: string, params: JsonObject, says: RegExp])[] = [
        ["session/set_mode", { sessionId, modeId: "yolo" }, /mode.*read_only/],
        ["session/set_mode", { sessionId, modeId: "" }, /mode/i],
        ["session/set_config_option", { sessionId, configId: "mode", value: "yolo" }, /mode.*read_only/],
        ["session/set_config_option", { sessionId, configId: "colour", value: "red" }, /colour/],
        ["session/set_config_option", { sessionId, configId: "mode", type: "boolean", value: true }, /value/],
      ];
      for (const [method, params, says] of bad) {
        await t.step(`${method} ${JSON.stringify(params)}`, async () => {
          const from = editor.wire.count;
          const error = await editor.refused(method, params);
          assertEquals(error.code, -32602);
          assertMatch(error.message, says);
          const { screen } = await tell(editor, sessionId, "/write asked.txt x");
          assertEquals([screen.mode, screen.options], [undefined, undefined]);
          // The mode is still "ask": a dialog came.
          await editor.asked("session/request_permission", from);
        });
      }

      await t.step("a good one agrees in answer, modes and options, and holds", async () => {
        const from = editor.wire.count;
        const answer = await editor.request("session/set_config_option", {
          sessionId,
          configId: "mode",
          value: "read_only",
        }) as JsonObject;
        const option = (answer.configOptions as readonly JsonObject[]).find(({ id }) => id === "mode");
        assertEquals(option?.currentValue, "read_only");
        const mode = await editor.updated(
          sessionId,
          (each) => each.sessionUpdate === "current_mode_update",
          "mode",
          from,
        );
        assertEquals(mode.currentModeId, "read_only");
        const { screen } = await tell(editor, sessionId, "/write never.txt x");
        assertEquals(screen.cards.map(({ status }) => status), ["failed"]);
      });

      await t.step("set_mode shows in the options too", async () => {
        const from = editor.wire.count;
        await editor.request("session/set_mode", { sessionId, modeId: "accept_edits" });
        const update = await editor.updated(
          sessionId,
          (each) => each.sessionUpdate === "config_option_update",
          "options",
          from,
        );
        const option = (update.configOptions as readonly JsonObject[]).find(({ id }) => id === "mode");
        assertEquals(option?.currentValue, "accept_edits");
        const { screen } = await tell(editor, sessionId, "/write at-once.txt x");
        assertEquals(screen.cards.map(({ status }) => status), ["completed"]);
      });

      await t.step("a change while a Turn runs applies to it", async () => {
        const turn = tell(editor, sessionId, "/say go\n/sleep 300\n/write late.txt x");
        await editor.updated(sessionId, (each) => fields(each.content).text === "go", "a word");
        await editor.request("session/set_mode", { sessionId, modeId: "read_only" });
        const { stopReason, screen } = await turn;
        assertEquals([stopReason, ...screen.cards.map(({ status }) => status)], ["end_turn", "failed"]);
      });
    });
  });
});
