import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/model/json.ts";
import { cardText, type Screen, screenOf, type ShownCard, textOf } from "../support/screen.ts";
import { type Editor, withEditor } from "../support/editor.ts";
import { gangway, type Launch, withFolder } from "../support/launch.ts";
import { link, listed, newSession, openSession, promptParams, stopReasonOf, tell } from "../support/talk.ts";
import { choose } from "../support/answers.ts";
import { OFFERED } from "../../src/acp/negotiation.ts";
import { fields } from "../support/rules.ts";

const ignore = !OFFERED.load || !OFFERED.resume || !OFFERED.remove;

/** Loads a Session and returns what the replay showed. */
async function load(editor: Editor, sessionId: string, cwd: string): Promise<Screen> {
  const from = editor.wire.count;
  await editor.request("session/load", { sessionId, cwd, mcpServers: [] });
  return screenOf(editor.wire.entries, sessionId, from);
}

/** What a person can tell apart of a screen: all but how the pieces were cut. */
function seen(screen: Screen): object {
  return {
    messages: screen.messages.filter(({ channel }) => channel !== "user").map((
      { id, channel, text },
    ) => [id, channel, text]),
    // How a Turn ended was the answer of its prompt; a replay can only show it as a card.
    cards: screen.cards.filter((card) => !isEnd(card)).map((
      { toolCallId, title, kind, status, locations, content },
    ) => ({
      toolCallId,
      title,
      kind,
      status,
      locations,
      content,
    })),
    plan: screen.plan,
  };
}

/** Whether a card stands for how a Turn ended. */
function isEnd(card: ShownCard): boolean {
  return card.toolCallId.endsWith(".end");
}

Deno.test("[H1] [H2] a new process replays what was seen, in order, with its ids; resume replays nothing", {
  ignore,
}, async (t) => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    await Deno.writeTextFile(`${folder}/notes.txt`, "words");
    let sessionId = "";
    let live: Screen | undefined;
    await withEditor({ launch, answers: choose("allow_once") }, async (editor) => {
      sessionId = await openSession(editor, folder);
      const from = editor.wire.count;
      const first = await tell(
        editor,
        sessionId,
        "/think hm\n/plan one | two\n/say hello\n/write a.txt one\\ntwo\\n\n/edit a.txt two => 2\n/run echo out; exit 2",
      );
      assertEquals(first.stopReason, "end_turn");
      assertEquals(
        (await tell(editor, sessionId, "what is this", link(`${folder}/notes.txt`))).stopReason,
        "end_turn",
      );
      const turn = tell(editor, sessionId, "/say going\n/run echo begun; sleep 60\n/say gone");
      await editor.updated(
        sessionId,
        (update) => JSON.stringify(update.content ?? "").includes("begun\\n"),
        "output",
      );
      editor.notify("session/cancel", { sessionId });
      assertEquals((await turn).stopReason, "cancelled");
      assert("error" in (await tell(editor, sessionId, "/say before\n/fail on purpose")).answer);
      await tell(editor, sessionId, "/emit 3000 40\n/title The walk");
      live = screenOf(editor.wire.entries, sessionId, from);
    });

    await withEditor({ launch, answers: choose("allow_once") }, async (editor) => {
      await editor.initialize();
      await t.step("resume replays nothing and the Session goes on", async () => {
        const from = editor.wire.count;
        await editor.request("session/resume", { sessionId, cwd: folder, mcpServers: [] });
        assertEquals(screenOf(editor.wire.entries, sessionId, from).messages, []);
        await editor.updated(
          sessionId,
          (update) => update.sessionUpdate === "available_commands_update",
          "commands",
        );
        await editor.request("session/close", { sessionId });
      });
      await t.step("load replays everything before its answer", async () => {
        const replay = await load(editor, sessionId, folder);
        assertEquals(seen(replay), seen(live!));
        const asked = replay.messages.filter(({ channel }) => channel === "user").map(({ text }) =>
          text.slice(0, 12)
        );
        assertEquals(asked.filter((text) => text.startsWith("/") || text.startsWith("what")), [
          "/think hm\n/p",
          "what is this",
          "/say going\n/",
          "/say before\n",
          "/emit 3000 4",
        ]);
        assertStringIncludes(JSON.stringify(replay.messages), "notes.txt");
        const ends = replay.cards.filter(isEnd);
        assertEquals(ends.map(cardText), ["on purpose"]);
      });
      await t.step("a second load of an owned Session replays again", async () => {
        assertEquals(seen(await load(editor, sessionId, folder)), seen(live!));
      });
      await t.step("the next prompt works", async () => {
        assertEquals(textOf((await tell(editor, sessionId, "/say on")).screen), "on");
      });
      await t.step("the title is there", async () => {
        assertEquals((await listed(editor))[0]?.title, "The walk");
      });
    });
  });
});

/** Prompts until the Turn shows something, then kills the process. */
async function crash(launch: Launch, folder: string): Promise<string> {
  let sessionId = "";
  await withEditor({ launch, answers: choose("allow_once") }, async (editor) => {
    sessionId = await openSession(editor, folder);
    await tell(editor, sessionId, "/say whole");
    editor.call("session/prompt", promptParams(sessionId, "/say half\n/run echo begun; sleep 60")).catch(
      () => {},
    );
    await editor.updated(
      sessionId,
      (update) => JSON.stringify(update.content ?? "").includes("begun\\n"),
      "output",
    );
    await editor.kill();
  });
  return sessionId;
}

Deno.test("[H3] a Turn that a crash interrupted is shown as interrupted, and the next prompt works", {
  ignore,
}, async () => {
  await withFolder(async (folder) => {
    const launch = gangway("--state", `${folder}/state`);
    const sessionId = await crash(launch, folder);
    await withEditor({ launch }, async (editor) => {
      await editor.initialize();
      const replay = await load(editor, sessionId, folder);
      const texts = replay.messages.filter(({ channel }) => channel === "agent").map(({ text }) => text);
      assertEquals(texts[0], "whole");
      // What was shown before the crash may be kept up to any point, but nothing else.
      assert(texts.slice(1).every((text) => "half".startsWith(text)), JSON.stringify(texts));
      assertEquals(replay.cards.filter(isEnd).length, 1);
      for (const card of replay.cards) {
        assertEquals(card.status, "failed");
        assertMatch(`${card.title} ${cardText(card)}`, /interrupt/i);
      }
      assertEquals(textOf((await tell(editor, sessionId, "/say on")).screen), "on");
    });
  });
});

Deno.test(
  "[H4] delete frees rows and Artifacts and is silent for what is not there",
  { ignore },
  async () => {
    await withFolder(async (folder) => {
      const state = `${folder}/state`;
      await Deno.writeFile(`${folder}/big.bin`, crypto.getRandomValues(new Uint8Array(60_000)));
      await withEditor({ launch: gangway("--state", state) }, async (editor) => {
        const sessionId = await openSession(editor, folder);
        const other = await newSession(editor, folder);
        await tell(editor, other, "/say kept");
        await tell(editor, sessionId, "x", link(`${folder}/big.bin`));
        const turn = editor.call("session/prompt", promptParams(sessionId, "/say go\n/sleep 60000"));
        await editor.updated(sessionId, (update) => fields(update.content).text === "go", "a word");
        await editor.request("session/delete", { sessionId });
        assertEquals(stopReasonOf(await turn), "cancelled");
        assertEquals((await listed(editor)).map((info) => info.sessionId), [other]);
        for (const id of [sessionId, "nobody"]) {
          assertEquals(await editor.request("session/delete", { sessionId: id }), {});
        }
        const error = await editor.refused("session/load", { sessionId, cwd: folder, mcpServers: [] });
        assertEquals([error.code, fields(error.data).sessionId], [-32002, sessionId]);
        for await (const path of pathsBelow(state)) assert(!path.includes(sessionId), `"${path}" is left`);
        assertEquals((await tell(editor, other, "/say on")).stopReason, "end_turn");
      });
    });
  },
);

async function* pathsBelow(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    yield path;
    if (entry.isDirectory) yield* pathsBelow(path);
  }
}

Deno.test(
  "[H2] [S7] load and resume replace the roots and are refused for a wrong directory",
  { ignore },
  async (t) => {
    await withFolder(async (folder) => {
      for (const name of ["work", "extra", "other"]) {
        await Deno.mkdir(`${folder}/${name}`);
        await Deno.writeTextFile(`${folder}/${name}/a.txt`, name);
      }
      const cwd = `${folder}/work`;
      await withEditor({}, async (editor) => {
        const sessionId = await openSession(editor, cwd, { additionalDirectories: [`${folder}/extra`] });
        const reads = async (name: string) =>
          stopReasonOf((await tell(editor, sessionId, "x", link(`${folder}/${name}/a.txt`))).answer) ===
            "end_turn";
        const scope = async () => [await reads("work"), await reads("extra"), await reads("other")];
        assertEquals(await scope(), [true, true, false]);
        const cases:
          readonly (readonly [method: string, roots: readonly string[] | undefined, want: boolean[]])[] = [
            ["session/load", [`${folder}/other`], [true, false, true]],
            ["session/resume", [`${folder}/extra`], [true, true, false]],
            ["session/load", undefined, [true, false, false]],
          ];
        for (const [method, roots, want] of cases) {
          await t.step(`${method} with ${roots?.length ?? "no"} roots`, async () => {
            const more: JsonObject = roots === undefined ? {} : { additionalDirectories: roots };
            await editor.request(method, { sessionId, cwd, mcpServers: [], ...more });
            assertEquals(await scope(), want);
          });
        }
        await t.step("a missing root is named", async () => {
          const error = await editor.refused("session/resume", {
            sessionId,
            cwd,
            mcpServers: [],
            additionalDirectories: [`${folder}/gone`],
          });
          assertEquals(error.code, -32602);
          assertStringIncludes(error.message, "gone");
        });
      });
    });
  },
);

Deno.test("[H2] loading a Session whose prompt runs here shows nothing of it twice and misses nothing", {
  ignore,
}, async () => {
  await withFolder(async (folder) => {
    await withEditor({}, async (editor) => {
      const sessionId = await openSession(editor, folder);
      const turn = tell(editor, sessionId, "/say one\n/sleep 300\n/say two");
      await editor.updated(sessionId, (update) => fields(update.content).text === "one", "a word");
      await load(editor, sessionId, folder);
      const { stopReason, screen } = await turn;
      assertEquals([stopReason, textOf(screen)], ["end_turn", "one\ntwo"]);
      assertEquals(textOf(await load(editor, sessionId, folder)), "one\ntwo");
    });
  });
});
