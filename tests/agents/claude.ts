import { ALWAYS } from "./differences.ts";
import { MessagesApi } from "./model/messages.ts";
import type { RealAgent } from "./agent.ts";
import { Script } from "./model/script.ts";

const WAITING = { name: "wait", cancelAt: "wait" };

/**
 * Claude Code by its adapter. It works with a Messages API on loopback and a key that is not one. It needs Node 22 or later, and begins
 * in a mode that asks its model instead of the user.
 */
export const claude: RealAgent = {
  name: "claude-agent-acp",
  pins: { "@agentclientprotocol/claude-agent-acp": "0.101.0" },
  model: (folder) =>
    new MessagesApi(
      new Script({
        talk: [[{ kind: "text", text: "Hello there, from the model." }]],
        write: [
          [
            { kind: "text", text: "I write a file." },
            { kind: "tool", name: "Write", input: { file_path: `${folder}/new.txt`, content: "one\ntwo\n" } },
          ],
          [{ kind: "text", text: "It is written." }],
        ],
        edit: [
          [{ kind: "tool", name: "Read", input: { file_path: `${folder}/notes.txt` } }],
          [{
            kind: "tool",
            name: "Edit",
            input: { file_path: `${folder}/notes.txt`, old_string: "two", new_string: "three" },
          }],
          [{ kind: "text", text: "It is changed." }],
        ],
        run: [
          [{ kind: "tool", name: "Bash", input: { command: "touch ran.txt; echo it ran" } }],
          [{ kind: "text", text: "It has run." }],
        ],
        wait: [[{ kind: "text", text: "I wait " }, { kind: "wait" }]],
      }),
    ),
  launch: ({ installed, node, folder, url }) => ({
    program: node,
    args: [`${installed}/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js`],
    env: {
      HOME: `${folder}/home`,
      TMPDIR: `${folder}/tmp`,
      CLAUDE_CONFIG_DIR: `${folder}/home/.claude`,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      IS_SANDBOX: "1",
    },
  }),
  mode: "default",
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
    { at: "hello.agentCapabilities.promptCapabilities.audio", why: "What it does not take is said to be so" },
    { at: "scenes.*.answer.usage", why: "A member of answers that version 1 does not have" },
    { at: "after.answer.usage", why: "A member of answers that version 1 does not have" },
    { at: "scenes.wait.answer._meta", why: "A cancel is answered before the agent answers it" },
    {
      at: "scenes.*.answer._meta.quota",
      why: "It counts what it asked for itself, when that ends",
      sometimes: true,
    },
    {
      at: "after.answer._meta.quota",
      why: "It counts what it asked for itself, when that ends",
      sometimes: true,
    },
    { at: "scenes.*.notified", why: "It says who is logged in at a moment of its own", sometimes: true },
    { at: "loaded.notified", why: "It says who is logged in at a moment of its own", sometimes: true },
    { at: "after.notified", why: "It says who is logged in at a moment of its own", sometimes: true },
    {
      at: "scenes.*.asked.*.params.toolCall._meta",
      why: "The card of a dialog has all that is known of the tool",
    },
    { at: "session.commands.*.description", why: "Descriptions are cut until all fit into a line" },
    { at: "session.mode", why: "A mode that is an option too is told both ways" },
    { at: "loaded.answer.sessionId", why: "A member of answers that version 1 does not have" },
    { at: "loaded.messages", why: "Its history has words that nobody said, as of an interruption" },
    { at: "loaded.cards", why: "Gangway shows cards as they were seen live" },
  ],
};
