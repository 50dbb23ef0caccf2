import { assert, assertEquals } from "@std/assert";
import type { EngineOutcome } from "../../../src/engine/contract.ts";
import { folder } from "../bench.ts";
import { HostError } from "../../../src/host/errors.ts";
import type { Json } from "../../../src/model/json.ts";
import type { RecordingSink } from "../sink.ts";
import { Stage } from "./stage.ts";

const END: EngineOutcome = { kind: "completed", stopReason: "end_turn" };

/** The answer that the agent got and said. */
function answered(sink: RecordingSink): Json {
  return JSON.parse(sink.said());
}

const PERMISSION = JSON.stringify({
  toolCall: {
    toolCallId: "t",
    title: "Write a.ts",
    kind: "edit",
    content: [{ type: "diff", path: "/a.ts", newText: "x" }],
  },
  options: [
    { optionId: "once", name: "Allow", kind: "allow_once" },
    { optionId: "always", name: "Always", kind: "allow_always" },
    { optionId: "no", name: "No", kind: "reject_once" },
    { optionId: "odd", name: "Odd", kind: "something_new" },
  ],
});

Deno.test("[E1] a permission request shows its card first and keeps the agent's own options", async () => {
  await using stage = new Stage();
  const visit = await stage.open({ person: () => ({ kind: "option", optionId: "always" }) });
  const { sink, outcome } = await visit.run(`ask session/request_permission ${PERMISSION}`);
  assertEquals(outcome, END);
  assertEquals(sink.order(), ["toolStart", "ask", "message"]);
  assertEquals(sink.all("toolStart")[0]?.[2].shown?.diffs, [{ path: "/a.ts", oldText: null, newText: "x" }]);
  assertEquals(sink.all("ask").map(([, question]) => question), [{
    kind: "permission",
    toolCallId: "t",
    message: "Write a.ts",
    options: [
      { optionId: "once", name: "Allow", effect: "allow" },
      { optionId: "always", name: "Always", effect: "allow", lasting: true },
      { optionId: "no", name: "No", effect: "deny" },
      { optionId: "odd", name: "Odd", effect: "deny" },
    ],
  }]);
  assertEquals(answered(sink), { result: { outcome: { outcome: "selected", optionId: "always" } } });
});

Deno.test("[E1] a form of the agent keeps its fields, and its values come back", async () => {
  await using stage = new Stage();
  const visit = await stage.open({
    services: { forms: true },
    person: () => ({ kind: "values", values: { name: "x", many: ["a"] } }),
  });
  const schema = {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", minLength: 1, title: "Name" },
      pick: { type: "string", oneOf: [{ const: "a", title: "A" }] },
      count: { type: "integer", minimum: 1, default: 2 },
      flag: { type: "boolean" },
      many: { type: "array", items: { enum: ["a", "b"] }, maxItems: 1 },
    },
  };
  const { sink } = await visit.run(
    `ask elicitation/create ${JSON.stringify({ mode: "form", message: "Tell", requestedSchema: schema })}`,
  );
  const [[, question] = []] = sink.all("ask");
  assertEquals(question?.message, "Tell");
  assertEquals(JSON.parse(JSON.stringify(question?.fields)), [
    { name: "name", required: true, title: "Name", type: "string", minLength: 1 },
    { name: "pick", required: false, type: "enum", choices: [{ value: "a", title: "A" }] },
    { name: "count", required: false, type: "integer", minimum: 1, default: 2 },
    { name: "flag", required: false, type: "boolean" },
    {
      name: "many",
      required: false,
      type: "multi_enum",
      choices: [{ value: "a" }, { value: "b" }],
      maxItems: 1,
    },
  ]);
  assertEquals(answered(sink), { result: { action: "accept", content: { name: "x", many: ["a"] } } });
});

Deno.test("[E1] metadata of a question and of its answer passes both ways", async () => {
  await using stage = new Stage();
  const visit = await stage.open({
    services: { forms: true },
    person: ({ kind }) =>
      kind === "form"
        ? { kind: "values", values: { a: "x" }, meta: { from: "person" } }
        : { kind: "option", optionId: "o", meta: { from: "person" } },
  });
  const permission = {
    toolCall: { toolCallId: "t", title: "x" },
    options: [{ optionId: "o", name: "O", kind: "allow_once", _meta: { o: 1 } }],
    _meta: { p: 1 },
  };
  const form = { requestedSchema: { properties: { a: { type: "string" } } }, _meta: { f: 1 } };
  const asked = await visit.run(`ask session/request_permission ${JSON.stringify(permission)}`);
  assertEquals(asked.sink.all("ask").map(([, { meta, options }]) => [meta, options[0]?.meta]), [
    [{ p: 1 }, { o: 1 }],
  ]);
  assertEquals(answered(asked.sink), {
    result: { outcome: { outcome: "selected", optionId: "o" }, _meta: { from: "person" } },
  });
  const filled = await visit.run(`ask elicitation/create ${JSON.stringify(form)}`);
  assertEquals(filled.sink.all("ask").map(([, { meta }]) => meta), [{ f: 1 }]);
  assertEquals(answered(filled.sink), {
    result: { action: "accept", content: { a: "x" }, _meta: { from: "person" } },
  });
});

Deno.test("[E1] metadata of a call to the editor passes, where it is within its bound", async () => {
  await using stage = new Stage();
  const visit = await stage.open({
    services: { readTextFile: true },
    editor: () => ({ content: "", _meta: { e: 1 } }),
  });
  for (const [meta, passes] of [[{ a: 1 }, true], [{ a: "x".repeat(20_000) }, false]] as const) {
    const params = { path: "/a" };
    const { sink } = await visit.run(`ask fs/read_text_file ${JSON.stringify({ ...params, _meta: meta })}`);
    assertEquals(sink.all("call"), [[
      "call",
      "fs/read_text_file",
      passes ? { ...params, _meta: meta } : params,
    ]]);
    assertEquals(answered(sink), { result: { content: "", _meta: { e: 1 } } });
  }
});

const PAGE = { mode: "url", message: "Log in", url: "https://example.com/login", elicitationId: "e-1" };

Deno.test("[E1] a page of the agent goes to an editor that opens pages, and its completion is told once", async () => {
  await using stage = new Stage();
  const visit = await stage.open({
    services: { urls: true },
    person: () => ({ kind: "values", values: {} }),
  });
  const { sink } = await visit.run([
    `ask elicitation/create ${JSON.stringify(PAGE)}`,
    `tell elicitation/complete {"elicitationId":"e-1"}`,
    `tell elicitation/complete {"elicitationId":"e-1"}`,
  ].join("\n"));
  assertEquals(sink.all("ask").map(([, question]) => question), [{
    kind: "url",
    message: "Log in",
    options: [],
    page: { url: PAGE.url, elicitationId: "e-1" },
  }]);
  assertEquals(answered(sink), { result: { action: "accept" } });
  assertEquals(visit.host.elicited, ["e-1"]);
  assertEquals(stage.log.faults(), ["stray"]);
});

Deno.test("[E1] a page is refused where no editor opens pages, and never becomes a form", async () => {
  await using stage = new Stage();
  const visit = await stage.open({
    services: { forms: true },
    person: () => ({ kind: "values", values: {} }),
  });
  const { sink } = await visit.run(`ask elicitation/create ${JSON.stringify(PAGE)}`);
  assertEquals(sink.all("ask"), []);
  assertEquals((answered(sink) as { error: { code: number } }).error.code, -32602);
});

Deno.test("[E1] a question that the agent takes back is withdrawn from whoever has it", async () => {
  await using place = await folder();
  await using stage = new Stage();
  const visit = await stage.open();
  const cue = `${place.path}/cue`;
  const params = JSON.stringify({ ...JSON.parse(PERMISSION), cue });
  const { sink, outcome } = visit.start(`withdraw session/request_permission ${params}\nsay on`);
  await sink.when(([name]) => name === "ask");
  await Deno.writeTextFile(cue, "");
  assertEquals(await outcome, END);
  assertEquals(sink.withdrawn, 1);
  assert(sink.said().endsWith("on"));
});

Deno.test("[E1] declining and cancelling a form are told apart", async () => {
  await using stage = new Stage();
  for (const kind of ["decline", "cancel"] as const) {
    const visit = await stage.open({ services: { forms: true }, person: () => ({ kind }) });
    const params = { requestedSchema: { properties: { a: { type: "string" } } } };
    const { sink } = await visit.run(`ask elicitation/create ${JSON.stringify(params)}`);
    assertEquals(answered(sink), { result: { action: kind } });
  }
});

const calls: readonly { method: string; params: Record<string, Json>; answer: Json }[] = [
  { method: "fs/read_text_file", params: { path: "/a", line: 2 }, answer: { content: "editor" } },
  { method: "fs/write_text_file", params: { path: "/a", content: "x" }, answer: {} },
  { method: "terminal/create", params: { command: "ls" }, answer: { terminalId: "term" } },
  { method: "terminal/release", params: { terminalId: "term" }, answer: {} },
];
for (const { method, params, answer } of calls) {
  Deno.test(`[E1] ${method} goes to the editor that offers it`, async () => {
    await using stage = new Stage();
    const services = { readTextFile: true, writeTextFile: true, terminal: true };
    const visit = await stage.open({ services, editor: () => answer });
    const { sink } = await visit.run(`ask ${method} ${JSON.stringify(params)}`);
    assertEquals(sink.all("call"), [["call", method, params]]);
    assertEquals(answered(sink), { result: answer });
  });
}

Deno.test("[E1] the editor's refusal reaches the agent with its code", async () => {
  await using stage = new Stage();
  const refuse = () =>
    Promise.reject(new HostError("unavailable", "No such file", { data: { code: -32002 } }));
  const visit = await stage.open({ services: { readTextFile: true }, editor: refuse });
  const { sink } = await visit.run(`ask fs/read_text_file {"path":"/a"}`);
  assertEquals(answered(sink), { error: { code: -32002, message: "No such file" } });
});

Deno.test("[E1] without an editor files are read and written here, within the Session's folders", async () => {
  await using place = await folder();
  await using outside = await folder();
  await Deno.writeTextFile(`${place.path}/a`, "1\n2\n3\n");
  await Deno.writeTextFile(`${outside.path}/secret`, "secret");
  await Deno.symlink(`${outside.path}/secret`, `${place.path}/link`);
  await Deno.symlink(`${outside.path}/new`, `${place.path}/dangling`);
  await using stage = new Stage();
  const visit = await stage.open({ cwd: place.path });
  const ask = async (method: string, params: Record<string, Json>): Promise<Json> =>
    answered((await visit.run(`ask fs/${method} ${JSON.stringify(params)}`)).sink);
  assertEquals(await ask("read_text_file", { path: `${place.path}/a`, line: 2, limit: 1 }), {
    result: { content: "2\n" },
  });
  assertEquals(await ask("write_text_file", { path: `${place.path}/deep/b`, content: "x" }), { result: {} });
  assertEquals(await Deno.readTextFile(`${place.path}/deep/b`), "x");
  const codes: readonly [string, string, number][] = [
    ["read_text_file", "missing", -32002],
    ["read_text_file", ".", -32602],
    ["read_text_file", "link", -32602],
    ["write_text_file", "link", -32602],
    ["write_text_file", "dangling", -32002],
    ["read_text_file", `../${outside.path.split("/").at(-1)}/secret`, -32602],
  ];
  for (const [method, path, code] of codes) {
    const said = await ask(method, { path: `${place.path}/${path}`, content: "y" }) as {
      error: { code: number };
    };
    assertEquals(said.error?.code, code, `${method} ${path}`);
  }
  assertEquals(await Deno.readTextFile(`${outside.path}/secret`), "secret");
});

Deno.test("[E1] files are found where the Session's folder goes by another name", async () => {
  await using place = await folder();
  await using names = await folder();
  await Deno.writeTextFile(`${place.path}/a`, "1");
  const link = `${names.path}/link`;
  await Deno.symlink(place.path, link);
  await using stage = new Stage();
  const visit = await stage.open({ cwd: link });
  const read = `ask fs/read_text_file ${JSON.stringify({ path: `${link}/a` })}`;
  assertEquals(answered((await visit.run(read)).sink), { result: { content: "1" } });
});

Deno.test("[E2] requests that nobody knows are refused, and the Turn goes on", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  for (const method of ["_own/method", "session/new"]) {
    const { sink, outcome } = await visit.run(`ask ${method} {}`);
    assertEquals(outcome, END);
    assertEquals((answered(sink) as { error: { code: number } }).error.code, -32601);
  }
  const { sink } = await visit.run(
    `ask session/request_permission {"toolCall":{"toolCallId":"t"},"options":[]}`,
  );
  assertEquals((answered(sink) as { error: { code: number } }).error.code, -32602);
});

Deno.test("[E1] [C7] a stop ends an open question: the agent is told, and its answer is waited for", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink, stop, outcome } = visit.start(`ask session/request_permission ${PERMISSION}`);
  await sink.when(([name]) => name === "ask");
  stop.abort(new Error("stop"));
  await outcome;
  const next = await visit.run("say next");
  assertEquals(next.outcome, END);
  assertEquals(next.sink.said(), "next");
  assert(!stage.log.faults().includes("deaf"));
});
