import { assertEquals } from "@std/assert";
import { greeting } from "../../../src/engine/acp/hello.ts";

Deno.test("[E1] an agent is told of an editor's own abilities, but for output in pieces of metadata", () => {
  const capabilities = {
    terminal_output: true,
    terminal_output_delta: true,
    "terminal-auth": true,
    mine: { a: 1 },
  };
  const services = { readTextFile: true, writeTextFile: false, terminal: true, forms: false };
  const told =
    greeting({ ...services, hello: { terminalLogin: false, capabilities } }, "0.0.0").clientCapabilities;
  assertEquals(told, {
    fs: { readTextFile: true, writeTextFile: false },
    terminal: true,
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    _meta: { "terminal-auth": true, mine: { a: 1 } },
  });
});
