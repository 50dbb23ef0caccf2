import { assertEquals, assertMatch } from "@std/assert";
import { Editor } from "./editor.ts";
import { BARE, INPUT, input, output, projection, record, result, toolRow } from "./frames.ts";
import type { ToolInput } from "../../src/model/tool.ts";

const CHANGE = { path: "/w/a.ts", oldText: "one\n", newText: "two\n" };
const PROPOSED: ToolInput = {
  ...INPUT,
  shown: { content: [{ kind: "terminal", terminalId: "term" }], diffs: [CHANGE] },
};

Deno.test("[E1] [K10] a tool shows the change that it proposes before its result, also inside a dialog", () => {
  const editor = new Editor();
  const turn = projection();
  editor.take(turn.apply(input("t", PROPOSED), 0));
  assertEquals(editor.card("t").content, [
    { type: "diff", ...CHANGE },
    { type: "terminal", terminalId: "term" },
  ]);
  assertEquals(turn.card("t")?.content, [{ type: "diff", ...CHANGE }]);
  const later = { ...CHANGE, newText: "three\n" };
  editor.take(turn.apply(input("t", { ...PROPOSED, shown: { content: [], diffs: [later] } }), 1000));
  assertEquals(editor.card("t").content, [{ type: "diff", ...later }]);
  editor.take(turn.apply(result("t", { content: [{ kind: "text", text: "Written" }], diffs: [] }), 2000));
  assertEquals(editor.card("t").content, [{ type: "content", content: { type: "text", text: "Written" } }]);
});

Deno.test("[E1] [K1] how far a tool is, is what it says where it says so, and else follows from what it does", () => {
  const shown = projection();
  const editor = new Editor();
  const statuses: Record<string, unknown> = {};
  for (
    const [id, status] of [["says", "pending"], ["works", "in_progress"], ["silent", undefined]] as const
  ) {
    editor.take(shown.apply(input(id, { ...(status !== undefined && { status }) }), 0));
    statuses[id] = editor.card(id).status;
  }
  assertEquals(statuses, { says: "pending", works: "in_progress", silent: "pending" });
  editor.take(shown.tick(60_000));
  assertEquals(["says", "works", "silent"].map((id) => editor.card(id).status), [
    "pending",
    "in_progress",
    "in_progress",
  ]);
  // A dialog about it changes nothing about that.
  editor.take(shown.hold("says", 60_000));
  editor.take(shown.release("says", 60_001));
  editor.take(shown.tick(120_000));
  assertEquals(editor.card("says").status, "pending");
  editor.take(shown.apply(input("says", { status: "in_progress" }), 120_000));
  assertEquals(editor.card("says").status, "in_progress");
});

Deno.test("[E1] what an Engine adds to a tool passes through to its card", () => {
  const editor = new Editor();
  const frame = input("t", { ...INPUT, meta: { agent: { tool: "Edit" } } });
  editor.take(projection().apply({ ...frame, meta: { agent: { tool: "Edit" } } }, 0));
  assertEquals(editor.card("t")._meta, { agent: { tool: "Edit" } });
});

Deno.test("[K10] a terminal is on the card while its tool works, beside what the tool proposes and writes", () => {
  const editor = new Editor();
  const turn = projection();
  editor.take(turn.apply(input("t"), 0));
  const shown = { content: [], diffs: [CHANGE] };
  editor.take(turn.apply(input("t", { terminalId: "term", shown }), 1000));
  editor.take(turn.apply(output("t", 0, "written\n"), 2000));
  const types = () => editor.card("t").content?.map((item) => item.type);
  assertEquals(types(), ["diff", "terminal", "content"]);
  assertEquals(editor.words("t").trim(), "```\nwritten\n```");
  editor.take(turn.apply(result("t", { content: [], exitCode: 0 }), 3000));
  assertEquals(
    types(),
    ["diff", "terminal", "content", "content"],
    "a result without content replaces nothing",
  );
  const bare = new Editor();
  const other = projection(BARE);
  bare.take(other.apply(input("t", { terminalId: "term" }), 0));
  assertEquals(bare.card("t").content, undefined);
});

Deno.test("[K10] a terminal that was not told live is left out", () => {
  const editor = new Editor();
  const turn = projection();
  const proposed = { ...PROPOSED, terminalId: "gone" };
  const open = toolRow(record("t", {}, { open: true, input: proposed }), { complete: false });
  editor.take(turn.read(open, 0));
  assertEquals(editor.card("t").content?.map((item) => item.type), ["diff"]);
  editor.take(turn.apply(input("u", proposed), 0));
  editor.take(turn.read(toolRow(record("u", {}, { open: true, input: proposed }), { complete: false }), 300));
  assertEquals(editor.card("u").content?.map((item) => item.type), ["diff", "terminal", "terminal"]);
});

Deno.test("[K8] [A1] a large proposal leaves room for what the tool writes", () => {
  const editor = new Editor();
  const turn = projection();
  const content = [{ kind: "text", text: "p".repeat(100_000) } as const];
  editor.take(turn.apply(input("t", { shown: { content, diffs: [] } }), 0));
  editor.take(turn.apply(output("t", 0, `${"o".repeat(60_000)}\n`), 1000));
  editor.take(turn.apply(result("t", { content: [] }), 2000));
  const [proposal, written] = editor.card("t").content ?? [];
  assertMatch(proposal?.content?.text ?? "", /^p+\n\[\d+ characters not shown\]\np+$/);
  assertMatch(written?.content?.text ?? "", /^```\n\[\d+ earlier characters not shown\]\no{15000,}\n```$/);
});
