import { assertEquals, assertThrows } from "@std/assert";
import type { Draft } from "../../src/session/draft.ts";
import type { EngineProfile } from "../../src/host/contract.ts";
import { draftOf } from "../../src/acp/content.ts";
import { Front } from "./front.ts";
import { LIMITS } from "../../src/limits.ts";
import type { PromptParams } from "../../src/acp/params.ts";
import { RequestError } from "@agentclientprotocol/sdk";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Sends a prompt and returns what became of it. */
async function prompted(
  prompt: unknown[],
  accepts?: EngineProfile["prompt"],
  extra: object = {},
): Promise<Draft | object | undefined> {
  const front = new Front({ judged: false, profile: accepts && { prompt: accepts } });
  const sessionId = await front.open();
  const { error } = await front.request("session/prompt", { sessionId, prompt, ...extra });
  const draft = front.sessions.drafts[0];
  if (error !== undefined) assertEquals(draft, undefined, "what is refused reaches no Session");
  await front.end();
  return error ?? draft;
}

Deno.test("[F7] every kind of content becomes its part, in order, with its own fields", async () => {
  const draft = await prompted(
    [
      { type: "text", text: "Look", annotations: { audience: ["user"] }, _meta: { a: 1 } },
      {
        type: "resource_link",
        uri: "file:///w/a%20b.ts#L1:2",
        name: "a b.ts",
        mimeType: "text/x",
        title: "T",
        description: "D",
        size: 5,
      },
      { type: "resource_link", uri: "https://x/", name: "x", mimeType: null, title: 5 },
      { type: "image", data: "aGk=", mimeType: "image/png", uri: "file:///w/pictures/a%C3%A9.png?x#y" },
      { type: "image", data: "", mimeType: "image/png" },
      { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///w/notes.md", text: "é", mimeType: "text/markdown" } },
      { type: "resource", resource: { uri: "zed:///thread/1/", text: "t" } },
      { type: "resource", resource: { uri: "zed://%zz", blob: "aGk=" } },
    ],
    undefined,
    { _meta: { traceparent: "00-x" } },
  );
  assertEquals(draft, {
    parts: [
      { kind: "text", text: "Look", meta: { a: 1 } },
      {
        kind: "link",
        uri: "file:///w/a%20b.ts#L1:2",
        name: "a b.ts",
        mimeType: "text/x",
        title: "T",
        description: "D",
        meta: undefined,
      },
      {
        kind: "link",
        uri: "https://x/",
        name: "x",
        mimeType: undefined,
        title: undefined,
        description: undefined,
        meta: undefined,
      },
      {
        kind: "bytes",
        purpose: "image",
        uri: "file:///w/pictures/a%C3%A9.png?x#y",
        name: "aé.png",
        mimeType: "image/png",
        bytes: bytes("hi"),
        meta: undefined,
      },
      {
        kind: "bytes",
        purpose: "image",
        uri: undefined,
        name: "image",
        mimeType: "image/png",
        bytes: bytes(""),
        meta: undefined,
      },
      {
        kind: "bytes",
        purpose: "audio",
        name: "audio",
        mimeType: "audio/wav",
        bytes: bytes("hi"),
        meta: undefined,
      },
      {
        kind: "bytes",
        purpose: "resource",
        uri: "file:///w/notes.md",
        name: "notes.md",
        mimeType: "text/markdown",
        bytes: bytes("é"),
        meta: undefined,
      },
      {
        kind: "bytes",
        purpose: "resource",
        uri: "zed:///thread/1/",
        name: "1",
        mimeType: "text/plain",
        bytes: bytes("t"),
        meta: undefined,
      },
      {
        kind: "bytes",
        purpose: "resource",
        uri: "zed://%zz",
        name: "%zz",
        mimeType: "application/octet-stream",
        bytes: bytes("hi"),
        meta: undefined,
      },
    ],
    meta: { traceparent: "00-x" },
  });
});

const nothing = { image: false, audio: false, embeddedContext: false };
const refused: [name: string, block: object, message: string, field: string][] = [
  [
    "an image that is not advertised",
    { type: "image", data: "aGk=", mimeType: "image/png" },
    '"prompt[1].type" must be something else: this agent takes no images, as its capabilities say',
    "prompt[1].type",
  ],
  [
    "audio that is not advertised",
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    '"prompt[1].type" must be something else: this agent takes no audio, as its capabilities say',
    "prompt[1].type",
  ],
  [
    "a resource that is not advertised",
    { type: "resource", resource: { uri: "file:///x", text: "x" } },
    '"prompt[1].type" must be something else: this agent takes no embedded resources, as its capabilities say',
    "prompt[1].type",
  ],
];

for (const [name, block, message, field] of refused) {
  Deno.test(`[F7] ${name} is refused by name`, async () => {
    assertEquals(await prompted([{ type: "text", text: "x" }, block], nothing), {
      code: -32602,
      message: `Invalid params: ${message}`,
      data: { field },
    });
  });
}

Deno.test("[F7] bytes are base64 with its padding and nothing else", async () => {
  for (const data of ["a", "aGk", "aGk=x", "aGl=", "aG_=", "aGk=\u0000", "=", "aGk%3D"]) {
    assertEquals(await prompted([{ type: "audio", data, mimeType: "audio/wav" }]), {
      code: -32602,
      message: 'Invalid params: "prompt[0].data" must be base64 with its padding',
      data: { field: "prompt[0].data" },
    }, JSON.stringify(data));
  }
});

Deno.test("[F7] bytes above the cap are refused by name, before they are decoded or as soon as they are there", () => {
  const units = 4 * (Math.floor(LIMITS.artifactBytes / 3) + 2);
  const text = "x".repeat(LIMITS.artifactBytes + 1);
  const blocks: readonly [string, PromptParams["prompt"][number]][] = [
    ["prompt[0].data", { type: "image", data: "A".repeat(units), mimeType: "image/png" }],
    ["prompt[0].resource.text", { type: "resource", resource: { uri: "file:///w/a", text } }],
  ];
  for (const [field, block] of blocks) {
    const error = assertThrows(
      () => draftOf({ sessionId: "s", prompt: [block] }, { image: true, audio: true, embeddedContext: true }),
      RequestError,
    );
    assertEquals([error.code, error.data], [-32602, { field }]);
  }
});

Deno.test("[F7] metadata up to the limit passes through, a larger or deeper one is left out", async () => {
  const fits = { a: "x".repeat(LIMITS.metaBytes - '{"a":""}'.length) };
  const large = { a: fits.a + "x" };
  for (
    const [_meta, meta] of [[fits, fits], [large, undefined], [[1], undefined], ["x", undefined]] as const
  ) {
    assertEquals(await prompted([{ type: "text", text: "x", _meta }], undefined, { _meta }), {
      parts: [{ kind: "text", text: "x", meta }],
      meta,
    });
  }
  const front = new Front({ judged: false });
  const sessionId = await front.open();
  const line = JSON.stringify({
    jsonrpc: "2.0",
    id: "deep",
    method: "session/prompt",
    params: { sessionId, prompt: [{ type: "text", text: "x" }], _meta: 0 },
  });
  await front.bytes(
    line.replace('"_meta":0', `"_meta":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`) + "\n",
  );
  assertEquals((await front.answer("deep")).result, { stopReason: "end_turn" });
  assertEquals(front.sessions.drafts[0]?.meta, undefined);
  await front.end();
});
