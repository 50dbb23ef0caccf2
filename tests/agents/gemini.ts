import { ALWAYS, KEPT_BY_GANGWAY } from "./differences.ts";
import { GeminiApi } from "./model/gemini.ts";
import type { RealAgent } from "./agent.ts";
import { Script } from "./model/script.ts";

const WAITING = { name: "wait", cancelAt: "wait" };

/**
 * Gemini CLI. It works with a Gemini API on loopback, where its settings choose a key and one model; otherwise it asks a model which one to
 * take. It announces no tool before it asks for a permission, gives its messages no ids, and takes up Sessions but does not list or close
 * them.
 */
export const gemini: RealAgent = {
  name: "Gemini CLI",
  pins: { "@google/gemini-cli": "0.61.0" },
  model: (folder) =>
    new GeminiApi(
      new Script({
        talk: [[{ kind: "text", text: "Hello there, from the model." }]],
        write: [
          [
            { kind: "text", text: "I write a file." },
            {
              kind: "tool",
              name: "write_file",
              input: { file_path: `${folder}/notes.txt`, content: "one\ntwo\nfour\n" },
            },
          ],
          [{ kind: "text", text: "It is written." }],
        ],
        edit: [
          [{ kind: "tool", name: "read_file", input: { file_path: `${folder}/notes.txt` } }],
          [{
            kind: "tool",
            name: "replace",
            input: {
              file_path: `${folder}/notes.txt`,
              instruction: "Change it",
              old_string: "two",
              new_string: "three",
            },
          }],
          [{ kind: "text", text: "It is changed." }],
        ],
        run: [
          [{
            kind: "tool",
            name: "run_shell_command",
            input: { command: "touch ran.txt", description: "Runs" },
          }],
          [{ kind: "text", text: "It has run." }],
        ],
        wait: [[{ kind: "text", text: "I wait " }, { kind: "wait" }]],
      }),
    ),
  async prepare({ folder }) {
    await Deno.mkdir(`${folder}/home/.gemini`);
    await Deno.writeTextFile(
      `${folder}/home/.gemini/settings.json`,
      JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        model: { name: "gemini-2.5-flash" },
      }),
    );
  },
  launch: ({ installed, node, folder, url }) => ({
    program: node,
    args: [`${installed}/node_modules/@google/gemini-cli/bundle/gemini.js`, "--acp"],
    env: {
      HOME: `${folder}/home`,
      TMPDIR: `${folder}/tmp`,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: "none",
      GEMINI_CLI_NO_RELAUNCH: "1",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    },
  }),
  scenes: [
    { name: "talk" },
    { name: "write" },
    { name: "edit" },
    { name: "run", choose: "reject_once" },
    WAITING,
  ],
  working: WAITING,
  differences: [
    ...ALWAYS,
    ...KEPT_BY_GANGWAY,
    { at: "opened.models", why: "Models outside of the options" },
    { at: "opened.configOptions", why: "are an option, and so are modes" },
    { at: "scenes.*.cards.*.content.*._meta", why: "Metadata of a diff is left out" },
    { at: "scenes.*.asked.*.params.toolCall.content.*._meta", why: "Metadata of a diff is left out" },
    { at: "scenes.run.cards.0.status", why: "It leaves a tool open that was denied" },
    { at: "scenes.run.cards.0.content", why: "Such a tool is shown as interrupted" },
  ],
};
