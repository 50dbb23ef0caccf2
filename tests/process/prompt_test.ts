import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fields } from "../support/rules.ts";
import { gangway, withFolder } from "../support/launch.ts";
import { type Editor, updateOf, withEditor } from "../support/editor.ts";
import { link, listed, openSession, promptParams, tell } from "../support/talk.ts";
import { screenOf, textOf } from "../support/screen.ts";

Deno.test("[P5] [P8] how a Turn ended is told as it was, and the Session goes on", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      for (const reason of ["end_turn", "max_tokens", "max_turn_requests", "refusal"]) {
        await t.step(`stop reason ${reason}`, async () => {
          assertEquals((await tell(editor, sessionId, `/say x\n/stop ${reason}`)).stopReason, reason);
        });
      }
      await t.step("a failure has a class and a sentence", async () => {
        const { answer, screen } = await tell(
          editor,
          sessionId,
          "/say before\n/fail The oven is cold\n/say after",
        );
        assert("error" in answer);
        assertEquals(answer.error.code, -32603);
        assertEquals([fields(answer.error.data).code, fields(answer.error.data).failure], [
          "turn_failed",
          "engine",
        ]);
        assertStringIncludes(answer.error.message, "The oven is cold");
        assertEquals(textOf(screen), "before");
      });
      await t.step("an unknown step is named", async () => {
        const { answer } = await tell(editor, sessionId, "/juggle 3");
        assert("error" in answer, JSON.stringify(answer));
        assertStringIncludes(answer.error.message, "/juggle");
      });
      await t.step("the next prompt works", async () => {
        assertEquals(textOf((await tell(editor, sessionId, "/say again")).screen), "again");
      });
    });
  });
});

Deno.test("[P6] prompts that wait are answered in order, each once; the bound is a clear error", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);

      await t.step("in order", async () => {
        const from = editor.wire.count;
        const answered: number[] = [];
        const prompts = Array.from({ length: 8 }, async (_, at) => {
          const told = await tell(editor, sessionId, `/say ${at}\n/sleep 5\n/say ${at}!`);
          answered.push(at);
          return told.stopReason;
        });
        assertEquals(await Promise.all(prompts), Array(8).fill("end_turn"));
        assertEquals(answered, [0, 1, 2, 3, 4, 5, 6, 7]);
        const said = screenOf(editor.wire.entries, sessionId, from).messages.map((message) => message.text)
          .join("");
        assertEquals(said, "00!11!22!33!44!55!66!77!");
      });

      await t.step("the bound; a cancel answers the running one and all that wait", async () => {
        const from = editor.wire.count;
        const prompts = Array.from(
          { length: 34 },
          (_, at) => tell(editor, sessionId, `/say ${at}\n/sleep 60000`),
        );
        const last = await prompts[33]!;
        assert("error" in last.answer);
        assertEquals([last.answer.error.code, fields(last.answer.error.data).code], [-32603, "queue_full"]);
        assertMatch(last.answer.error.message, /32/);
        await editor.updated(
          sessionId,
          (update) => update.sessionUpdate === "agent_message_chunk",
          "the first",
          from,
        );
        editor.notify("session/cancel", { sessionId });
        const told = await Promise.all(prompts.slice(0, 33));
        assertEquals(told.map((each) => each.stopReason), Array(33).fill("cancelled"));
        assertEquals(textOf(screenOf(editor.wire.entries, sessionId, from)), "0");
      });

      await t.step("nothing of a waiting prompt is looked at before its turn", async () => {
        const path = `${cwd}/later.txt`;
        const first = tell(editor, sessionId, "/say go\n/sleep 300");
        const second = tell(editor, sessionId, "look", link(path));
        await editor.updated(sessionId, (update) => fields(update.content).text === "go", "the first word");
        await Deno.writeTextFile(path, "there now");
        assertEquals((await first).stopReason, "end_turn");
        assertEquals((await second).stopReason, "end_turn");
      });
    });
  });
});

Deno.test("[P7] the prompt right after an answer works, every time", async () => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      for (let at = 0; at < 60; at++) {
        const last = at % 3;
        const steps = ["/emit 3 10", "/sleep 60000", "/fail no"][last] ?? "";
        const turn = tell(editor, sessionId, `/say ${at}\n${steps}`);
        if (last === 1) {
          await editor.updated(
            sessionId,
            (update) => fields(update.content).text === String(at),
            `word ${at}`,
          );
          editor.notify("session/cancel", { sessionId });
        }
        const { stopReason, answer } = await turn;
        assertEquals(stopReason ?? "error", ["end_turn", "cancelled", "error"][last], JSON.stringify(answer));
      }
    });
  });
});

Deno.test("[T1] [T5] text arrives whole under its message's id, cut nowhere it must not be", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);

      await t.step("deltas of one message share its id", async () => {
        const { screen } = await tell(editor, sessionId, "/emit 500 40");
        assertEquals(screen.messages.length, 1);
        assertEquals(screen.messages[0]?.text.length, 20_000);
      });

      await t.step("text and thinking keep apart", async () => {
        const { screen } = await tell(editor, sessionId, "/think one\n/say two\n/think three\n/say four");
        assertEquals(screen.messages.map(({ channel, text }) => [channel, text]), [
          ["thought", "one"],
          ["agent", "two"],
          ["thought", "three"],
          ["agent", "four"],
        ]);
      });

      await t.step("no echo of the prompt", async () => {
        const { screen } = await tell(editor, sessionId, "/say yes");
        assertEquals(screen.kinds.filter((kind) => kind === "user_message_chunk"), []);
      });

      for (
        const [name, unit] of [
          ["astral characters", "😀"],
          ["families", "👩‍👩‍👧‍👦"],
          ["combining marks", "e\u0301\u0323"],
          ["characters that JSON escapes", '\u0001"\\'],
          ["astral characters between long escapes", "\u0001😀"],
        ] as const
      ) {
        await t.step(`${name} far beyond one line`, async () => {
          // Wherever a line ends, some shift puts it into the middle of a unit.
          for (let shift = 0; shift < 4; shift++) {
            const long = "x".repeat(shift) + unit.repeat(Math.ceil(120_000 / unit.length));
            const { stopReason, screen } = await tell(editor, sessionId, `/say ${long}`);
            assertEquals(stopReason, "end_turn");
            assertEquals(textOf(screen) === long, true, `${textOf(screen).length} of ${long.length}`);
            assert(screen.messages.length === 1 && (screen.messages[0]?.chunks ?? 0) > 1);
          }
        });
      }
    });
  });
});

Deno.test("[G4] usage, titles and commands are bounded and fail no request", async (t) => {
  await withFolder(async (cwd) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const usageOf = async (steps: string) => {
        const from = editor.wire.count;
        const { stopReason } = await tell(editor, sessionId, steps);
        assertEquals(stopReason, "end_turn");
        return screenOf(editor.wire.entries, sessionId, from).usage;
      };
      await t.step(
        "usage",
        async () => assertEquals(await usageOf("/usage 10 200"), { used: 10, size: 200 }),
      );
      await t.step(
        "usage of an unknown window",
        async () => assertEquals(await usageOf("/usage 10 0"), undefined),
      );
      await t.step("usage beyond the window", async () => {
        const usage = await usageOf("/usage 300 200");
        assert(usage === undefined || usage.used <= usage.size);
      });
      await t.step("a long title", async () => {
        const title = "A very long title. ".repeat(500);
        const { stopReason, screen } = await tell(editor, sessionId, `/title ${title}`);
        assertEquals(stopReason, "end_turn");
        assert(screen.title !== undefined && screen.title.length <= 257, `${screen.title?.length}`);
        assertEquals((await listed(editor))[0]?.title, screen.title);
      });
    });
  });
});

/** Shows the child's memory in MiB. */
async function residentMiB(editor: Editor, field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${editor.pid}/status`);
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

Deno.test("[T4] a Client that sleeps while 16 MB are written loses nothing and costs little memory", async () => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    await withEditor({ launch, keep: 2000, deadlineMs: 60_000 }, async (editor) => {
      const sessionId = await openSession(editor, folder);
      assertEquals((await tell(editor, sessionId, "/emit 100 256")).stopReason, "end_turn");
      const idle = await residentMiB(editor, "VmRSS");

      let length = 0;
      let messages = 0;
      let last = "";
      const stop = editor.wire.watch((entry) => {
        const update = updateOf(entry, sessionId);
        if (update?.sessionUpdate !== "agent_message_chunk") return;
        if (update.messageId !== last) messages += 1;
        last = String(update.messageId);
        length += String(fields(update.content).text).length;
      });
      editor.hold();
      const answer = editor.call("session/prompt", promptParams(sessionId, "/emit 65536 256"));
      // The client's nap is a fact of the scenario, not a wait for something.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      editor.release();
      const told = await answer;
      stop();
      assertEquals("result" in told ? fields(told.result).stopReason : told.error, "end_turn");
      assertEquals([length, messages], [65536 * 256, 1]);
      const peak = await residentMiB(editor, "VmHWM");
      assert(peak - idle <= 60, `memory rose from ${idle.toFixed(0)} to ${peak.toFixed(0)} MiB`);
    });
  });
});

Deno.test("[T4] updates keep their order however slowly they are read", async () => {
  await withFolder(async (cwd) => {
    await withEditor({ deadlineMs: 20_000 }, async (editor) => {
      const sessionId = await openSession(editor, cwd);
      const steps = Array.from({ length: 200 }, (_, at) => `/say ${at} ${"x".repeat(2000)}\n/think ${at}`)
        .join("\n");
      editor.hold();
      const turn = tell(editor, sessionId, steps);
      await new Promise((resolve) => setTimeout(resolve, 300));
      editor.release();
      const { stopReason, screen } = await turn;
      assertEquals(stopReason, "end_turn");
      const order = screen.messages.map(({ channel, text }) => `${channel} ${text.split(" ")[0]}`);
      assertEquals(order, Array.from({ length: 200 }, (_, at) => [`agent ${at}`, `thought ${at}`]).flat());
    });
  });
});
