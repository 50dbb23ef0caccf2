import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Launch, permitted, withFolder } from "../support/launch.ts";
import { link, openSession, tell } from "../support/talk.ts";
import { cardText, textOf } from "../support/screen.ts";
import { choose } from "../support/answers.ts";
import { withEditor } from "../support/editor.ts";

/** A worker loads everything once more, which takes its time on a busy machine. */
const deadlineMs = 60_000;

/** The program as a compiled one serves: with all permissions itself, in a worker that has these. */
function narrowed(...args: string[]): Launch {
  return permitted(["-A", "--unstable-worker-options"], "tests/cli/narrowed.ts", ...args);
}

Deno.test("[D1] a compiled program serves with the permissions that its own flags grant, and no others", async (t) => {
  const table: readonly (readonly [name: string, flags: (project: string) => string[], told: string])[] = [
    ["nothing", () => [], "--allow-read="],
    ["the project", (project) => [`--allow-read=${project}`], "notes.md"],
    ["the Session's own folders", () => ["--allow-read=@workspace"], "notes.md"],
    ["another folder", (project) => [`--allow-read=${project}/other`], "--allow-read="],
    ["everything", () => ["-A"], "notes.md"],
  ];
  for (const [name, flags, told] of table) {
    await t.step(`reading: ${name}`, async () => {
      await withFolder(async (project) => {
        await Deno.writeTextFile(`${project}/notes.md`, "notes\n");
        await withEditor({ launch: narrowed(...flags(project), "--memory"), deadlineMs }, async (editor) => {
          const sessionId = await openSession(editor, project);
          const { answer, screen } = await tell(editor, sessionId, "Look", link(`${project}/notes.md`));
          assertStringIncludes("error" in answer ? answer.error.message : textOf(screen), told);
        });
      });
    });
  }
  await t.step("the Session's own folders are no others", async () => {
    await withFolder(async (folder) => {
      await Deno.mkdir(`${folder}/project`);
      await Deno.writeTextFile(`${folder}/secret`, "secret\n");
      await withEditor(
        { launch: narrowed("--allow-read=@workspace", "--memory"), deadlineMs },
        async (editor) => {
          const sessionId = await openSession(editor, `${folder}/project`);
          const { answer } = await tell(editor, sessionId, "Look", link(`${folder}/secret`));
          assertEquals("error" in answer, true);
        },
      );
    });
  });
  await t.step("writing and running need their own flags", async () => {
    await withFolder(async (project) => {
      const launch = narrowed(`--allow-read=${project}`, "--memory");
      await withEditor({ launch, answers: choose("allow_once"), deadlineMs }, async (editor) => {
        const sessionId = await openSession(editor, project);
        const { screen } = await tell(editor, sessionId, "/write a.txt hello");
        assertStringIncludes(screen.cards.map(cardText).join(), "--allow-write");
        const run = await tell(editor, sessionId, "/run echo hello");
        assertStringIncludes(run.screen.cards.map(cardText).join(), "--allow-run");
      });
    });
  });
});

Deno.test("[A5] a sandboxed program ends as any other: by the end of input and by a signal", async (t) => {
  await t.step("the end of input", async () => {
    await withFolder(async (cwd) => {
      await withEditor({ launch: narrowed("--memory"), deadlineMs }, async (editor) => {
        const sessionId = await openSession(editor, cwd);
        assertEquals(textOf((await tell(editor, sessionId, "/say hello")).screen), "hello");
        await editor.finish({ code: 0 });
      });
    });
  });
  await t.step("SIGTERM in the middle of a Turn", async () => {
    await withFolder(async (cwd) => {
      await withEditor({ launch: narrowed("--memory"), deadlineMs }, async (editor) => {
        const sessionId = await openSession(editor, cwd);
        const turn = editor.call("session/prompt", {
          sessionId,
          prompt: [{ type: "text", text: "/say now\n/sleep 60000" }],
        });
        turn.catch(() => {});
        await editor.until((entry) => entry.text.includes('"now"') || undefined, "the Turn at work");
        editor.signal("SIGTERM");
        assertEquals((await editor.exited()).code, 128 + 15);
        await editor.finish({ unanswered: true, code: 128 + 15 });
      });
    });
  });
});
