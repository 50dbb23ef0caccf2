import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Editor, withEditor } from "../support/editor.ts";
import { gangway, type Launch, permitted, withFolder } from "../support/launch.ts";
import { newSession, openSession, promptParams, tell } from "../support/talk.ts";
import { choose } from "../support/answers.ts";
import { textOf } from "../support/screen.ts";

const encoder = new TextEncoder();

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
