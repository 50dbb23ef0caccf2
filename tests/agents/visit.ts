import { type Answers, Refusal } from "../support/answers.ts";
import { type Answer, Editor, type EditorOptions, withEditor } from "../support/editor.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Launch } from "../support/launch.ts";
import type { RealAgent, Scene } from "./agent.ts";
import { anonymous, answerOf, sceneOf, type SceneRecord, sessionOf } from "./recording.ts";
import { promptParams } from "../support/talk.ts";

/** Milliseconds that every wait may take: these agents are large programs. */
const DEADLINE_MS = 60_000;

/** What an editor of today can do. */
const CAPABILITIES: JsonObject = {
  fs: { readTextFile: true, writeTextFile: true },
  elicitation: { form: {} },
  session: { configOptions: { boolean: {} }, notices: {} },
};

/** What Gangway says after an agent that says it, although the stable schema does not have it. */
const UNSTABLE =
  /^line \d+: InitializeResponse\/agentCapabilities: must NOT have unevaluated properties "providers"$/;

/** How an agent is met: alone, or behind Gangway, where every line is held against the rules. */
export type Manner = "alone" | "behind";

/** What an editor does with a running agent. */
export type Errand<T> = (editor: Editor) => Promise<T>;

/** Runs the program, has the errand done, and ends it by the end of its input. */
export async function withRealEditor<T>(launch: Launch, manner: Manner, errand: Errand<T>): Promise<T> {
  const options: EditorOptions = {
    launch,
    capabilities: CAPABILITIES,
    answers: { ...FILES, ...choosing("allow_once") },
    deadlineMs: DEADLINE_MS,
  };
  let result: T | undefined;
  const run = async (editor: Editor) => {
    result = await errand(editor);
    const strange = editor.wire.faults.filter((fault) => !UNSTABLE.test(fault));
    editor.wire.faults.splice(0, Infinity, ...strange);
  };
  if (manner === "behind") await withEditor(options, run);
  else {
    const editor = new Editor(options);
    try {
      await run(editor);
      await editor.endInput();
      await editor.exited();
    } catch (error) {
      if (error instanceof Error) error.message += `\n${editor.report()}`;
      throw error;
    } finally {
      await editor.kill();
    }
  }
  return result as T;
}

/** Opens a Session in which the agent asks before it works. */
export async function openedBy(agent: RealAgent, editor: Editor, cwd: string): Promise<JsonObject> {
  const opened = await editor.request("session/new", { cwd, mcpServers: [] }) as JsonObject;
  if (agent.mode !== undefined) {
    await editor.request("session/set_mode", { sessionId: opened.sessionId ?? "", modeId: agent.mode });
  }
  return opened;
}

/** Plays a scene. */
export async function play(editor: Editor, sessionId: string, scene: Scene): Promise<SceneRecord> {
  const from = editor.wire.count;
  editor.answer(choosing(scene.choose ?? "allow_once"));
  const { cancelAt } = scene;
  if (cancelAt === undefined) {
    return sceneOf(editor.wire.entries, sessionId, from, await ask(editor, sessionId, scene));
  }
  const { answer } = await start(editor, sessionId, { ...scene, cancelAt });
  editor.notify("session/cancel", { sessionId });
  return sceneOf(editor.wire.entries, sessionId, from, await answer);
}

/** Starts a scene and waits for the word at which it may be cancelled. */
export async function start(
  editor: Editor,
  sessionId: string,
  scene: RealAgent["working"],
): Promise<{ readonly answer: Promise<Answer> }> {
  const from = editor.wire.count;
  const answer = ask(editor, sessionId, scene);
  const said = (update: Record<string, unknown>) =>
    update.sessionUpdate === "agent_message_chunk" && JSON.stringify(update).includes(scene.cancelAt);
  await editor.updated(sessionId, said, `"${scene.cancelAt}"`, from);
  return { answer };
}

/** Everything that an editor sees of an agent: two processes, one after the other, on one Session. */
export interface Recording {
  readonly hello: JsonObject;
  readonly opened: JsonObject;
  readonly scenes: Readonly<Record<string, SceneRecord>>;
  readonly session: JsonObject;
  readonly listed: JsonObject | null;
  readonly closed: Json;
  readonly loaded: SceneRecord;
  /** The first scene again; absent where nothing was loaded. */
  readonly after?: SceneRecord;
}

/** Records an agent. */
export async function record(
  agent: RealAgent,
  launch: Launch,
  manner: Manner,
  folder: string,
): Promise<Recording> {
  const cwd = `${folder}/work`;
  let sessionId = "";
  const first = await withRealEditor(launch, manner, async (editor) => {
    const hello = await editor.initialize();
    const opened = await openedBy(agent, editor, cwd);
    sessionId = String(opened.sessionId);
    const scenes: Record<string, SceneRecord> = {};
    for (const scene of agent.scenes) scenes[scene.name] = await play(editor, sessionId, scene);
    const session = sessionOf(editor.wire.entries, sessionId);
    const list = await editor.call("session/list", { cwd }, { judged: false });
    const closed = answerOf(await editor.call("session/close", { sessionId }, { judged: false }));
    return { hello, opened, scenes, session, listed: listedIn(list, sessionId), closed };
  });
  const second = await withRealEditor(launch, manner, async (editor) => {
    await editor.initialize();
    const from = editor.wire.count;
    const params = { sessionId, cwd, mcpServers: [] };
    const answer = await editor.call("session/load", params, { judged: false });
    const loaded = sceneOf(editor.wire.entries, sessionId, from, answer);
    const [scene] = agent.scenes;
    return "error" in answer || scene === undefined
      ? { loaded }
      : { loaded, after: await play(editor, sessionId, scene) };
  });
  return anonymous({ ...first, ...second }, { [sessionId]: "SESSION", [folder]: "FOLDER" });
}

/** Has Gangway meet an agent, so that it knows it from then on. */
export async function met(launch: Launch, cwd: string): Promise<void> {
  await withRealEditor(launch, "behind", async (editor) => {
    await editor.initialize();
    const { sessionId } = await editor.request("session/new", { cwd, mcpServers: [] }) as JsonObject;
    await ask(editor, String(sessionId), { name: "talk" });
  });
}

function ask(editor: Editor, sessionId: string, { name }: Scene): Promise<Answer> {
  return editor.call("session/prompt", promptParams(sessionId, `Please show me <${name}>`));
}

/** The files of this machine, as an editor serves them. */
const FILES: Answers = {
  "fs/read_text_file": async ({ path }) => {
    const content = await Deno.readTextFile(String(path)).catch(() => undefined);
    return content === undefined ? new Refusal(-32002, `Resource not found: ${path}`) : { content };
  },
  "fs/write_text_file": async ({ path, content }) => {
    await Deno.writeTextFile(String(path), String(content));
    return {};
  },
};

function choosing(kind: NonNullable<Scene["choose"]>): Answers {
  return {
    "session/request_permission": ({ options }) => {
      const offered = options as readonly JsonObject[];
      const chosen = offered.find((option) => option.kind === kind) ?? offered[0];
      return { outcome: { outcome: "selected", optionId: chosen?.optionId ?? "" } };
    },
  };
}

function listedIn(answer: Answer, sessionId: string): JsonObject | null {
  if ("error" in answer) return answerOf(answer);
  const { sessions } = answer.result as { readonly sessions: readonly JsonObject[] };
  return sessions.find((each) => each.sessionId === sessionId) ?? null;
}
