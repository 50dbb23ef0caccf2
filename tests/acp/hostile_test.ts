import { assert, assertEquals, assertRejects } from "@std/assert";
import { ClientRefused } from "../../src/session/ports.ts";
import { Front } from "./front.ts";
import { LIMITS } from "../../src/limits.ts";

/** What comes back, short: the id and the code of an error or the word `result`. */
type Answer = [id: string | number | null, outcome: number | "result"];

interface Case {
  readonly name: string;
  readonly input: string | Uint8Array;
  readonly answers: Answer[];
}

const SECRET = "hunter2";
const encoder = new TextEncoder();
const list = (id: unknown) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"session/list"}\n`;

const table: Case[] = [
  { name: "broken JSON", input: `{"jsonrpc":"2.0","id":7,"method":"${SECRET}\n`, answers: [[null, -32700]] },
  { name: "half a line and a next one", input: `{"a":\n`, answers: [[null, -32700]] },
  { name: "bytes that are no text", input: Uint8Array.of(0xff, 0xfe, 0x00, 0x0a), answers: [[null, -32700]] },
  { name: "a hundred thousand open brackets", input: "[".repeat(100_000) + "\n", answers: [[null, -32700]] },
  { name: "an array", input: `[{"jsonrpc":"2.0","id":1,"method":"${SECRET}"}]\n`, answers: [[null, -32600]] },
  { name: "an empty array", input: "[]\n", answers: [[null, -32600]] },
  { name: "a number", input: "42\n", answers: [[null, -32600]] },
  { name: "a string", input: `"${SECRET}"\n`, answers: [[null, -32600]] },
  { name: "null", input: "null\n", answers: [[null, -32600]] },
  { name: "an empty object", input: "{}\n", answers: [[null, -32600]] },
  {
    name: "no jsonrpc",
    input: `{"id":5,"method":"session/list","token":"${SECRET}"}\n`,
    answers: [[5, -32600]],
  },
  {
    name: "another jsonrpc",
    input: `{"jsonrpc":"1.0","id":5,"method":"session/list"}\n`,
    answers: [[5, -32600]],
  },
  {
    name: "an object for an id",
    input: `{"jsonrpc":"2.0","id":{"k":"${SECRET}"},"method":"x"}\n`,
    answers: [[null, -32600]],
  },
  {
    name: "a list for an id",
    input: `{"jsonrpc":"2.0","id":["${SECRET}"],"method":"x"}\n`,
    answers: [[null, -32600]],
  },
  { name: "true for an id", input: `{"jsonrpc":"2.0","id":true,"method":"x"}\n`, answers: [[null, -32600]] },
  { name: "an infinite id", input: `{"jsonrpc":"2.0","id":1e999,"method":"x"}\n`, answers: [[null, -32600]] },
  { name: "a number for a method", input: `{"jsonrpc":"2.0","id":6,"method":7}\n`, answers: [[6, -32600]] },
  { name: "null for a method", input: `{"jsonrpc":"2.0","id":6,"method":null}\n`, answers: [[6, -32600]] },
  {
    name: "an unknown method",
    input: `{"jsonrpc":"2.0","id":6,"method":"session/nowhere"}\n`,
    answers: [[6, -32601]],
  },
  {
    name: "an own method",
    input: `{"jsonrpc":"2.0","id":6,"method":"_zed/x","params":{}}\n`,
    answers: [[6, -32601]],
  },
  {
    name: "a method of Object",
    input: `{"jsonrpc":"2.0","id":6,"method":"toString"}\n`,
    answers: [[6, -32601]],
  },
  {
    name: "a cancel that asks for an answer",
    input: `{"jsonrpc":"2.0","id":6,"method":"session/cancel","params":{}}\n`,
    answers: [[6, -32601]],
  },
  { name: "an unknown notification", input: `{"jsonrpc":"2.0","method":"session/nowhere"}\n`, answers: [] },
  {
    name: "a notification without sense",
    input: `{"jsonrpc":"2.0","method":"session/cancel","params":[1]}\n`,
    answers: [],
  },
  {
    name: "a cancel of nothing",
    input: `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":77}}\n`,
    answers: [],
  },
  { name: "an answer to nothing", input: `{"jsonrpc":"2.0","id":99,"result":{}}\n`, answers: [] },
  {
    name: "an error answer to nothing",
    input: `{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"no"}}\n`,
    answers: [],
  },
  { name: "an answer that is none", input: `{"jsonrpc":"2.0","id":99}\n`, answers: [] },
  {
    name: "a text for parameters",
    input: `{"jsonrpc":"2.0","id":6,"method":"session/close","params":"x"}\n`,
    answers: [[6, -32602]],
  },
  { name: "an id of null", input: list(null), answers: [[null, "result"]] },
  { name: "a fraction for an id", input: list(1.5), answers: [[1.5, "result"]] },
  { name: "a text for an id", input: list("x"), answers: [["x", "result"]] },
  { name: "an id twice in flight", input: list(8) + list(8), answers: [[8, "result"], [8, "result"]] },
  {
    name: "empty lines and carriage returns",
    input: "\n\r\n  \n" + list(3).replace("\n", "\r\n"),
    answers: [[3, "result"]],
  },
  { name: "no line end at the end", input: list(4).trimEnd(), answers: [[4, "result"]] },
  {
    name: "a prototype in the parameters",
    input: `{"jsonrpc":"2.0","id":6,"method":"session/list","params":{"__proto__":{"cursor":5}}}\n`,
    answers: [[6, "result"]],
  },
];

for (const { name, input, answers } of table) {
  Deno.test(`[A2] ${name} is answered with ${JSON.stringify(answers)} and the next request works`, async () => {
    const front = new Front({ judged: false });
    await front.initialize();
    await front.bytes(input);
    if (answers.every(([id]) => id !== 4)) await front.bytes("\n" + list("next"));
    const seen = await front.end();
    const wanted: Answer[] = answers.every(([id]) => id !== 4) ? [...answers, ["next", "result"]] : answers;
    assertEquals(seen.map(({ id, error }) => [id, error?.code ?? "result"]), wanted);
    assert(!JSON.stringify(seen).includes(SECRET), "an error repeats what came");
  });
}

Deno.test("[A2] a request before the handshake is refused, a notification is dropped, and the handshake still works", async () => {
  const front = new Front({ judged: false });
  await front.bytes(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}\n` + list(1));
  assertEquals((await front.answer(1)).error?.code, -32600);
  await front.bytes(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}\n` + list(3));
  assertEquals((await front.answer(2)).error, {
    code: -32602,
    message: 'Invalid params: "protocolVersion" is missing: it must be a number',
    data: { field: "protocolVersion" },
  });
  assertEquals((await front.answer(3)).error?.code, -32600, "a handshake that failed opens nothing");
  await front.initialize();
  assertEquals((await front.request("session/list", {})).error, undefined);
  assertEquals(await front.end(), []);
});

Deno.test("[A7] an over-long request is answered by its id and named limit, and the next one works", async () => {
  const front = new Front({ judged: false });
  await front.initialize();
  const filling = "x".repeat(LIMITS.inputLineBytes + 1);
  const heads: [head: string, id: string | number | null][] = [
    ['{"jsonrpc":"2.0","id":41,"method":"session/prompt","params":"', 41],
    ['{ "method" : "session/prompt", "jsonrpc":"2.0", "id": "m", "params":"', "m"],
    ['{"id":43,"method":"x","params":"', 43],
    ['{"jsonrpc":"2.0","params":{"id":44},"id":45,"method":"', null],
    ['{"jsonrpc":"2.0","id":"a\tb","method":"x","params":"', "a\tb"],
    ["", null],
  ];
  for (const [head, id] of heads) {
    await front.bytes(encoder.encode(head + filling + "\n"));
    assertEquals(await front.take(), {
      jsonrpc: "2.0",
      id,
      error: {
        code: -32600,
        message:
          `Invalid request: the message is longer than ${LIMITS.inputLineBytes} bytes, the most that one line may hold`,
        data: { code: "line_too_long", limit: LIMITS.inputLineBytes },
      },
    });
  }
  assertEquals((await front.request("session/list", {})).error, undefined);
  assertEquals(await front.end(), []);
});

Deno.test("[A7] an over-long answer fails the request that waits for it", async () => {
  const front = new Front({ judged: false });
  await front.open();
  const answer = assertRejects(
    () => front.parts.client.request("fs/read_text_file", {}, new AbortController().signal),
    ClientRefused,
    `longer than ${LIMITS.inputLineBytes} bytes`,
  );
  const { id } = await front.take((line) => line.method === "fs/read_text_file");
  await front.bytes(
    encoder.encode(`{"jsonrpc":"2.0","id":${id},"result":"${"x".repeat(LIMITS.inputLineBytes)}"}\n`),
  );
  await answer;
  assertEquals((await front.end()).filter((line) => line.error !== undefined), []);
});

Deno.test("[A2] past the limit of requests at hand the next one is refused and none is lost", async () => {
  const front = new Front({
    prepare: (sessions) => sessions.prompted = (_, id, __, signal) => sessions.untilCancelled(id, signal),
  });
  const sessionId = await front.open();
  const prompts = Array.from(
    { length: LIMITS.requestsAtHand + 1 },
    () => front.message("session/prompt", { sessionId, prompt: [{ type: "text", text: "x" }] }),
  );
  await front.send(...prompts);
  assertEquals((await front.answer(prompts.at(-1)!.id)).error?.code, -32603);
  await front.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
  const ended = (await front.end()).filter((line) => line.method === undefined);
  assertEquals(
    ended.map((line) => [line.id, line.result?.stopReason]),
    prompts.slice(0, -1).map(({ id }) => [id, "cancelled"]),
  );
});
