import type { Launch } from "./launch.ts";

/** What to paste into an editor. */
export interface EditorSettings {
  readonly editor: string;
  /** Where it belongs, as the editor's own documentation says. */
  readonly place: string;
  readonly text: string;
}

/** Settings that make editors start Gangway by this launch. */
export function editorSettings({ program, args }: Launch): readonly EditorSettings[] {
  const server = { command: program, args, env: {} };
  const command = lua([program, ...args], 8);
  return [
    {
      editor: "Zed",
      place: "settings.json",
      text: json({ agent_servers: { Gangway: { type: "custom", ...server } } }),
    },
    {
      editor: "JetBrains",
      place: "~/.jetbrains/acp.json",
      text: json({ agent_servers: { Gangway: server } }),
    },
    {
      editor: "Neovim, CodeCompanion",
      place: "its setup",
      text: `require("codecompanion").setup({
  adapters = { acp = {
    gangway = function()
      return require("codecompanion.adapters").extend("opencode", {
        name = "gangway",
        formatted_name = "Gangway",
        commands = { default = ${command} },
      })
    end,
  } },
  interactions = { chat = { adapter = "gangway" } },
})`,
    },
    {
      editor: "Neovim, avante",
      place: "its setup",
      text: `require("avante").setup({
  provider = "gangway",
  acp_providers = {
    gangway = {
      command = ${quoted(program)},
      args = ${lua(args, 6)},
    },
  },
})`,
    },
  ];
}

/** JSON as people write it: a list of plain words stays on one line where it is short. */
function json(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (list, items: string) => {
    const line = `[${items.split(/,\n\s+/).join(", ")}]`;
    return line.length <= 60 ? line : list;
  });
}

function lua(words: readonly string[], indent: number): string {
  const line = `{ ${words.map(quoted).join(", ")} }`;
  if (line.length <= 60) return line;
  const space = " ".repeat(indent);
  return `{\n${words.map((word) => `${space}  ${quoted(word)},\n`).join("")}${space}}`;
}

/** A JSON string is a Lua string as well, but for control characters, which no command holds. */
function quoted(word: string): string {
  return JSON.stringify(word);
}
