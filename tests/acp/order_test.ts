import { assertEquals } from "@std/assert";
import { Front } from "./front.ts";

const place = { cwd: "/work", mcpServers: [] };

Deno.test("[A3] initialize and the requests behind it in one write are answered in order", async () => {
  const front = new Front();
  const messages = [
    front.message("initialize", { protocolVersion: 1 }),
    front.message("session/new", place),
    front.message("session/list", {}),
  ];
  await front.send(...messages);
  const lines = await front.end();
  assertEquals(lines.map((line) => [line.id, line.error]), messages.map(({ id }) => [id, undefined]));
});
