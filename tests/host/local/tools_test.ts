import { assertEquals } from "@std/assert";
import { decodeBody, type Row } from "../../../src/model/row.ts";
import type { Frame } from "../../../src/model/frame.ts";
import type { ToolInput, ToolRecord } from "../../../src/model/tool.ts";
import { ended, opened, type Script, started, until, worldOf } from "./world.ts";

const TOOL: ToolInput = { complete: true, sensitive: false, title: "Tool", kind: "other", locations: [] };

/** Frames and tool rows of one Turn. */
async function told(script: Script): Promise<{ frames: readonly Frame[]; rows: readonly Row[] }> {
  await using world = worldOf(script);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const { rows } = await subscription.read({ after: 0, maxLength: 100_000 });
  return { frames, rows: rows.filter((row) => row.kind === "tool") };
}

function recordOf({ body }: Row): ToolRecord {
  const decoded = decodeBody("tool", body?.text ?? "");
  if (decoded.kind !== "tool") throw new Error("The row is no tool's");
  return decoded.tool;
}

Deno.test("[K2] a sensitive tool is recorded as one, also where that came with a later input", async () => {
  const { rows } = await told(async (_turn, sink) => {
    await sink.toolStart("plain", TOOL);
    await sink.toolStart("secret", { ...TOOL, sensitive: true });
    await sink.toolStart("later", TOOL);
    await sink.toolInput("later", { ...TOOL, sensitive: true });
  });
  assertEquals(rows.map(({ id, sensitive }) => [id, sensitive]), [
    ["plain", false],
    ["secret", true],
    ["later", true],
  ]);
});

Deno.test("[K4] nothing that is said of a tool after its end begins it again", async () => {
  const { frames, rows } = await told(async (_turn, sink) => {
    await sink.toolStart("x", TOOL);
    await sink.toolResult("x", { status: "completed", content: [{ kind: "text", text: "done" }], diffs: [] });
    await sink.toolStart("x", TOOL);
    await sink.toolInput("x", { ...TOOL, title: "late" });
    await sink.toolOutput("x", "stdout", "late");
    await sink.toolProgress("x", "late");
    await sink.toolResult("x", { status: "failed", content: [], diffs: [] });
  });
  assertEquals(frames.flatMap(({ type }) => type.startsWith("tool_") ? [type] : []), [
    "tool_start",
    "tool_input",
    "tool_result",
  ]);
  assertEquals(rows.map(recordOf), [{
    toolCallId: "x",
    input: TOOL,
    result: { status: "completed", content: [{ kind: "text", text: "done" }], diffs: [] },
  }]);
});

Deno.test("[K7] a tool without a result ends with its Turn: its row is complete and announced by nobody", async () => {
  const { frames, rows } = await told(async (_turn, sink) => {
    await sink.toolStart("x", TOOL);
    await sink.toolOutput("x", "stdout", "so far");
  });
  assertEquals(rows.map((row) => [row.complete, recordOf(row).result, recordOf(row).output]), [
    [true, undefined, { text: "so far", dropped: 0 }],
  ]);
  assertEquals(frames.filter((frame) => frame.type === "tool_result"), []);
});

Deno.test("[K9] a tool without a result is kept with how its Turn ended, so that a replay can say it", async () => {
  const start: Script = (_turn, sink) => sink.toolStart("x", TOOL);
  const broken: Script = async (turn, sink, signal) => {
    await start(turn, sink, signal);
    throw new Error("broken");
  };
  for (const [script, how] of [[start, "completed"], [broken, "failed"]] as const) {
    const { rows } = await told(script);
    assertEquals(rows.map((row) => recordOf(row).cutShort), [how]);
  }
});
