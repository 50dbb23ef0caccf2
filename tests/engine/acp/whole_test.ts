import { assert, assertEquals } from "@std/assert";
import { type Answers, NEVER } from "../../support/answers.ts";
import { type Editor, type EditorOptions, updateOf, withEditor } from "../../support/editor.ts";
import { Editor as AnyEditor } from "../../support/editor.ts";
import { type Launch, ROOT, script, withFolder } from "../../support/launch.ts";
import { newSession, promptParams } from "../../support/talk.ts";
import type { Entry } from "../../support/wire.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";

const SAMPLE = script("tests/engine/acp/sample_agent.ts");

function behind(...flags: string[]): Launch {
  return script("mod.ts", ...flags, "--", SAMPLE.program, ...SAMPLE.args);
}

const CAPABILITIES: JsonObject = {
  elicitation: { form: {}, url: {} },
  session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
};

/** What the editor sees of one scene: updates, requests and notifications, as they came. */
interface Seen {
  readonly updates: readonly JsonObject[];
  readonly asked: readonly JsonObject[];
  readonly told: readonly JsonObject[];
  readonly withdrawn: number;
}

type Update = JsonObject & { readonly sessionUpdate?: Json };

/** A Session with the sample agent, bare or behind Gangway. */
class Show {
  #editor: Editor;
  #withdrawn = 0;
  #sessionId = "";

  constructor(editor: Editor) {
    this.#editor = editor;
    editor.answer(this.#answers());
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  async open(): Promise<void> {
    await this.#editor.initialize();
    this.#sessionId = await newSession(this.#editor, await Deno.realPath(ROOT));
  }

  /** Plays a scene. `last`: waits for this update, which comes behind the answer. */
  async play(scene: string, last?: (update: Record<string, unknown>) => boolean): Promise<Seen> {
    const editor = this.#editor;
    const from = editor.wire.count;
    // What comes behind the answer is a Run of its own.
    if (last !== undefined) editor.wire.rules.expectLive(this.#sessionId);
    await editor.request("session/prompt", promptParams(this.#sessionId, scene));
    if (last !== undefined) await editor.updated(this.#sessionId, last, "what comes behind the answer", from);
    const entries = editor.wire.entries.filter((entry) => entry.index >= from);
    const messages = entries.flatMap(({ from, message }) =>
      from === "agent" && message !== undefined ? [message] : []
    );
    return {
      updates: updatesOf(entries, this.#sessionId),
      asked: messages.flatMap((message) => message.kind === "request" ? [message.params as JsonObject] : []),
      told: messages.flatMap((message) =>
        message.kind === "notification" && message.method === "elicitation/complete"
          ? [message.params as JsonObject]
          : []
      ),
      withdrawn: this.#withdrawn,
    };
  }

  #answers(): Answers {
    return {
      "elicitation/create": ({ mode }): JsonObject => ({
        action: "accept",
        ...(mode === "form" && { content: { name: "x" } }),
        _meta: { from: "editor" },
      }),
      "session/request_permission": (_, withdrawn) => {
        withdrawn.addEventListener("abort", () => this.#withdrawn++);
        return NEVER;
      },
    };
  }
}

/** Plays a scene alone and behind Gangway. */
async function both(
  scene: string,
  last?: (update: Record<string, unknown>) => boolean,
): Promise<{ alone: Seen; together: Seen }> {
  const options: EditorOptions = { launch: SAMPLE, capabilities: CAPABILITIES, deadlineMs: 20_000 };
  const bare = new AnyEditor(options);
  const play = async (editor: Editor) => {
    const show = new Show(editor);
    await show.open();
    return await show.play(scene, last);
  };
  const alone = await play(bare).finally(() => bare.kill());
  let together: Seen | undefined;
  await withEditor({ ...options, launch: behind("--memory") }, async (editor) => {
    together = await play(editor);
  });
  assert(together !== undefined);
  return { alone, together };
}

function updatesOf(entries: readonly Entry[], sessionId: string): JsonObject[] {
  return entries.flatMap((entry): JsonObject[] => {
    const update = updateOf(entry, sessionId);
    return update === undefined ? [] : [update as JsonObject];
  });
}

/** What is said about the Session as a whole: how it begins is compared elsewhere. */
const OF_SESSION = ["available_commands_update", "config_option_update", "current_mode_update"];

/** Updates that belong to the prompt. */
function ofTurn({ updates }: Seen): readonly Update[] {
  return updates.filter(({ sessionUpdate }) => !OF_SESSION.includes(String(sessionUpdate)));
}

/** Updates of one tool as the one that they come to: cards come in steps. */
function joined(updates: readonly Update[]): readonly Update[] {
  const cards = new Map<Json | undefined, Update>();
  return updates.flatMap((update) => {
    const { toolCallId } = update;
    if (toolCallId === undefined) return [update];
    const before = cards.get(toolCallId);
    const card = { ...before, ...update, sessionUpdate: "tool_call" };
    cards.set(toolCallId, card);
    return [];
  }).concat([...cards.values()]);
}

Deno.test("[E1] [T1] what is not just text in messages and tools is shown as the agent said it, with all metadata", async () => {
  const { alone, together } = await both("rich");
  assertEquals(joined(ofTurn(together)), joined(ofTurn(alone)));
});

Deno.test("[E1] metadata of plans, notices, usage, commands, titles and modes passes", async () => {
  const { alone, together } = await both(
    "metas",
    ({ sessionUpdate }) => sessionUpdate === "current_mode_update",
  );
  const last = (updates: readonly Update[]) =>
    Object.fromEntries(updates.map((update) => [String(update.sessionUpdate), update]));
  // An editor is told of a mode as an option too.
  const { config_option_update: _, ...rest } = last(together.updates);
  assertEquals(rest, last(alone.updates));
});

Deno.test("[E1] a compaction and its summary are shown as the agent said them", async () => {
  const { alone, together } = await both("compaction");
  assertEquals(ofTurn(together), ofTurn(alone));
});

Deno.test("[E1] [I1] pages and forms with their metadata reach the editor, their answers the agent, a page's end the editor", async () => {
  const { alone, together } = await both("asks");
  const asked = ({ asked }: Seen) => asked.map(({ sessionId: _, ...params }) => params);
  assertEquals(asked(together), asked(alone));
  assertEquals(together.told, alone.told);
  assertEquals(ofTurn(together), ofTurn(alone));
});

Deno.test("[E1] [C4] a question that the agent takes back is withdrawn from the editor", async () => {
  const { alone, together } = await both("takeback");
  assertEquals([alone.withdrawn, together.withdrawn], [1, 1]);
});

Deno.test("[E1] [E2] what the agent says behind its answer is shown, as without Gangway", async () => {
  const late = ({ messageId }: Record<string, unknown>) => messageId === "late-1";
  const { alone, together } = await both("late", late);
  assertEquals(ofTurn(together), ofTurn(alone));
});

Deno.test("[E1] [H1] blocks and metadata are there again when another process loads the Session", async () => {
  await withFolder(async (folder) => {
    const launch = behind("--state", folder);
    const options: EditorOptions = { launch, capabilities: CAPABILITIES, deadlineMs: 20_000 };
    const shown: JsonObject[] = [];
    let sessionId = "";
    await withEditor(options, async (editor) => {
      const show = new Show(editor);
      await show.open();
      sessionId = show.sessionId;
      for (const scene of ["rich", "metas", "compaction"]) shown.push(...(await show.play(scene)).updates);
      const isLate = ({ messageId }: Record<string, unknown>) => messageId === "late-1";
      shown.push(...(await show.play("late", isLate)).updates);
    });
    await withEditor(options, async (editor) => {
      await editor.initialize();
      const cwd = await Deno.realPath(ROOT);
      await editor.request("session/load", { sessionId, cwd, mcpServers: [] });
      const again = updatesOf(editor.wire.entries, sessionId);
      // Notices are live only, and a compaction is shown by its end.
      const kept = (updates: readonly Update[]) =>
        updates.filter(({ sessionUpdate, status }) =>
          ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"].includes(
            String(sessionUpdate),
          ) ||
          (sessionUpdate === "compaction_update" && status === "completed")
        );
      assertEquals(joined(kept(again)), joined(kept(shown)));
    });
  });
});
