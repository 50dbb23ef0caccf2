import { assert, assertEquals } from "@std/assert";
import { alone } from "../../engine/acp/outspoken.ts";
import { type Editor, withEditor } from "../../support/editor.ts";
import { fields } from "../../support/rules.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { openSession, tell } from "../../support/talk.ts";
import { script } from "../../support/launch.ts";
import { withHouse } from "./house.ts";

Deno.test("[E1] [W1] logins and extension methods pass through a Host in another process, and find their own editor", async () => {
  await withHouse(async (house) => {
    const { program, args } = alone({
      gated: true,
      hello: { authMethods: [{ id: "key", name: "API key" }] },
    });
    const launch = script("mod.ts", "--state", house.state, "--host", "auto", "--", program, ...args);
    const editor = (name: string) => ({
      launch,
      deadlineMs: 30_000,
      answers: { _who: (params: JsonObject) => ({ name, about: params.sessionId ?? null }) },
    });
    const who = async (from: Editor, params: JsonObject) =>
      fields(await from.request("_ask", { method: "_who", params })).result;
    await withEditor(editor("one"), async (one) => {
      const sessionId = await openSession(one, house.cwd);
      const { answer } = await tell(one, sessionId, "hello");
      assert("error" in answer, JSON.stringify(answer));
      assertEquals([answer.error.code, fields(answer.error.data).authMethods], [-32000, [{
        id: "key",
        name: "API key",
      }]]);
      await one.request("authenticate", { methodId: "key" });
      assertEquals((await tell(one, sessionId, "hello")).stopReason, "end_turn");
      assertEquals(fields(fields(await one.request("_echo", { sessionId })).params).sessionId, "own-1");
      assertEquals(await who(one, {}), { name: "one", about: null });
      await withEditor(editor("two"), async (two) => {
        const other = await openSession(two, house.cwd);
        assertEquals((await tell(two, other, "hello")).stopReason, "end_turn", "one login for both");
        assertEquals(await who(two, {}), { name: "two", about: null });
        // About a Session the one is asked who has it, whoever asks.
        assertEquals(await who(two, { sessionId: "own-1" }), { name: "one", about: sessionId });
        assertEquals(await who(one, { sessionId: "own-2" }), { name: "two", about: other });
      });
      assertEquals(await who(one, {}), { name: "one", about: null });
      assertEquals(
        fields(fields(await one.request("_ask", { method: "_who", params: { sessionId: "own-2" } })).error)
          .code,
        -32601,
      );
    });
  });
});
