import { assertEquals } from "@std/assert";
import { ALL, input, projection, record, result, texts, toolRow } from "./frames.ts";
import { Editor } from "./editor.ts";
import { Replay } from "../../src/projection/mod.ts";

Deno.test("[K2] a replay shows nothing raw of a sensitive tool, whichever of row and input says that it is one", () => {
  const raw = { path: "x" };
  const cases = [
    { name: "plain", row: false, input: false, shows: [raw, raw] },
    { name: "sensitive by its row", row: true, input: false, shows: [undefined, undefined] },
    { name: "sensitive by its input", row: false, input: true, shows: [undefined, undefined] },
  ];
  for (const { name, row, input: inside, shows } of cases) {
    const editor = new Editor();
    const tool = record("t", { raw });
    const part = toolRow({ ...tool, input: { ...tool.input, raw, sensitive: inside } }, { sensitive: row });
    editor.take(new Replay({ abilities: ALL, redact: (text) => text, live: [] }).read(part, 0));
    assertEquals([editor.card("t").rawInput, editor.card("t").rawOutput], shows, name);
  }
});

Deno.test("[K4] a row that ended otherwise than its frame corrects the content and not the status", () => {
  const editor = new Editor();
  const shown = projection();
  editor.take(shown.apply(input("t"), 0));
  editor.take(shown.apply(result("t"), 1));
  editor.take(shown.read(toolRow(record("t", { status: "failed", content: texts("from the row") })), 2));
  assertEquals([editor.card("t").status, editor.words("t")], ["completed", "from the row"]);
});
