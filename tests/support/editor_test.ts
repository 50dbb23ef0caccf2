import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Editor, withEditor } from "./editor.ts";
import { script } from "./launch.ts";

const launch = script("tests/support/fake_agent.ts");

async function failure(body: (editor: Editor) => Promise<void>): Promise<string> {
  const error = await assertRejects(() => withEditor({ launch }, body), Error);
  return error.message;
}

Deno.test("an editor reports whatever is wrong with the conversation", async (t) => {
  await t.step("a line that is no message", async () => {
    const message = await failure(async (editor) => {
      await editor.initialize();
      editor.notify("_write", { lines: ["log: ready"] });
      await editor.until((entry) => entry.text === "log: ready" || undefined, "the line");
    });
    assertStringIncludes(message, "no JSON-RPC message");
  });

  await t.step("a request without an answer, with the whole wire", async () => {
    const message = await failure(async (editor) => {
      await editor.initialize();
      void editor.call("session/list", {});
      await editor.until(() => undefined, "what never comes", { deadlineMs: 50 });
    });
    assertStringIncludes(message, "Nothing for 50 ms while waiting for what never comes");
    assertStringIncludes(message, '"method":"session/list"');
  });

  await t.step("an answer that is missing at the end", async () => {
    const message = await failure(async (editor) => {
      await editor.initialize();
      void editor.call("session/list", {});
    });
    assertStringIncludes(message, 'request 2 "session/list" was never answered');
  });

  await t.step("an exit in the middle", async () => {
    const message = await failure(async (editor) => {
      await editor.initialize();
      editor.notify("_exit", { code: 3 });
      await editor.request("session/list", {});
    });
    assertStringIncludes(message, "The agent's output ended while waiting for an answer");
  });

  await t.step("an exit code", async () => {
    const message = await failure(async (editor) => {
      await editor.initialize();
      editor.notify("_exit", { code: 3 });
      await editor.exited();
    });
    assertStringIncludes(message, "the exit code is 3");
  });
});

Deno.test("an editor that holds its reading gets everything when it reads on", async () => {
  await withEditor({ launch }, async (editor) => {
    await editor.initialize();
    editor.hold();
    const line = JSON.stringify({ jsonrpc: "2.0", method: "_word", params: { text: "x".repeat(1000) } });
    editor.notify("_write", { lines: Array(500).fill(line) });
    const before = editor.wire.count;
    // The pipe takes 64 KiB and the reader what it had asked for before.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const held = editor.wire.count - before;
    editor.release();
    await editor.until((entry) => entry.index === before + 499 ? true : undefined, "the last line");
    assertEquals(held < 250, true, `${held} lines were read while holding`);
  });
});
