import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { folder } from "../bench.ts";
import { gone } from "../gone.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import type { RecordingSink } from "../sink.ts";
import { Scrollback } from "../../../src/engine/acp/scrollback.ts";
import { Stage, type Visit } from "./stage.ts";

/** Asks for something about a terminal and gives the answer. */
async function ask(visit: Visit, method: string, params: JsonObject): Promise<JsonObject> {
  const { sink } = await visit.run(`ask terminal/${method} ${JSON.stringify(params)}`);
  const { result, error } = JSON.parse(sink.said()) as JsonObject;
  return { ...(result as JsonObject ?? {}), ...(error === undefined ? {} : { error }) };
}

async function create(visit: Visit, params: JsonObject): Promise<Json> {
  return (await ask(visit, "create", params)).terminalId ?? null;
}

Deno.test("[E1] without an editor's terminals commands run here: output, exit, kill and release", async () => {
  await using place = await folder();
  await using stage = new Stage();
  const visit = await stage.open({ cwd: place.path });
  const line = await create(visit, {
    command: "pwd; echo $WORD; echo no >&2; exit 3",
    env: [{ name: "WORD", value: "up" }],
  });
  assertEquals(await ask(visit, "wait_for_exit", { terminalId: line }), { exitCode: 3, signal: null });
  const { output, truncated, exitStatus } = await ask(visit, "output", { terminalId: line });
  assertEquals(String(output).split("\n").sort(), ["", "no", place.path, "up"].sort());
  assertEquals([truncated, exitStatus], [false, { exitCode: 3, signal: null }]);
  // Arguments are not read by a shell.
  const plain = await create(visit, { command: "echo", args: ["$HOME", "a b"], cwd: place.path });
  await ask(visit, "wait_for_exit", { terminalId: plain });
  assertEquals((await ask(visit, "output", { terminalId: plain })).output, "$HOME a b\n");
  const long = await create(visit, { command: "echo up; sleep 1000" });
  assertEquals((await ask(visit, "output", { terminalId: long })).exitStatus, undefined);
  await ask(visit, "kill", { terminalId: long });
  assertEquals(await ask(visit, "wait_for_exit", { terminalId: long }), {
    exitCode: null,
    signal: "SIGKILL",
  });
  for (const terminalId of [line, plain, long]) assertEquals(await ask(visit, "release", { terminalId }), {});
  assertEquals(
    (await ask(visit, "output", { terminalId: line }) as { error: { code: number } }).error.code,
    -32002,
  );
});

const wrong: readonly [string, JsonObject, number][] = [
  ["create", {}, -32602],
  ["create", { command: "ls", cwd: "here" }, -32602],
  ["create", { command: "ls", cwd: "/no/such/place" }, -32603],
  ["output", { terminalId: "gangway-terminal-77" }, -32002],
  ["wait_for_exit", { terminalId: "term" }, -32002],
];
for (const [method, params, code] of wrong) {
  Deno.test(`[E2] terminal/${method} with ${JSON.stringify(params)} is refused`, async () => {
    await using stage = new Stage();
    const visit = await stage.open();
    const { error } = await ask(visit, method, params) as { error?: { code: number } };
    assertEquals(error?.code, code);
  });
}

Deno.test("[E2] a program that does not exist ends as a shell says it", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const terminalId = await create(visit, { command: "no-such-program", args: ["x"] });
  assertEquals(await ask(visit, "wait_for_exit", { terminalId }), { exitCode: 127, signal: null });
  assertStringIncludes(String((await ask(visit, "output", { terminalId })).output), "not found");
});

Deno.test("[E3] what a terminal started ends with its release, and with the Session", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const pids: number[] = [];
  for (const end of ["release", "close"]) {
    const terminalId = await create(visit, { command: "sleep 1000 & echo $! $$; wait" });
    let output = "";
    while (!output.includes("\n")) output = String((await ask(visit, "output", { terminalId })).output);
    pids.push(...output.trim().split(" ").map(Number));
    if (end === "release") await ask(visit, end, { terminalId });
    else await visit.session.close();
    await gone(pids);
  }
  assertEquals(pids.length, 4);
});

Deno.test("[E2] [E3] terminals end with an agent that dies", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const terminalId = await create(visit, { command: "echo $$; sleep 1000" });
  let output = "";
  while (!output.includes("\n")) output = String((await ask(visit, "output", { terminalId })).output);
  await visit.run("exit 1");
  await gone([Number(output)]);
  assertEquals((await visit.run("say fine")).sink.said(), "fine");
});

Deno.test("[E1] a tool shows what its terminal here writes, and keeps it behind the release", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const terminalId = await create(visit, { command: "printf one; sleep 0.05; printf two; exit 2" });
  const update = (more: JsonObject) =>
    `update ${JSON.stringify({ sessionUpdate: "tool_call_update", toolCallId: "t", title: "Run", ...more })}`;
  const { sink } = await visit.run([
    update({ content: [{ type: "terminal", terminalId }] }),
    `ask terminal/wait_for_exit ${JSON.stringify({ terminalId })}`,
    `ask terminal/release ${JSON.stringify({ terminalId })}`,
    update({ status: "completed" }),
  ].join("\n"));
  assertEquals(sink.all("toolOutput").map(([, , , text]) => text).join(""), "onetwo");
  assertEquals(sink.all("toolStart")[0]?.[2].shown, undefined);
  assertEquals(sink.all("toolResult"), [["toolResult", "t", {
    status: "completed",
    content: [],
    diffs: [],
    exitCode: 2,
  }]]);
});

const shows = (toolCallId: string, terminalId: Json, more: JsonObject = {}) =>
  `update ${
    JSON.stringify({
      sessionUpdate: "tool_call_update",
      toolCallId,
      title: "Run",
      content: [{ type: "terminal", terminalId }],
      ...more,
    })
  }`;

Deno.test("[E1] a terminal that goes on behind its tool is shown whole by the next one, and by two at once", async () => {
  await using place = await folder();
  await using stage = new Stage();
  const visit = await stage.open({ cwd: place.path });
  const command = "printf one; until [ -e cue ]; do sleep 0.02; done; printf two";
  const terminalId = await create(visit, { command });
  const first = visit.start(
    `${shows("a", terminalId)}\nuntil ${place.path}/shown\n${
      shows("a", terminalId, { status: "completed" })
    }`,
  );
  await first.sink.when(([name]) => name === "toolOutput");
  await Deno.writeTextFile(`${place.path}/shown`, "");
  await first.outcome;
  const second = visit.start([
    shows("b", terminalId),
    shows("c", terminalId),
    `ask terminal/wait_for_exit ${JSON.stringify({ terminalId })}`,
    shows("b", terminalId, { status: "completed" }),
    shows("c", terminalId, { status: "completed" }),
  ].join("\n"));
  await second.sink.when(([name, id]) => name === "toolStart" && id === "c");
  await Deno.writeTextFile(`${place.path}/cue`, "");
  await second.outcome;
  const outputOf = (sink: RecordingSink, id: string) =>
    sink.all("toolOutput").filter((entry) => entry[1] === id).map((entry) => entry[3]).join("");
  assertEquals(outputOf(first.sink, "a"), "one");
  assertEquals([outputOf(second.sink, "b"), outputOf(second.sink, "c")], ["onetwo", "onetwo"]);
});

Deno.test("[E1] the end of an output is kept within its bytes and never cut inside of a character", () => {
  const text = "a€😀".repeat(2000);
  for (const most of [0, 1, 2, 3, 4, 7, 8, 9, 100, 1001, 16_000]) {
    const kept = new Scrollback(most);
    for (const each of text) kept.push(each);
    const bytes = new TextEncoder().encode(kept.text()).length;
    assert(bytes <= most && bytes > most - 4, `${bytes} of ${most}`);
    assert(text.endsWith(kept.text()) && kept.text().isWellFormed());
    assertEquals(kept.truncated, most < 16_000);
  }
});

Deno.test("[E1] the limit of a terminal's output is the agent's, and that it cut is said", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const terminalId = await create(visit, { command: "printf '€€€'", outputByteLimit: 7 });
  await ask(visit, "wait_for_exit", { terminalId });
  const { output, truncated } = await ask(visit, "output", { terminalId });
  assertEquals([output, truncated], ["€€", true]);
});
