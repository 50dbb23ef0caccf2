import { assertEquals } from "@std/assert";
import type { ConfigOption } from "../../../src/model/config.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { Settings } from "../../../src/engine/acp/options.ts";
import { Stage } from "./stage.ts";

const MODES: JsonObject = {
  currentModeId: "ask",
  availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code", description: "Writes" }],
};
const THINK: JsonObject = {
  id: "think",
  name: "Thinking",
  category: "thought_level",
  type: "select",
  currentValue: "low",
  options: [{ name: "Levels", options: [{ value: "low", name: "Low" }, { value: "high", name: "High" }] }],
};
const FAST: JsonObject = { id: "fast", name: "Fast", type: "boolean", currentValue: false };

const MODE_OPTION: ConfigOption = {
  id: "mode",
  name: "Mode",
  category: "mode",
  type: "select",
  value: "ask",
  choices: [{ value: "ask", name: "Ask" }, { value: "code", name: "Code", description: "Writes" }],
};
const THINK_OPTION: ConfigOption = {
  id: "think",
  name: "Thinking",
  category: "thought_level",
  type: "select",
  value: "low",
  choices: [{ value: "low", name: "Low" }, { value: "high", name: "High" }],
};
const FAST_OPTION: ConfigOption = { id: "fast", name: "Fast", type: "boolean", value: false };

Deno.test("[E1] [G1] modes, models and options of the agent are the Session's options", () => {
  const settings = new Settings();
  settings.opened({
    modes: MODES,
    models: {
      currentModelId: "m1",
      availableModels: [{ modelId: "m1", name: "M1" }, { modelId: "m2", name: "M2" }],
    },
    configOptions: [THINK, FAST, { id: "broken" }],
  });
  assertEquals(settings.list(), [
    MODE_OPTION,
    {
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      value: "m1",
      choices: [{ value: "m1", name: "M1" }, { value: "m2", name: "M2" }],
    },
    THINK_OPTION,
    FAST_OPTION,
  ]);
});

Deno.test("[E1] [G1] a value that the agent has but does not offer is one of the choices", () => {
  const settings = new Settings();
  settings.opened({
    models: { currentModelId: "mine", availableModels: [{ modelId: "m1", name: "M1" }] },
    configOptions: [{ ...THINK, currentValue: "deep" }, { ...THINK, id: "none", options: [] }],
  });
  assertEquals(
    settings.list().map((option) => option.type === "select" && [option.value, ...option.choices]),
    [
      ["mine", { value: "m1", name: "M1" }, { value: "mine", name: "mine" }],
      ["deep", { value: "low", name: "Low" }, { value: "high", name: "High" }, {
        value: "deep",
        name: "deep",
      }],
      ["low", { value: "low", name: "low" }],
    ],
  );
});

const changes: readonly { name: string; wanted: ConfigOption; sent: unknown }[] = [
  {
    name: "a mode",
    wanted: { ...MODE_OPTION, value: "code" } as ConfigOption,
    sent: { method: "session/set_mode", params: { sessionId: "s", modeId: "code" } },
  },
  {
    name: "a choice",
    wanted: { ...THINK_OPTION, value: "high" } as ConfigOption,
    sent: {
      method: "session/set_config_option",
      params: { sessionId: "s", configId: "think", value: "high" },
    },
  },
  {
    name: "a switch",
    wanted: { ...FAST_OPTION, value: true } as ConfigOption,
    sent: {
      method: "session/set_config_option",
      params: { sessionId: "s", configId: "fast", value: true, type: "boolean" },
    },
  },
  { name: "what is so already", wanted: MODE_OPTION, sent: undefined },
  {
    name: "a value that there is not",
    wanted: { ...MODE_OPTION, value: "x" } as ConfigOption,
    sent: undefined,
  },
  {
    name: "an option that there is not",
    wanted: { ...FAST_OPTION, id: "x" } as ConfigOption,
    sent: undefined,
  },
];
for (const { name, wanted, sent } of changes) {
  Deno.test(`[E1] [G1] ${name} is set as the agent wants it`, () => {
    const settings = new Settings();
    settings.opened({ modes: MODES, configOptions: [THINK, FAST] });
    assertEquals(settings.change(wanted, "s"), sent);
  });
}

Deno.test("[E1] modes that are an option too are shown once, and set as the option", () => {
  const settings = new Settings();
  const option = { ...THINK, id: "my_mode", category: "mode" };
  settings.opened({ modes: MODES, configOptions: [option] });
  assertEquals(settings.list().map(({ id }) => id), ["my_mode"]);
});

Deno.test("[E1] [G1] what was chosen before the agent ran is set in it, and what it changes comes back", async () => {
  await using stage = new Stage({ opened: { modes: MODES, configOptions: [FAST] } });
  const visit = await stage.open({ options: [{ ...MODE_OPTION, value: "code" } as ConfigOption] });
  await visit.run("say x");
  assertEquals(visit.host.options.map(({ value }) => value), ["code", false]);
  await visit.run(`update {"sessionUpdate":"current_mode_update","currentModeId":"ask"}`);
  assertEquals(visit.host.options.map(({ value }) => value), ["ask", false]);
  visit.host.options = visit.host.options.map((option) =>
    ({ ...option, value: option.type === "boolean" ? true : "code" }) as ConfigOption
  );
  await visit.session.configure(visit.host.config());
  const { sink } = await visit.run("set");
  assertEquals(JSON.parse(sink.said()), [
    ["session/set_mode", "code"],
    ["session/set_mode", "code"],
    ["session/set_config_option", true],
  ]);
});

Deno.test("[E1] what the agent said is known at the next start: what it takes, and how its Sessions begin", async () => {
  await using first = new Stage({
    initialize: {
      agentCapabilities: { promptCapabilities: { audio: true } },
      agentInfo: { name: "a", version: "3" },
    },
    opened: { modes: MODES },
  });
  assertEquals(first.engine.profile.prompt, { image: true, audio: false, embeddedContext: true });
  await (await first.open()).run("say x");
  await using next = new Stage({}, { remembered: first.remembered.at(-1) });
  assertEquals(next.engine.profile.prompt, { image: false, audio: true, embeddedContext: false });
  assertEquals(next.engine.profile.version, "3");
  assertEquals(next.engine.profile.options, [MODE_OPTION]);
});

Deno.test("[E1] a default that the agent changed since is not forced back on it", async () => {
  const remembered = {
    prompt: { image: false, audio: false, embeddedContext: false },
    mcp: { http: false, sse: false },
    options: [MODE_OPTION],
  };
  await using stage = new Stage(
    { opened: { modes: { ...MODES, currentModeId: "code" } } },
    { remembered: JSON.parse(JSON.stringify(remembered)) },
  );
  const visit = await stage.open();
  await visit.run("say x");
  assertEquals(visit.host.options.map(({ value }) => value), ["code"]);
});

Deno.test("[E2] an agent whose metadata is nested without end can be started again, as it was", async () => {
  const depth = 7000;
  const remembered = {
    prompt: { image: false, audio: true, embeddedContext: false },
    mcp: { http: false, sse: false },
    authMethods: [{ id: "a", name: "A", _meta: { x: JSON.parse("[".repeat(depth) + "]".repeat(depth)) } }],
  };
  await using stage = new Stage({}, { remembered });
  assertEquals(stage.engine.profile.prompt, remembered.prompt);
});

for (const remembered of [null, 1, "x", [], { prompt: 1 }]) {
  Deno.test(`[E2] a memory that cannot be read is learnt anew: ${JSON.stringify(remembered)}`, async () => {
    await using stage = new Stage({}, { remembered });
    assertEquals(stage.engine.profile.prompt, { image: true, audio: false, embeddedContext: true });
  });
}
