import { assert, assertEquals } from "@std/assert";
import { ALL, BARE, RUN } from "./frames.ts";
import {
  commandsUpdate,
  configOptionsOf,
  configUpdates,
  modesOf,
  sessionUpdates,
  titleUpdate,
  usageUpdate,
} from "../../src/projection/mod.ts";
import type { Config } from "../../src/model/config.ts";
import type { Frame } from "../../src/model/frame.ts";
import { Editor, type Seen } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";
import { ProtocolSchema } from "../support/schema.ts";

function seen(updates: readonly string[]): readonly Seen[] {
  const editor = new Editor();
  for (const update of updates) editor.receive(update);
  return editor.updates;
}

const CONFIG: Config = {
  revision: 3,
  options: [
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      type: "select",
      value: "ask",
      choices: [{ value: "ask", name: "Ask", description: "Asks first" }, { value: "go", name: "Go" }],
    },
    { id: "fast", name: "Fast", description: "Less thinking", type: "boolean", value: true },
  ],
};

Deno.test("[G1] the update holds the full list of options and the mode that agrees with it", () => {
  for (const value of ["ask", "go"]) {
    const [mode, ...rest] = CONFIG.options;
    assert(mode?.type === "select");
    const updates = seen(configUpdates({ revision: 1, options: [{ ...mode, value }, ...rest] }, ALL));
    assertEquals(updates.map((update) => update.sessionUpdate), [
      "config_option_update",
      "current_mode_update",
    ]);
    assertEquals(updates[0]?.configOptions?.map((option) => [option.id, option.currentValue]), [
      ["mode", value],
      ["fast", true],
    ]);
    assertEquals(updates[1]?.currentModeId, value);
  }
});

Deno.test("[G1] boolean options only go to a Client that asked for them", () => {
  assertEquals(seen(configUpdates(CONFIG, BARE))[0]?.configOptions?.map((option) => option.id), ["mode"]);
  assertEquals(configOptionsOf(CONFIG, { booleans: false }).map((option) => option.id), ["mode"]);
  assertEquals(configOptionsOf(CONFIG, { booleans: true }).map((option) => option.id), ["mode", "fast"]);
});

Deno.test("[G1] modes and options of responses fit the protocol", () => {
  const result = {
    sessionId: "s",
    modes: modesOf(CONFIG),
    configOptions: configOptionsOf(CONFIG, { booleans: true }),
  };
  assertEquals(new ProtocolSchema().check("agent", "session/new", "Response", result), []);
  assertEquals(modesOf(CONFIG)?.currentModeId, "ask");
  assertEquals(modesOf(CONFIG)?.availableModes.map((mode) => mode.id), ["ask", "go"]);
  assertEquals(modesOf({ revision: 0, options: CONFIG.options.slice(1) }), undefined);
});

Deno.test("[G1] the modes are those of the option of that category, wherever it stands, at the value that it has", () => {
  const [mode, ...rest] = CONFIG.options;
  assert(mode?.type === "select");
  const model = { ...mode, id: "model", category: "model" };
  const options = [model, ...rest, { ...mode, id: "stance", value: "go" }];
  assertEquals(modesOf({ revision: 1, options })?.currentModeId, "go");
  assertEquals(modesOf({ revision: 1, options: [model] }), undefined);
});

Deno.test("[G4] usage is sent only where the window is known and used fits into it", () => {
  const cases: [used: number, size: number, sent: boolean][] = [
    [10, 100, true],
    [0, 100, true],
    [100, 100, true],
    [101, 100, false],
    [0, 0, false],
    [-1, 100, false],
    [1.5, 100, false],
    [1, NaN, false],
    [1, Infinity, false],
  ];
  for (const [used, size, sent] of cases) {
    assertEquals(seen(usageUpdate({ used, size })).length, sent ? 1 : 0, `${used} of ${size}`);
  }
  const cost = { amount: 0.25, currency: "USD" };
  assertEquals(seen(usageUpdate({ used: 1, size: 2, cost }))[0], {
    sessionUpdate: "usage_update",
    used: 1,
    size: 2,
    cost,
  } as Seen);
  assertEquals(seen(usageUpdate({ used: 1, size: 2, cost: { amount: NaN, currency: "USD" } })).length, 1);
});

Deno.test("[G4] a title is one bounded line, and an empty one clears it", () => {
  const cases: [string, string | null][] = [
    ["Fix the build", "Fix the build"],
    ["  two\n\tlines \u0007", "two lines"],
    ["", null],
    ["\n", null],
    ["x".repeat(LIMITS.titleLength), "x".repeat(LIMITS.titleLength)],
    ["x".repeat(100_000), "x".repeat(LIMITS.titleLength - 1) + "…"],
    ["😀".repeat(1000), "😀".repeat(127) + "…"],
  ];
  for (const [title, shown] of cases) assertEquals(seen(titleUpdate(title))[0]?.title, shown);
});

Deno.test("[G3] [G4] commands are a full bounded list that never fails", () => {
  const [update] = seen(commandsUpdate([
    { name: "/review", description: "Looks\nat it", hint: "what" },
    { name: "two words", description: "" },
    { name: "two\nlines", description: "" },
    { name: " ", description: "" },
    { name: "", description: "" },
  ]));
  assertEquals(update?.availableCommands, [
    { name: "review", description: "Looks at it", input: { hint: "what" } },
    { name: "two words", description: "" },
  ]);
  for (const length of [10, 1000, 100_000]) {
    const many = Array.from({ length: 1000 }, (_, at) => ({
      name: `command-${at}`,
      description: "語".repeat(length),
      hint: "h".repeat(length),
    }));
    const [all] = seen(commandsUpdate(many));
    assertEquals(all?.availableCommands?.length, LIMITS.commands);
  }
  const wide = Array.from(
    { length: 256 },
    (_, at) => ({ name: `${at}${"語".repeat(250)}`, description: "" }),
  );
  const [fewer] = seen(commandsUpdate(wide));
  assert((fewer?.availableCommands?.length ?? 0) >= 32);
  assertEquals(seen(commandsUpdate([]))[0]?.availableCommands, []);
});

Deno.test("[G1] [A1] a long list of choices is kept whole under the line cap, without its descriptions", () => {
  const choices = Array.from({ length: 500 }, (_, at) => ({
    value: `model-${at}`,
    name: `Model ${at}`,
    description: "d".repeat(900),
  }));
  const options: Config["options"] = [{
    id: "model",
    name: "Model",
    type: "select",
    value: "model-7",
    choices,
  }];
  const [update] = seen(configUpdates({ revision: 0, options }, ALL));
  const option = update?.configOptions?.[0] as { options: { value: string; name: string }[] } | undefined;
  assertEquals(option?.options, choices.map(({ value, name }) => ({ value, name })));
});

Deno.test("[G1] [G3] [G4] frames about the Session give its updates, frames of a Run give none", () => {
  const meta = { vendor: 1 };
  const cases: { frame: Frame; shows?: typeof ALL; gives: string[] }[] = [
    { frame: { type: "config", config: CONFIG }, gives: ["config_option_update", "current_mode_update"] },
    { frame: { type: "commands", commands: [] }, gives: ["available_commands_update"] },
    { frame: { type: "title", title: "x" }, gives: ["session_info_update"] },
    { frame: { type: "usage", usage: { used: 1, size: 2 } }, gives: ["usage_update"] },
    { frame: { type: "notice", severity: "info", title: "" }, gives: ["notice"] },
    { frame: { type: "notice", severity: "info", title: "x" }, shows: BARE, gives: [] },
    { frame: { type: "notice", severity: "info", title: "x", run: RUN }, gives: [] },
    {
      frame: {
        type: "compaction",
        compactionId: "c",
        status: "completed",
        summary: [{ kind: "text", text: "s" }],
      },
      gives: ["compaction_update"],
    },
    { frame: { type: "compaction", compactionId: "c", status: "in_progress" }, shows: BARE, gives: [] },
    { frame: { type: "compaction", compactionId: "c", status: "failed", run: RUN }, gives: [] },
    {
      frame: { type: "message", run: RUN, messageId: "m", channel: "text", offset: 0, text: "x" },
      gives: [],
    },
    { frame: { type: "transcript", watermark: 1, last: 1 }, gives: [] },
  ];
  for (const { frame, shows = ALL, gives } of cases) {
    const updates = seen(sessionUpdates({ ...frame, meta }, shows));
    assertEquals(updates.map((update) => update.sessionUpdate), gives);
    if (gives.length > 0) assertEquals(updates[0]?._meta, meta);
  }
});
