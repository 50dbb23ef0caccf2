import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { choose, elicitation, NEVER, Refusal, type Reply } from "../support/answers.ts";
import { gangway, withFolder } from "../support/launch.ts";
import { openSession, promptParams, stopReasonOf, tell } from "../support/talk.ts";
import { textOf } from "../support/screen.ts";
import { OFFERED } from "../../src/acp/negotiation.ts";
import { fields } from "../support/rules.ts";
import { withEditor } from "../support/editor.ts";

const FORMS: JsonObject = { elicitation: { form: {} } };
const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });

Deno.test("[I1] [I6] questions and forms are elicitations with their types and constraints", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ capabilities: FORMS }, async (editor) => {
      const sessionId = await openSession(editor, cwd);

      await t.step("a question is answered", async () => {
        editor.answer({
          "elicitation/create": (params) => {
            const properties = fields(fields(params.requestedSchema).properties);
            const [[name, schema]] = Object.entries(properties) as [[string, Record<string, unknown>]];
            const choices = (schema.oneOf ?? schema.enum) as readonly unknown[];
            const blue = choices.find((choice) => JSON.stringify(choice).includes("blue"));
            return accept({ [name]: (fields(blue).const ?? blue) as Json });
          },
        });
        const { stopReason, screen } = await tell(editor, sessionId, "/ask Which colour? | red | blue");
        assertEquals([stopReason, textOf(screen)], ["end_turn", "You chose: blue"]);
      });

      await t.step("a form keeps its constraints", async () => {
        const from = editor.wire.count;
        editor.answer(
          elicitation(accept({ name: "Ada", age: 36, fit: true, size: "L", days: ["mo", "tu"] })),
        );
        const { stopReason, screen } = await tell(
          editor,
          sessionId,
          "/form name:string(1..20) age:integer(0..150) fit:boolean size:enum(S,M,L) days:multi(mo,tu,we)",
        );
        assertEquals(stopReason, "end_turn");
        assertStringIncludes(textOf(screen), '- name: "Ada"');
        const { params } = await editor.asked("elicitation/create", from);
        const { properties, required } = fields(params.requestedSchema);
        const { name, age, fit } = fields(properties) as Record<string, Record<string, unknown>>;
        assertEquals([name?.type, name?.minLength, name?.maxLength], ["string", 1, 20]);
        assertEquals([age?.type, age?.minimum, age?.maximum], ["integer", 0, 150]);
        assertEquals(fit?.type, "boolean");
        assertEquals(new Set(required as string[]), new Set(["name", "age", "fit", "size", "days"]));
      });

      for (const [action, words] of [["decline", /declined/], ["cancel", /cancelled/]] as const) {
        await t.step(`a form that is answered with ${action}`, async () => {
          editor.answer(elicitation({ action }));
          const { stopReason, screen } = await tell(editor, sessionId, "/form name:string");
          assertEquals(stopReason, "end_turn");
          assertMatch(textOf(screen), words);
        });
      }

      await t.step("a question that is cancelled stops the Turn", async () => {
        editor.answer(elicitation({ action: "cancel" }));
        const { stopReason, screen } = await tell(editor, sessionId, "/ask Sure? | yes | no\n/say went on");
        assertEquals([stopReason, textOf(screen)], ["cancelled", ""]);
      });
    });
  });
});

Deno.test("[I3] wrong values for a form or a question are never taken", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({ capabilities: FORMS }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const replies: readonly (readonly [name: string, reply: Reply])[] = [
        ["null", null],
        ["no action", {}],
        ["an unknown action", { action: "agree", content: { age: 5 } }],
        ["nothing filled in", accept({})],
        ["no content", { action: "accept" }],
        ["a wrong type", accept({ age: "5" })],
        ["a fraction", accept({ age: 5.5 })],
        ["out of range", accept({ age: 10 })],
        ["a field that was not asked for", accept({ age: 5, admin: true })],
        ["an error", new Refusal(-32603, "The dialog crashed")],
      ];
      for (const [name, reply] of replies) {
        await t.step(name, async () => {
          editor.answer(elicitation(reply));
          const { answer, screen } = await tell(editor, sessionId, "/form age:integer(0..9)\n/say went on");
          assert("error" in answer, JSON.stringify(answer));
          assertEquals([answer.error.code, fields(answer.error.data).code], [-32603, "client_unsupported"]);
          assertEquals(textOf(screen).includes("You filled in"), false);
          assertEquals(textOf((await tell(editor, sessionId, "/say on")).screen), "on");
        });
      }
    });
  });
});

Deno.test("[I5] a Client without the method fails the prompt clearly and goes on", async () => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      for (const steps of ["/ask Sure? | yes | no", "/form name:string"]) {
        const { answer } = await tell(editor, sessionId, steps);
        assert("error" in answer, JSON.stringify(answer));
        assertEquals([answer.error.code, fields(answer.error.data).code], [-32603, "client_unsupported"]);
        assertMatch(answer.error.message, /editor|client/i);
        assertEquals((await tell(editor, sessionId, "/say on")).stopReason, "end_turn");
      }
    });
  });
});

Deno.test("[C4] [C7] a cancel withdraws a form that is never answered", async () => {
  await withFolder(async (cwd) => {
    await withEditor({ capabilities: FORMS, answers: elicitation(NEVER) }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      for (let round = 0; round < 5; round++) {
        const from = editor.wire.count;
        const turn = editor.call("session/prompt", promptParams(sessionId, "/form name:string"));
        const { id } = await editor.asked("elicitation/create", from);
        const started = performance.now();
        editor.notify("session/cancel", { sessionId });
        assertEquals(stopReasonOf(await turn), "cancelled");
        assert(performance.now() - started < 1000);
        await editor.until(
          ({ message }) =>
            message?.kind === "notification" && message.method === "$/cancel_request" &&
              fields(message.params).requestId === id || undefined,
          "the withdrawal",
          { from },
        );
        // An answer that comes too late goes nowhere.
        editor.reply(id, accept({ name: "late" }));
      }
      assertEquals(textOf((await tell(editor, sessionId, "/say on")).screen), "on");
    });
  });
});

Deno.test("[I2] a lasting permission holds in later prompts and processes, for exactly its scope", async (t) => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    let sessionId = "";
    const askedFor = async (steps: string, editor: Parameters<typeof tell>[0]) => {
      const from = editor.wire.count;
      const { stopReason, screen } = await tell(editor, sessionId, steps);
      assertEquals(stopReason, "end_turn");
      const dialogs = editor.wire.entries.filter(({ index, message }) =>
        index >= from && message?.kind === "request" && message.method === "session/request_permission"
      );
      return { dialogs: dialogs.length, status: screen.cards[0]?.status };
    };
    await withEditor({ launch, answers: choose("allow_always") }, async (editor) => {
      sessionId = await openSession(editor, folder);
      assertEquals(await askedFor("/write a.txt one", editor), { dialogs: 1, status: "completed" });
      editor.answer(choose("reject_once"));
      await t.step("the same again", async () => {
        assertEquals(await askedFor("/write a.txt two", editor), { dialogs: 0, status: "completed" });
      });
      await t.step("another file asks", async () => {
        assertEquals(await askedFor("/write b.txt two", editor), { dialogs: 1, status: "failed" });
      });
    });
    await t.step({
      name: "after a restart",
      ignore: !OFFERED.resume,
      async fn() {
        await withEditor({ launch, answers: choose("reject_once") }, async (editor) => {
          await editor.initialize();
          await editor.request("session/resume", { sessionId, cwd: folder, mcpServers: [] });
          assertEquals(await askedFor("/write a.txt three", editor), { dialogs: 0, status: "completed" });
          assertEquals(await askedFor("/write b.txt three", editor), { dialogs: 1, status: "failed" });
        });
      },
    });
  });
});
