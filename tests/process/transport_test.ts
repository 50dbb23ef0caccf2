import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Answer, answerTo, updateOf, withEditor } from "../support/editor.ts";
import { cardText, textOf } from "../support/screen.ts";
import { fields } from "../support/rules.ts";
import { gangway, NO_CONFIG, withFolder } from "../support/launch.ts";
import { listed, newSession, openSession, promptParams, tell } from "../support/talk.ts";
import { choose } from "../support/answers.ts";

const encoder = new TextEncoder();
const SECRET = "sk-live-0451-do-not-tell";

function errorOf(answer: Answer): { readonly code: number; readonly message: string } {
  assert("error" in answer, `not an error: ${JSON.stringify(answer)}`);
  return answer.error;
}

Deno.test("[A2] bad lines and bad requests are answered and the next request works", async (t) => {
  await withEditor({}, async (editor) => {
    await withFolder(async (cwd) => {
      const sessionId = await openSession(editor, cwd);
      const nullAnswer = (from: number) =>
        editor.until(
          (entry) =>
            answerTo(entry, null) === undefined ? undefined : errorOf(answerTo(entry, null) as Answer),
          "an answer without an id",
          { from },
        );

      const lines: readonly (readonly [name: string, line: string, code: number])[] = [
        ["half a message", '{"jsonrpc":"2.0","id":7,', -32700],
        ["no JSON", "hello", -32700],
        [
          "an array",
          '[{"jsonrpc":"2.0","id":9,"method":"session/list"},{"jsonrpc":"2.0","method":"x"}]',
          -32600,
        ],
        ["an empty array", "[]", -32600],
        ["a scalar", "42", -32600],
        ["an object as id", `{"jsonrpc":"2.0","id":{"env":"${SECRET}"},"method":"session/list"}`, -32600],
      ];
      for (const [name, line, code] of lines) {
        await t.step(name, async () => {
          const from = editor.wire.count;
          editor.garbage(`${line}\n`, 1);
          const error = await nullAnswer(from);
          assertEquals(error.code, code);
          assert(!JSON.stringify(error).includes(SECRET));
          assertEquals((await listed(editor)).length, 1);
        });
      }

      const requests: readonly (readonly [method: string, params: object, code: number, says: RegExp])[] = [
        ["session/nonsense", {}, -32601, /session\/nonsense/],
        ["_gangway/nonsense", {}, -32601, /_gangway\/nonsense/],
        ["fs/read_text_file", { sessionId, path: "/x" }, -32601, /fs\/read_text_file/],
        ["session/new", { cwd: 7, mcpServers: [] }, -32602, /cwd/],
        ["session/new", { mcpServers: [] }, -32602, /cwd/],
        [
          "session/new",
          { cwd, mcpServers: [{ name: "m", command: 3, args: [], env: [{ name: "K", value: SECRET }] }] },
          -32602,
          /mcpServers/,
        ],
        ["session/prompt", { sessionId }, -32602, /prompt/],
        ["session/prompt", { sessionId, prompt: [{ type: "hologram", beam: SECRET }] }, -32602, /prompt/],
        ["session/prompt", { prompt: [{ type: "text", text: "x" }] }, -32602, /sessionId/],
      ];
      for (const [method, params, code, says] of requests) {
        await t.step(`${method} ${JSON.stringify(params).slice(0, 60)}`, async () => {
          const error = await editor.refused(method, params as never, { judged: false });
          assertEquals(error.code, code, JSON.stringify(error));
          assertMatch(error.message, says);
          assert(!JSON.stringify(error).includes(SECRET), JSON.stringify(error));
          assertEquals((await listed(editor)).length, 1);
        });
      }
      await t.step("an unknown notification is ignored", async () => {
        editor.bytes(encoder.encode('{"jsonrpc":"2.0","method":"session/nonsense","params":{}}\n'));
        assertEquals((await tell(editor, sessionId, "/say still here")).stopReason, "end_turn");
      });
    });
  });
});

Deno.test("[A3] initialize and the next requests in one write are all answered, initialize first", async () => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const messages = [
        editor.compose("initialize", editor.hello()),
        editor.compose("session/new", { cwd, mcpServers: [] }),
        editor.compose("session/list", {}),
      ];
      const answers = messages.map((message) => editor.expect(message));
      editor.bytes(encoder.encode(messages.map((message) => `${JSON.stringify(message)}\n`).join("")));
      for (const answer of await Promise.all(answers)) assert("result" in answer, JSON.stringify(answer));
      const order = editor.wire.entries.flatMap(({ from, message }) =>
        from === "agent" && message !== undefined && "id" in message ? [message.id] : []
      );
      assertEquals(order[0], messages[0]?.id);
      assertEquals(order.length, 3);
      assertEquals((await listed(editor)).length, 1);
    });
  });
});

Deno.test("[A4] initialize answers version 1, names itself, starts nothing and tells the truth about abilities", async () => {
  await withFolder(async (folder) => {
    const state = `${folder}/state`;
    await withEditor({ launch: gangway("--state", state) }, async (editor) => {
      const hello = await editor.request("initialize", { ...editor.hello(), protocolVersion: 99 }) as Record<
        string,
        unknown
      >;
      assertEquals(hello.protocolVersion, 1);
      assertEquals(fields(hello.agentInfo).name, "gangway");
      assertMatch(String(fields(hello.agentInfo).version), /^\d+\.\d+\.\d+/);
      const touched = await Deno.stat(state).then(() => true, () => false);
      assertEquals(touched, false, "the state folder exists after initialize");

      const { loadSession, sessionCapabilities, auth } = fields(hello.agentCapabilities);
      const session = fields(sessionCapabilities);
      const advertised: Readonly<Record<string, boolean>> = {
        "session/load": loadSession === true,
        "session/list": session.list !== undefined,
        "session/delete": session.delete !== undefined,
        "session/resume": session.resume !== undefined,
        "session/close": session.close !== undefined,
        "logout": fields(auth).logout !== undefined,
        "authenticate": (hello.authMethods as unknown[] ?? []).length > 0,
        "session/fork": false,
        "session/set_model": false,
      };
      for (const [method, there] of Object.entries(advertised)) {
        const answer = await editor.call(method, {
          sessionId: "nobody",
          cwd: folder,
          mcpServers: [],
          methodId: "x",
        }, {
          judged: false,
        });
        const missing = "error" in answer && answer.error.code === -32601;
        assertEquals(missing, !there, `${method}: ${JSON.stringify(answer)}`);
      }
    });
  });
});

Deno.test("[A4] a connection that only shakes hands touches nothing, not even at its end", async () => {
  await withFolder(async (folder) => {
    const state = `${folder}/state`;
    const audit = `${folder}/audit.jsonl`;
    const launch = gangway("--state", state);
    await withEditor({
      launch: { ...launch, env: { ...launch.env, DENO_AUDIT_PERMISSIONS: audit } },
    }, async (editor) => {
      await editor.initialize();
    });
    const lines = (await Deno.readTextFile(audit)).split("\n").filter((line) => line !== "");
    const used = lines.map((line) => JSON.parse(line));
    // The start looks for a configuration; and asking whether the state folder may be used is no use of it.
    const touched = used.filter(({ permission, value }) =>
      permission !== "env" && value !== state && !value.startsWith(NO_CONFIG)
    );
    assertEquals(touched, []);
    assertEquals(await Deno.stat(state).then(() => true, () => false), false, "the state folder was made");
  });
});

Deno.test("[A7] input is read right however it is cut", async (t) => {
  await withFolder(async (cwd) => {
    await t.step("one byte at a time, with CRLF, a BOM and empty lines", async () => {
      await withEditor({}, async (editor) => {
        const messages = [
          editor.compose("initialize", editor.hello()),
          editor.compose("session/new", { cwd, mcpServers: [], _meta: { note: "Grüße, 世界 👩‍👩‍👧" } }),
        ];
        const answers = messages.map((message) => editor.expect(message));
        const text = `\ufeff\r\n\n${messages.map((message) => `${JSON.stringify(message)}\r\n\n`).join("")}`;
        for (const byte of encoder.encode(text)) editor.bytes(Uint8Array.of(byte));
        await answers[0];
        const answer = await answers[1]!;
        assert("result" in answer, JSON.stringify(answer));
        const sessionId = String(fields(answer.result).sessionId);

        const said = "Grüße, 世界, 👩‍👩‍👧 and e\u0301";
        const prompt = editor.compose("session/prompt", promptParams(sessionId, `/say ${said}`));
        const from = editor.wire.count;
        const told = editor.expect(prompt);
        for (const byte of encoder.encode(`${JSON.stringify(prompt)}\n`)) editor.bytes(Uint8Array.of(byte));
        await told;
        const shown = editor.wire.entries.slice(from).flatMap((entry) => {
          const update = updateOf(entry, sessionId);
          return update?.sessionUpdate === "agent_message_chunk" ? [String(fields(update.content).text)] : [];
        });
        assertEquals(shown.join(""), said);
      });
    });

    await t.step("an over-long line is answered and skipped", async () => {
      await withEditor({ deadlineMs: 20_000 }, async (editor) => {
        await editor.initialize();
        const message = editor.compose("session/new", { cwd: "a".repeat(33 * 1024 * 1024), mcpServers: [] });
        const answer = editor.expect({ ...message, params: {} }, { judged: false });
        editor.bytes(encoder.encode(`${JSON.stringify(message)}\n`));
        const error = errorOf(await answer);
        assertEquals(error.code, -32600);
        assertMatch(error.message, /33554432|32 MiB/);
        await newSession(editor, cwd);
      });
    });
  });
});

Deno.test("[A9] updates lie between the response that names their Session and the answer of their prompt", async () => {
  await withFolder(async (cwd) => {
    await withEditor({ answers: choose("allow_once") }, async (editor) => {
      await editor.initialize();
      for (let round = 0; round < 30; round++) {
        const sessionId = await newSession(editor, cwd);
        const named = editor.wire.count;
        await editor.updated(
          sessionId,
          (update) => update.sessionUpdate === "available_commands_update",
          "commands",
        );
        const first = editor.wire.entries.find((entry) => updateOf(entry, sessionId) !== undefined);
        const response = editor.wire.entries.findLast((entry) =>
          entry.index < named && entry.message?.kind === "result"
        );
        assert(first !== undefined && response !== undefined && first.index > response.index);
        const { stopReason, screen } = await tell(editor, sessionId, "/emit 5 10\n/run echo out");
        assertEquals(stopReason, "end_turn");
        assertEquals(screen.cards.map((card) => [card.status, cardText(card).includes("out")]), [[
          "completed",
          true,
        ]]);
        assertEquals(textOf(screen).length, 50);
      }
    });
  });
});
