import { assertEquals } from "@std/assert";
import type { ArtifactReference } from "../../../src/model/artifact.ts";
import type { PromptPart } from "../../../src/model/prompt.ts";
import { Stage } from "./stage.ts";

const URI = "file:///w/a%20b.ts#L3:9";

/** Parts of every kind over bytes that `keep` holds. */
function parts(
  keep: (name: string, mimeType: string, bytes: Uint8Array | string) => ArtifactReference,
): PromptPart[] {
  return [
    { kind: "text", text: "prompt" },
    {
      kind: "link",
      uri: URI,
      name: "a b.ts",
      title: "A",
      description: "B",
      mimeType: "text/plain",
      lines: { from: 3, to: 9 },
      artifact: keep("a b.ts", "text/plain", "linked"),
    },
    {
      kind: "resource",
      uri: "note://1",
      mimeType: "text/plain",
      artifact: keep("1", "text/plain", "\ufeffnoted\r\n"),
    },
    { kind: "resource", uri: "bin://1", artifact: keep("1", "x/y", new Uint8Array([255, 0])) },
    {
      kind: "image",
      mimeType: "image/png",
      uri: "file:///i.png",
      artifact: keep("i.png", "image/png", "png"),
    },
    { kind: "audio", mimeType: "audio/wav", artifact: keep("audio", "audio/wav", "wav") },
  ];
}

const LINK = {
  type: "resource_link",
  uri: URI,
  name: "a b.ts",
  mimeType: "text/plain",
  title: "A",
  description: "B",
};

Deno.test("[E1] a prompt reaches the agent as it was, links with their own URI, bytes inside", async () => {
  const takes = { image: true, audio: true, embeddedContext: true };
  await using stage = new Stage({ initialize: { agentCapabilities: { promptCapabilities: takes } } });
  const visit = await stage.open();
  const { sink } = await visit.run(parts((...file) => visit.host.keep(...file)));
  assertEquals(sink.all("notice"), []);
  assertEquals(JSON.parse(sink.said()).prompt, [
    { type: "text", text: "prompt" },
    LINK,
    { type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "\ufeffnoted\r\n" } },
    { type: "resource", resource: { uri: "bin://1", blob: "/wA=" } },
    { type: "image", mimeType: "image/png", data: "cG5n", uri: "file:///i.png" },
    { type: "audio", mimeType: "audio/wav", data: "d2F2" },
  ]);
});

Deno.test("[E1] what the agent does not take becomes a link, and that is said", async () => {
  await using stage = new Stage();
  const visit = await stage.open();
  const { sink } = await visit.run(parts((...file) => visit.host.keep(...file)));
  assertEquals(JSON.parse(sink.said()).prompt, [
    { type: "text", text: "prompt" },
    LINK,
    { type: "resource_link", uri: "note://1", name: "1", mimeType: "text/plain", size: 10 },
    { type: "resource_link", uri: "bin://1", name: "1", size: 2 },
    { type: "resource_link", uri: "file:///i.png", name: "i.png", mimeType: "image/png", size: 3 },
    { type: "resource_link", uri: "artifact:artifact4", name: "audio", mimeType: "audio/wav", size: 3 },
  ]);
  assertEquals(sink.all("notice").map(([, , , text]) => text), [
    "1: the agent takes no embedded resources",
    "1: the agent takes no embedded resources",
    "i.png: the agent takes no images",
    "audio: the agent takes no audio",
  ]);
});

Deno.test("[E1] what is too large for one line becomes a link", async () => {
  await using stage = new Stage({
    initialize: { agentCapabilities: { promptCapabilities: { embeddedContext: true } } },
  });
  const visit = await stage.open();
  const artifact = visit.host.keep("big", "x/y", new Uint8Array(17 * 1024 * 1024));
  const { sink } = await visit.run([
    { kind: "text", text: "prompt" },
    { kind: "resource", uri: "big://1", artifact },
  ]);
  assertEquals(JSON.parse(sink.said()).prompt[1], {
    type: "resource_link",
    uri: "big://1",
    name: "big",
    size: artifact.size,
  });
  assertEquals(sink.all("notice").map(([, , , text]) => text), ["big: too large"]);
});
