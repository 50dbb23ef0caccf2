import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Answer, answerTo, type Editor, updateOf, withEditor } from "../support/editor.ts";
import { cardText, textOf } from "../support/screen.ts";
import { fields } from "../support/rules.ts";
import { gangway, type Launch, permitted, withFolder } from "../support/launch.ts";
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
    // Asking whether the state folder may be used is no use of it; what lies in it is.
    const touched = used.filter(({ permission, value }) =>
      permission !== "env" && !(["read", "write"].includes(permission) && value === state)
    );
    assertEquals(touched, []);
    assertEquals(await Deno.stat(state).then(() => true, () => false), false, "the state folder was made");
  });
});

Deno.test("[A5] the end of input answers what is there and ends within a second", async (t) => {
  await withFolder(async (cwd) => {
    await t.step("idle", async () => {
      await withEditor({}, async (editor) => {
        await openSession(editor, cwd);
        await endsInTime(editor);
      });
    });

    await t.step("in the middle of a Turn, whose command ends too", async () => {
      await withEditor({ answers: choose("allow_once") }, async (editor) => {
        const sessionId = await openSession(editor, cwd);
        const turn = editor.call(
          "session/prompt",
          promptParams(sessionId, `/run echo $$ > pid; exec sleep 60`),
        );
        turn.catch(() => {});
        const pid = await fileWritten(`${cwd}/pid`, editor);
        await endsInTime(editor);
        assertEquals(alive(pid), false, "the command outlives Gangway");
      });
    });

    await t.step("requests at hand, the last one without its line end", async () => {
      await withEditor({}, async (editor) => {
        const messages = [
          editor.compose("initialize", editor.hello()),
          editor.compose("session/new", { cwd, mcpServers: [] }),
          editor.compose("session/list", {}),
        ];
        const answers = Promise.all(messages.map((message) => editor.expect(message)));
        editor.bytes(encoder.encode(messages.map((message) => JSON.stringify(message)).join("\n")));
        const ended = editor.endInput();
        for (const answer of await answers) assert("result" in answer, JSON.stringify(answer));
        await ended;
        await endsInTime(editor);
      });
    });

    await t.step("a prompt at hand that needs less than the drain", async () => {
      await withEditor({}, async (editor) => {
        const sessionId = await openSession(editor, cwd);
        const answer = tell(editor, sessionId, "/say good bye");
        const ended = endsInTime(editor);
        assertEquals(textOf((await answer).screen), "good bye");
        await ended;
      });
    });

    await t.step("printf … | gangway", async () => {
      const { program, args, env } = gangway("--memory");
      const lines = [
        { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } },
        { jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd, mcpServers: [] } },
      ].map((message) => JSON.stringify(message)).join("\\n");
      const output = await new Deno.Command("sh", {
        args: ["-c", `printf '${lines}\\n' | "$0" "$@"`, program, ...args],
        ...(env === undefined ? {} : { env: { ...env } }),
      }).output();
      const answers = new TextDecoder().decode(output.stdout).trim().split("\n").map((line) =>
        JSON.parse(line)
      );
      assertEquals(answers.filter((answer) => "id" in answer).map((answer) => answer.id), [1, 2]);
      assertEquals(output.code, 0);
      assertEquals(new TextDecoder().decode(output.stderr), "");
    });
  });
});

async function endsInTime(editor: Editor, code = 0): Promise<void> {
  const started = performance.now();
  await editor.finish({ unanswered: true, code });
  const ms = performance.now() - started;
  assert(ms < 1000, `the end took ${ms.toFixed(0)} ms`);
}

Deno.test("[A5] signals end it within a second with 128 + n, its command too", async (t) => {
  for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
    await t.step(signal, async () => {
      await withFolder(async (cwd) => {
        await withEditor({ answers: choose("allow_once") }, async (editor) => {
          const sessionId = await openSession(editor, cwd);
          editor.call("session/prompt", promptParams(sessionId, `/run echo $$ > pid; exec sleep 60`)).catch(
            () => {},
          );
          const pid = await fileWritten(`${cwd}/pid`, editor);
          const started = performance.now();
          editor.signal(signal);
          const status = await editor.exited();
          const ms = performance.now() - started;
          assertEquals(status.code, code);
          assert(ms < 1000, `the end took ${ms.toFixed(0)} ms`);
          assertEquals(alive(pid), false, "the command outlives Gangway");
          await editor.finish({ unanswered: true, code });
        });
      });
    });
  }
});

/** Waits for a command of the workbench to write its process id; the file is its only sign of life. */
async function fileWritten(path: string, editor: Editor): Promise<number> {
  const watcher = Deno.watchFs(path.slice(0, path.lastIndexOf("/")));
  const written = (async () => {
    const read = async () => (await Deno.readTextFile(path).catch(() => "")).trim();
    for (let text = await read();; text = await read()) {
      if (text !== "") return Number(text);
      const { done } = await watcher[Symbol.asyncIterator]().next();
      if (done === true) throw new Error(`"${path}" was not written`);
    }
  })();
  try {
    return await editor.within(written, `"${path}"`);
  } finally {
    watcher.close();
    await written.catch(() => {});
  }
}

function alive(pid: number): boolean {
  try {
    // A zombie that waits for its parent counts as ended.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

Deno.test("[A1] [A6] a whole conversation writes messages to stdout and nothing to stderr", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/work`);
    await withEditor(
      { launch: gangway("--state", `${folder}/state`), answers: choose("allow_once") },
      async (editor) => {
        const sessionId = await openSession(editor, `${folder}/work`);
        const { stopReason, screen } = await tell(
          editor,
          sessionId,
          "/think hm\n/plan one | two\n/say hello\n/write a.txt one\\ntwo\\n\n/read a.txt\n/edit a.txt two => 2\n/run cat a.txt; echo oops >&2",
        );
        assertEquals(stopReason, "end_turn");
        assertEquals(screen.cards.map((card) => card.status), Array(4).fill("completed"));
        await editor.request("session/close", { sessionId });
        await editor.finish();
        assertEquals(editor.stderr, "");
      },
    );
  });
});

/** Gangway with libraries that print when they are told to by a signal. */
function noisyGangway(env: Readonly<Record<string, string>> = {}): Launch {
  const noise = `${import.meta.dirname}/../support/noise.ts`;
  const launch = permitted(["-A", "--preload", noise], "mod.ts", "--memory", "--log-level", "debug");
  return { ...launch, env: { ...launch.env, ...env } };
}

Deno.test("[A1] what libraries print never reaches stdout", async () => {
  await withFolder(async (cwd) => {
    await withEditor({ launch: noisyGangway() }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const turn = tell(editor, sessionId, "/emit 20 100\n/sleep 200\n/say done");
      editor.signal("SIGUSR1");
      for (const method of ["log", "info", "debug", "warn", "error"]) {
        await editor.complained(`noise by console.${method}`);
      }
      assertEquals((await turn).stopReason, "end_turn");
    });
  });
});

Deno.test("[A6] a megabyte of diagnostics that nobody reads blocks no Turn and no end", async () => {
  await withFolder(async (cwd) => {
    const done = `${cwd}/done`;
    await withEditor({ launch: noisyGangway({ NOISE_DONE: done }), stderr: "unread" }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      editor.signal("SIGUSR2");
      await fileWritten(done, editor);
      const { stopReason, ms } = await tell(editor, sessionId, "/emit 200 100\n/say done");
      assertEquals(stopReason, "end_turn");
      assert(ms < 2000, `the Turn took ${ms.toFixed(0)} ms`);
      await endsInTime(editor);
    });
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

Deno.test("[A8] a store that cannot be opened fails its request clearly; the next request tries again", async () => {
  await withFolder(async (folder) => {
    const blocked = `${folder}/blocked`;
    await Deno.writeTextFile(blocked, "a file, not a folder");
    await withEditor({ launch: gangway("--state", `${blocked}/state`) }, async (editor) => {
      await editor.initialize();
      const error = await editor.refused("session/new", { cwd: folder, mcpServers: [] });
      assertEquals(error.code, -32603);
      assertStringIncludes(error.message, "state");
      const list = await editor.refused("session/list", {});
      assertEquals(list.code, -32603);
      await Deno.remove(blocked);
      await Deno.mkdir(blocked);
      const sessionId = await newSession(editor, folder);
      assertEquals((await tell(editor, sessionId, "/say fine")).stopReason, "end_turn");
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
