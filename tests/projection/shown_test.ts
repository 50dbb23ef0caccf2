import { assertEquals } from "@std/assert";
import { Editor } from "./editor.ts";
import { INPUT, input, projection, result } from "./frames.ts";
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

Deno.test("[E1] what an Engine adds to a tool passes through to its card", () => {
  const editor = new Editor();
  const frame = input("t", { ...INPUT, meta: { agent: { tool: "Edit" } } });
  editor.take(projection().apply({ ...frame, meta: { agent: { tool: "Edit" } } }, 0));
  assertEquals(editor.card("t")._meta, { agent: { tool: "Edit" } });
});
