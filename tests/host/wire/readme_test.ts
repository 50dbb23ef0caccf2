import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import {
  readAnswer,
  readClientMessage,
  readHello,
  readHostMessage,
} from "../../../src/host/wire/protocol.ts";
import { isOperation, OPERATIONS } from "../../../src/host/wire/operations.ts";
import { WIRE_LIMITS } from "../../../src/host/wire/limits.ts";
import { faultOf } from "../../../src/host/wire/shape.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { worldOf } from "../local/world.ts";
import { Wire } from "./line.ts";
import { Raw } from "./raw.ts";

const README = await Deno.readTextFile(new URL("../../../src/host/wire/README.md", import.meta.url));

/** The fenced examples, with what stands behind `json`. */
const EXAMPLES = [...README.matchAll(/^```json ?(\w*)\n([\s\S]*?)^```$/gm)].map(([, by = "", text = ""]) => ({
  by,
  message: JSON.parse(text) as JsonObject,
}));

/** What is wrong with an example as either side reads it. */
function faultIn(message: JsonObject): string | undefined {
  const line = JSON.stringify(message);
  switch (message.type) {
    case "hello":
      readHello(line);
      return undefined;
    case "welcome":
    case "refused":
      readAnswer(line);
      return undefined;
    case "ask": {
      const { op, of } = message;
      return isOperation(op) ? faultOf(OPERATIONS[op].of, of) : "there is no such operation";
    }
    case "ack":
    case "drop": {
      const read = readClientMessage(line);
      return "fault" in read ? read.fault : undefined;
    }
    default:
      return readHostMessage(line) === undefined ? "no Host sends it" : undefined;
  }
}

Deno.test("[W2] every message on the page is one", () => {
  const alone = EXAMPLES.filter(({ by }) => by === "");
  assert(alone.length >= 12, `${alone.length} examples`);
  for (const { message } of alone) assertEquals(faultIn(message), undefined, JSON.stringify(message));
});

Deno.test("the limits on the page are those in force", () => {
  const welcome = EXAMPLES.find(({ message }) => message.type === "welcome");
  assertObjectMatch(WIRE_LIMITS, welcome?.message.limits as Record<string, number>);
});

Deno.test("[W2] the conversation on the page goes as it says", async () => {
  await using world = worldOf(() => Promise.resolve());
  await using wire = new Wire({ host: world.host, clock: world.clock });
  const raw = new Raw(await wire.dial());
  const lines = EXAMPLES.filter(({ by }) => by !== "");
  assertEquals(lines.length, 15);
  try {
    for (const { by, message } of lines) {
      if (by === "client") await raw.say(message);
      else assertObjectMatch(await raw.until(String(message.type)), message);
    }
  } finally {
    raw.close();
  }
});
