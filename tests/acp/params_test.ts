import { assert, assertEquals } from "@std/assert";
import { Front } from "./front.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { EngineProfile } from "../../src/host/contract.ts";

const SECRET = "hunter2";

interface Refused {
  readonly method?: string;
  readonly params: unknown;
  readonly field?: string;
  /** The sentence after `Invalid params: `. */
  readonly says: string;
  readonly profile?: Partial<EngineProfile>;
}

const text = { type: "text", text: "x" };
const stdio = { name: "n", command: "/bin/n", args: [], env: [] };
const asking = (prompt: unknown) => ({ sessionId: "s1", prompt });
const giving = (...mcpServers: unknown[]) => ({ cwd: "/work", mcpServers });

const newSessions: Refused[] = [
  { params: undefined, says: "The parameters are missing: they must be an object" },
  { params: [], says: "The parameters must be an object" },
  { params: {}, field: "cwd", says: '"cwd" is missing: it must be an absolute path' },
  { params: { cwd: 5 }, field: "cwd", says: '"cwd" must be an absolute path' },
  { params: { cwd: "" }, field: "cwd", says: '"cwd" must be an absolute path, not ""' },
  { params: { cwd: "work" }, field: "cwd", says: '"cwd" must be an absolute path, not "work"' },
  { params: { cwd: "file:///w" }, field: "cwd", says: '"cwd" must be an absolute path, not "file:///w"' },
  {
    params: { cwd: "y".repeat(999) },
    field: "cwd",
    says: `"cwd" must be an absolute path, not "${"y".repeat(200)}"`,
  },
  {
    params: { cwd: "/work", additionalDirectories: "/a" },
    field: "additionalDirectories",
    says: '"additionalDirectories" must be a list of absolute paths',
  },
  {
    params: { cwd: "/work", additionalDirectories: ["/a", "b"] },
    field: "additionalDirectories[1]",
    says: '"additionalDirectories[1]" must be an absolute path, not "b"',
  },
  {
    params: { cwd: "/work", mcpServers: {} },
    field: "mcpServers",
    says: '"mcpServers" must be a list of MCP servers',
  },
  { params: giving(SECRET), field: "mcpServers[0]", says: '"mcpServers[0]" must be an MCP server' },
  {
    params: giving({ ...stdio, type: SECRET }),
    field: "mcpServers[0].type",
    says: '"mcpServers[0].type" must be "stdio", "http", "sse" or left out',
  },
  {
    params: giving({ name: "n" }),
    field: "mcpServers[0].command",
    says: '"mcpServers[0].command" is missing: it must be a string',
  },
  {
    params: giving(stdio, { ...stdio, command: "" }),
    field: "mcpServers[1].command",
    says: '"mcpServers[1].command" must be the path of a program',
  },
  {
    params: giving({ ...stdio, args: [1] }),
    field: "mcpServers[0].args[0]",
    says: '"mcpServers[0].args[0]" must be a string',
  },
  {
    params: giving({ ...stdio, env: { TOKEN: SECRET } }),
    field: "mcpServers[0].env",
    says: '"mcpServers[0].env" must be a list of names with values',
  },
  {
    params: giving({ ...stdio, env: [{ name: "TOKEN", value: { is: SECRET } }] }),
    field: "mcpServers[0].env[0].value",
    says: '"mcpServers[0].env[0].value" must be a string',
  },
  {
    params: giving({ type: "http", name: "n", url: 5, headers: [{ name: "Authorization", value: SECRET }] }),
    field: "mcpServers[0].url",
    says: '"mcpServers[0].url" must be a string',
  },
  ...(["http", "sse"] as const).map((type): Refused => ({
    params: giving({ type, name: "n", url: `https://${SECRET}@x/`, headers: [{ name: "a", value: SECRET }] }),
    profile: { mcp: { http: false, sse: false } },
    field: "mcpServers[0].type",
    says:
      `"mcpServers[0].type" must be something else: this agent takes no MCP servers over ${type}, as its capabilities say`,
  })),
];

const others: Refused[] = [
  { params: { prompt: [text] }, field: "sessionId", says: '"sessionId" is missing: it must be a string' },
  { params: { sessionId: 5, prompt: [text] }, field: "sessionId", says: '"sessionId" must be a string' },
  {
    params: asking(undefined),
    field: "prompt",
    says: '"prompt" is missing: it must be a list of content blocks',
  },
  { params: asking("x"), field: "prompt", says: '"prompt" must be a list of content blocks' },
  { params: asking([]), field: "prompt", says: '"prompt" must be a list with at least one content block' },
  { params: asking([text, SECRET]), field: "prompt[1]", says: '"prompt[1]" must be a content block' },
  {
    params: asking([{ type: SECRET }]),
    field: "prompt[0].type",
    says: '"prompt[0].type" must be "text", "image", "audio", "resource_link" or "resource"',
  },
  {
    params: asking([{ type: "text" }]),
    field: "prompt[0].text",
    says: '"prompt[0].text" is missing: it must be a string',
  },
  {
    params: asking([{ type: "resource_link", uri: "file:///x" }]),
    field: "prompt[0].name",
    says: '"prompt[0].name" is missing: it must be a string',
  },
  {
    params: asking([{ type: "resource", resource: { uri: "file:///x", contents: SECRET } }]),
    field: "prompt[0].resource",
    says: '"prompt[0].resource" must be an object with a "uri" and either "text" or "blob"',
  },
  {
    method: "session/list",
    params: { cwd: "x" },
    field: "cwd",
    says: '"cwd" must be an absolute path, not "x"',
  },
  { method: "session/list", params: { cursor: 5 }, field: "cursor", says: '"cursor" must be a string' },
  {
    method: "session/close",
    params: {},
    field: "sessionId",
    says: '"sessionId" is missing: it must be a string',
  },
  {
    method: "session/set_mode",
    params: { sessionId: "s1" },
    field: "modeId",
    says: '"modeId" is missing: it must be a string',
  },
  {
    method: "session/set_config_option",
    params: { sessionId: "s1", configId: "mode", value: 5 },
    field: "value",
    says: '"value" must be a string, or true or false with "type": "boolean"',
  },
  {
    method: "session/set_config_option",
    params: { sessionId: "s1", value: "x" },
    field: "configId",
    says: '"configId" is missing: it must be a string',
  },
];

for (
  const [id, table, usual] of [["[S1] [A2]", newSessions, "session/new"], [
    "[A2]",
    others,
    "session/prompt",
  ]] as const
) {
  for (const { method = usual, params, field, profile, says } of table) {
    Deno.test(`${id} ${method} is refused before any work: ${says.slice(0, 120)}`, async () => {
      const front = new Front({ judged: false, profile });
      await front.initialize();
      const { error } = await front.request(method, params);
      assertEquals(error, {
        code: -32602,
        message: `Invalid params: ${says}`,
        ...(field !== undefined && { data: { field } }),
      });
      assertEquals([front.sessions.calls, front.host.asked], [[], []]);
      assert(!JSON.stringify([error, front.log.lines]).includes(SECRET));
      await front.end();
    });
  }
}

Deno.test("[S1] what may be missing, null, malformed or unknown does no harm", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  const places = [
    { cwd: "/work" },
    { cwd: "/work", mcpServers: null, additionalDirectories: null, _meta: "x" },
    { cwd: "/work", mcpServers: [], additionalDirectories: [], _meta: null, later: { field: true } },
  ];
  for (const place of places) {
    assertEquals((await front.request("session/new", place)).error, undefined);
    const { cwd, roots, mcpServers } = front.sessions.places.pop()!;
    assertEquals({ cwd, roots, mcpServers }, { cwd: "/work", roots: [], mcpServers: [] });
  }
  await front.end();
});

Deno.test("[S1] MCP servers arrive whole, also where a Client names the kind or leaves lists out", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  const servers: JsonObject[] = [
    {
      name: "a",
      command: "/bin/a",
      args: ["-x"],
      env: [{ name: "TOKEN", value: SECRET }],
      _meta: { own: 1 },
    },
    { type: "stdio", name: "b", command: "/bin/b" },
    { type: "http", name: "c", url: "https://c/", headers: [{ name: "A", value: "b" }] },
    { type: "sse", name: "d", url: "https://d/" },
  ];
  await front.request("session/new", {
    cwd: "/work",
    additionalDirectories: ["/a", "/b"],
    mcpServers: servers,
  });
  const { roots, mcpServers } = front.sessions.places[0]!;
  assertEquals(roots, ["/a", "/b"]);
  const filled = [{}, { args: [], env: [] }, {}, { headers: [] }];
  assertEquals(mcpServers, servers.map((server, index) => ({ ...server, ...filled[index] })));
  assert(!JSON.stringify(front.log.lines).includes(SECRET));
  await front.end();
});
