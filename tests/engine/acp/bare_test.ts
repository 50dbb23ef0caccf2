import { assertEquals } from "@std/assert";
import { type Block, newSession, tell, type Told } from "../../support/talk.ts";
import { Editor, type EditorOptions, withEditor } from "../../support/editor.ts";
import type { Entry } from "../../support/wire.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { type Launch, ROOT, script } from "../../support/launch.ts";

const SAMPLE = script("tests/engine/acp/sample_agent.ts");
const BEHIND = script("mod.ts", "--memory", "--", SAMPLE.program, ...SAMPLE.args);

/** Every scene, as the editor that talks to the agent sees it. */
const SCENES: readonly (readonly Block[])[] = [
  ["talk"],
  ["nameless"],
  ["tools"],
  ["plan"],
  ["permission"],
  ["refusal"],
  ["echo", {
    type: "resource_link",
    uri: `file://${ROOT}LICENSE`,
    name: "LICENSE",
    mimeType: "text/plain",
    title: "The licence",
    _meta: { mark: 1 },
  }],
  ["echo", { type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "noted\n" } }],
];

interface Recording {
  readonly opened: JsonObject;
  readonly told: readonly Told[];
  /** Permission dialogs. */
  readonly asked: readonly JsonObject[];
}

/** `judged`: every line is held against the rules, which an agent alone need not keep. */
async function record(launch: Launch, judged: boolean): Promise<Recording> {
  const told: Told[] = [];
  const asked: JsonObject[] = [];
  let opened: JsonObject = {};
  const options: EditorOptions = {
    launch,
    deadlineMs: 20_000,
    answers: {
      "session/request_permission": (params) => {
        asked.push(params);
        return { outcome: { outcome: "selected", optionId: "ever" } };
      },
    },
  };
  const talk = async (editor: Editor) => {
    await editor.initialize();
    const sessionId = await newSession(editor, await Deno.realPath(ROOT));
    opened = editor.wire.entries.flatMap((entry: Entry) => {
      const { message } = entry;
      return message?.kind === "result" && (message.result as JsonObject).sessionId !== undefined
        ? [message.result as JsonObject]
        : [];
    })[0] ?? {};
    for (const blocks of SCENES) told.push(await tell(editor, sessionId, ...blocks));
  };
  if (judged) await withEditor(options, talk);
  else {
    const editor = new Editor(options);
    await talk(editor).finally(() => editor.kill());
  }
  return { opened, told, asked };
}

/** What a person sees after each scene, without ids that two runs do not share and without the number of updates. */
function seen({ opened, told }: Recording): readonly unknown[] {
  let mode = (opened.modes as JsonObject | undefined)?.currentModeId;
  let commands: readonly JsonObject[] = [];
  return told.map(({ answer, screen }) => {
    mode = screen.mode ?? mode;
    commands = screen.commands ?? commands;
    return {
      answer,
      messages: screen.messages.map(({ channel, text }) => ({ channel, text })),
      cards: screen.cards.map(({ updates: _, ...card }) => card),
      plan: screen.plan,
      title: screen.title,
      usage: screen.usage,
      notices: screen.notices,
      commands,
      mode,
    };
  });
}

Deno.test("[E1] an agent shows behind Gangway what it shows alone, but for what is written down", async () => {
  const bare = await record(SAMPLE, false);
  const behind = await record(BEHIND, true);
  const [alone, together] = [seen(bare), seen(behind)];
  for (const [at, blocks] of SCENES.entries()) {
    assertEquals(together[at], alone[at], `The scene ${JSON.stringify(blocks[0])} differs`);
  }
  const dialog = ({ toolCall, options }: JsonObject) => ({ toolCall, options });
  assertEquals(behind.asked.map(dialog), bare.asked.map(dialog));
  // Written down: before its first start Gangway does not know the agent's modes.
  assertEquals(behind.opened.modes, undefined);
});
