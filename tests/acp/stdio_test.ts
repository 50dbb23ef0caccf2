import { assert, assertEquals } from "@std/assert";
import type { Seen } from "./front.ts";

const PROGRAM = new URL("./program.ts", import.meta.url).pathname;
const encoder = new TextEncoder();

/** The program as a child, with its lines. */
class Child {
  readonly child: Deno.ChildProcess;
  #input: WritableStreamDefaultWriter<Uint8Array>;
  #output: ReadableStreamDefaultReader<string>;
  #rest = "";
  #nextId = 1;

  constructor() {
    this.child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--no-prompt", PROGRAM],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.child.stdin.getWriter();
    this.#output = this.child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Sends requests in one write. */
  async send(...requests: [method: string, params: object][]): Promise<void> {
    const lines = requests.map(([method, params]) =>
      JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params }) + "\n"
    );
    await this.#input.write(encoder.encode(lines.join("")));
  }

  /** The next line; undefined at the end. A line that is no JSON is an error. */
  async line(): Promise<Seen | undefined> {
    for (;;) {
      const at = this.#rest.indexOf("\n");
      if (at !== -1) {
        const line = this.#rest.slice(0, at);
        this.#rest = this.#rest.slice(at + 1);
        return JSON.parse(line);
      }
      const { done, value } = await this.#output.read();
      if (done) return undefined;
      this.#rest += value;
    }
  }

  /** A handshake, a Session and a prompt, in one write. Returns when the first two are answered. */
  async start(prompt: string): Promise<void> {
    await this.send(...greeting(prompt));
    await this.line();
    await this.line();
  }

  endInput(): Promise<void> {
    return this.#input.close();
  }

  /** Stops reading. */
  async deafen(): Promise<void> {
    await this.#output.cancel();
  }

  /** Waits for the end: the exit code, what it said on stderr, the lines that were left. */
  async end(): Promise<{ code: number; errors: string; lines: Seen[] }> {
    const errors = new Response(this.child.stderr).text();
    const lines: Seen[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) lines.push(line);
    const { code } = await this.child.status;
    await this.#input.close().catch(() => {});
    return { code, errors: await errors, lines };
  }
}

const greeting = (prompt: string): [string, object][] => [
  ["initialize", { protocolVersion: 1 }],
  ["session/new", { cwd: "/work", mcpServers: [] }],
  ["session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: prompt }] }],
];

/** The quickest of a few tries, in milliseconds: a busy machine may be late once. */
async function quickest(attempt: () => Promise<number>): Promise<number> {
  let best = Infinity;
  for (let tries = 0; tries < 3 && best >= 1000; tries++) best = Math.min(best, await attempt());
  return best;
}

Deno.test("[A1] [A6] what a library prints is neither on stdout nor on stderr", async () => {
  const child = new Child();
  await child.send(...greeting("/print"));
  await child.endInput();
  const { code, errors, lines } = await child.end();
  assertEquals([code, errors], [0, ""]);
  assertEquals(lines.map(({ id, error }) => [id, error]), [1, 2, 3].map((id) => [id, undefined]));
});

Deno.test("[A5] what is written before the input ends is answered, then the program ends with 0", async () => {
  const child = new Child();
  await child.send(...greeting("/emit 1000 16"));
  await child.endInput();
  const { code, lines } = await child.end();
  assertEquals(code, 0);
  assertEquals(lines.length, 1003);
  assertEquals(lines.at(-1), { jsonrpc: "2.0", id: 3, result: { stopReason: "end_turn" } });
});

Deno.test("[A5] the input's end in mid-Turn ends the program with 0 within a second", async () => {
  const ms = await quickest(async () => {
    const child = new Child();
    await child.start("/wait");
    const ended = performance.now();
    await child.endInput();
    assertEquals((await child.end()).code, 0);
    return performance.now() - ended;
  });
  assert(ms < 1000, `${ms} ms`);
});

for (const [signal, number] of [["SIGTERM", 15], ["SIGINT", 2], ["SIGHUP", 1]] as const) {
  Deno.test({
    name: `[A5] ${signal} in mid-Turn ends the program with ${128 + number} within a second`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      const ms = await quickest(async () => {
        const child = new Child();
        await child.start("/wait");
        const ended = performance.now();
        child.child.kill(signal);
        assertEquals((await child.end()).code, 128 + number);
        return performance.now() - ended;
      });
      assert(ms < 1000, `${ms} ms`);
    },
  });
}

Deno.test("[A5] a Client that closes its end while updates stream ends the program with 0, without a word", async () => {
  const child = new Child();
  await child.start("/emit 100000000 1000");
  await child.line();
  await child.deafen();
  const { code, errors } = await child.end();
  assertEquals([code, errors], [0, ""]);
});
