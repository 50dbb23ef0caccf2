import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { askedOf, keep, type Keeping, keeping, keptBy, type KeptByAgent, talked } from "./keeping_agent.ts";
import { type Editor, withEditor } from "../../support/editor.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { type Launch, script, withFolder } from "../../support/launch.ts";
import { listed, newSession, tell } from "../../support/talk.ts";
import { type Screen, screenOf } from "../../support/screen.ts";

interface Place {
  /** Where the agent keeps its Sessions. */
  readonly file: string;
  /** Gangway in front of it, with its Sessions in a folder. */
  launch(how?: Omit<Keeping, "file">, ...flags: string[]): Launch;
}

/** A folder for both, with Sessions that the agent has already. */
async function withPlace(
  act: (place: Place, cwd: string) => Promise<void>,
  ...kept: Partial<KeptByAgent>[]
): Promise<void> {
  await withFolder(async (folder) => {
    const cwd = `${folder}/work`;
    await Deno.mkdir(cwd);
    const file = `${folder}/kept.json`;
    keep(file, ...kept.map((each, at): KeptByAgent => ({ sessionId: `old-${at}`, cwd, ...each })));
    const launch: Place["launch"] = (how = {}, ...flags) => {
      const { program, args } = keeping({ ...how, file });
      return script(
        "mod.ts",
        ...(flags.length > 0 ? flags : ["--state", `${folder}/state`]),
        "--",
        program,
        ...args,
      );
    };
    await act({ file, launch }, cwd);
  });
}

const withGangway = (launch: Launch, act: (editor: Editor) => Promise<void>) =>
  withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
    await editor.initialize();
    await act(editor);
  });

/** Loads or resumes; what was shown for it. */
async function join(
  editor: Editor,
  method: "load" | "resume",
  sessionId: string,
  cwd: string,
): Promise<Screen> {
  const from = editor.wire.count;
  await editor.request(`session/${method}`, { sessionId, cwd, mcpServers: [] });
  return screenOf(editor.wire.entries, sessionId, from);
}

const words = ({ messages }: Screen) => messages.map(({ text }) => text);
const ids = (sessions: readonly JsonObject[]) => sessions.map(({ sessionId }) => sessionId);
const calls = (file: string) => askedOf(file).filter((line) => line.startsWith("session/"));

const OLD = {
  title: "An old one",
  updatedAt: "2026-01-02T03:04:05.000Z",
  updates: talked(["Remember 7", "I will"], ["And 8", "Yes"]),
};

for (const flags of [[], ["--memory"]]) {
  Deno.test(`[E4] a Session that an agent had before Gangway is listed, loaded with its words, and goes on (${flags[0] ?? "a folder"})`, async () => {
    await withPlace(async ({ file, launch }, cwd) => {
      await withGangway(launch({}, ...flags), async (editor) => {
        assertEquals(await listed(editor), [
          { sessionId: "old-0", cwd, title: OLD.title, updatedAt: OLD.updatedAt },
        ]);
        const screen = await join(editor, "load", "old-0", cwd);
        assertEquals(words(screen), ["Remember 7", "I will", "And 8", "Yes"]);
        const { stopReason, screen: next } = await tell(editor, "old-0", "What was it?");
        assertEquals([stopReason, words(next)], ["end_turn", ["I know 4"]]);
        assertEquals(ids(await listed(editor)), ["old-0"]);
        assertEquals(calls(file).filter((line) => /load|resume|new/.test(line)), ["session/load old-0"]);
        const again = await join(editor, "load", "old-0", cwd);
        assertEquals(words(again), [...words(screen), "What was it?", "I know 4"]);
      });
      if (flags.length > 0) return;
      await withGangway(launch(), async (editor) => {
        assertEquals(words(await join(editor, "load", "old-0", cwd)), [
          "Remember 7",
          "I will",
          "And 8",
          "Yes",
          "What was it?",
          "I know 4",
        ]);
        assertEquals(words((await tell(editor, "old-0", "Still?")).screen), ["I know 6"]);
      });
    }, OLD);
  });
}

Deno.test("[E4] a resume takes an agent's Session over without showing it; a later load shows it", async () => {
  await withPlace(async ({ launch }, cwd) => {
    await withGangway(launch(), async (editor) => {
      assertEquals(words(await join(editor, "resume", "old-0", cwd)), []);
      assertEquals(words(await join(editor, "load", "old-0", cwd)), ["Remember 7", "I will", "And 8", "Yes"]);
    });
  }, OLD);
});

Deno.test("[E4] a Session that the agent keeps under another name of its folder is loaded by either name, and elsewhere refused", async () => {
  await withPlace(async ({ launch, file }, cwd) => {
    const link = `${cwd}-link`;
    await Deno.symlink(cwd, link);
    keep(file, { sessionId: "linked", cwd: link, updates: talked(["Remember 7", "I will"]) });
    await withGangway(launch(), async (editor) => {
      const [session] = await listed(editor);
      assertEquals(session?.cwd, link);
      const elsewhere = { sessionId: "linked", cwd: `${cwd}/..`, mcpServers: [] };
      assertEquals((await editor.refused("session/load", elsewhere)).code, -32602);
      for (const name of [link, cwd]) {
        assertEquals(words(await join(editor, "load", "linked", name)), ["Remember 7", "I will"]);
      }
    });
  });
});

Deno.test("[E4] what is begun through Gangway is listed once, beside what the agent had", async () => {
  await withPlace(
    async ({ launch, file }, cwd) => {
      await withGangway(launch({ page: 1 }), async (editor) => {
        const sessionId = await newSession(editor, cwd);
        assertEquals((await tell(editor, sessionId, "Hello")).stopReason, "end_turn");
        assertEquals(keptBy(file).length, 3);
        assertEquals(new Set(ids(await listed(editor))), new Set([sessionId, "old-0", "old-1"]));
        assertEquals((await listed(editor)).length, 3);
        assertEquals(ids(await listed(editor, { cwd: "/nowhere" })), []);
      });
    },
    OLD,
    {},
  );
});

for (const fault of ["load refuses", "load dies", "load dies late", "load wants a login"] as const) {
  Deno.test(`[E4] an agent that "${fault.replace("load ", "")}" while its Session is loaded leaves nothing of it in Gangway`, async () => {
    await withPlace(async ({ launch }, cwd) => {
      await withGangway(launch({ fault }), async (editor) => {
        const error = await editor.refused("session/load", { sessionId: "old-0", cwd, mcpServers: [] });
        assertEquals(error.code, fault === "load wants a login" ? -32000 : -32603);
        assertEquals(ids(await listed(editor)), ["old-0"]);
        const unowned = await editor.refused("session/prompt", {
          sessionId: "old-0",
          prompt: [{ type: "text", text: "x" }],
        });
        assertEquals(unowned.code, -32002);
      });
      // Without the agent's list there is only what Gangway has.
      await withGangway(launch({ can: ["load"] }), async (editor) => {
        assertEquals(await listed(editor), []);
      });
      await withGangway(launch(), async (editor) => {
        assertEquals(words(await join(editor, "load", "old-0", cwd)).length, 4);
      });
    }, OLD);
  });
}

Deno.test("[E4] a kill in the middle of taking over leaves nothing half, and the next process takes it over whole", async () => {
  await withPlace(async ({ file, launch }, cwd) => {
    await withEditor({ launch: launch({ fault: "load hangs" }), deadlineMs: 30_000 }, async (editor) => {
      await editor.initialize();
      editor.call("session/load", { sessionId: "old-0", cwd, mcpServers: [] }).catch(() => {});
      while (!calls(file).includes("session/load old-0")) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      editor.signal("SIGKILL");
      await editor.exited();
      await editor.kill();
    });
    await withGangway(launch({ can: ["load"] }), async (editor) => assertEquals(await listed(editor), []));
    await withGangway(launch(), async (editor) => {
      assertEquals(words(await join(editor, "load", "old-0", cwd)), ["Remember 7", "I will", "And 8", "Yes"]);
      assertEquals(words((await tell(editor, "old-0", "Go on")).screen), ["I know 4"]);
    });
  }, OLD);
});

for (const fault of ["list hangs", "list fails"] as const) {
  Deno.test(`[E4] a list is answered when the agent's own ${fault.replace("list ", "")}`, async () => {
    await withPlace(async ({ launch }, cwd) => {
      await withGangway(launch({ fault }), async (editor) => {
        const sessionId = await newSession(editor, cwd);
        assertEquals(ids(await listed(editor)), [sessionId]);
        assertEquals((await tell(editor, sessionId, "Hello")).stopReason, "end_turn");
      });
    }, OLD);
  });
}

Deno.test("[E4] an agent that cannot be started breaks no list, and a Session that only it may have says why it is not there", async () => {
  await withPlace(async (_, cwd) => {
    const launch = script("mod.ts", "--memory", "--", "/no/such/agent");
    await withGangway(launch, async (editor) => {
      const sessionId = await newSession(editor, cwd);
      assertEquals(ids(await listed(editor)), [sessionId]);
      const error = await editor.refused("session/load", { sessionId: "old-0", cwd, mcpServers: [] });
      assertEquals(error.code, -32603);
      assertStringIncludes(error.message, "whether it keeps this Session");
    });
  });
});

Deno.test("[E4] [H4] a deleted Session is gone from the agent too; one that it cannot delete is not listed any more", async () => {
  for (const how of [{}, { can: ["list", "load"] as const }]) {
    await withPlace(
      async ({ file, launch }, cwd) => {
        await withGangway(launch(how), async (editor) => {
          await join(editor, "load", "old-0", cwd);
          for (const sessionId of ["old-0", "old-1", "old-1", "never-was"]) {
            await editor.request("session/delete", { sessionId });
          }
          assertEquals(await listed(editor), []);
          const left = keptBy(file).length;
          assertEquals(left, "can" in how ? 2 : 0);
        });
        await withGangway(launch(how), async (editor) => assertEquals(await listed(editor), []));
        assert(askedOf(file).length > 0);
      },
      OLD,
      {},
    );
  }
});

Deno.test("[E4] a Session that the agent lost goes on with a recap that no editor is shown as the user's words", async () => {
  await withPlace(async ({ file, launch }, cwd) => {
    let sessionId = "";
    await withGangway(launch(), async (editor) => {
      sessionId = await newSession(editor, cwd);
      await tell(editor, sessionId, "Remember 7");
    });
    keep(file);
    await withGangway(launch(), async (editor) => {
      await join(editor, "load", sessionId, cwd);
      const { screen } = await tell(editor, sessionId, "What was it?");
      assertEquals(words(screen), ["I know 0"]);
      assertStringIncludes(JSON.stringify(screen), "was given a recap");
      const [rebuilt] = keptBy(file);
      assertStringIncludes(JSON.stringify(rebuilt), "> Remember 7");
      const shown = words(await join(editor, "load", sessionId, cwd));
      assertEquals(shown, ["Remember 7", "I know 0", "What was it?", "I know 0"]);
      assertEquals(ids(await listed(editor)), [sessionId]);
    });
  });
});
