import type { JsonObject } from "../../src/model/json.ts";
import type { Launch } from "../../src/cli/launch.ts";

/** A line that is no `session/update`. */
type Message = JsonObject & { readonly id?: number; readonly method?: string };

/** How the probe reads what the agent writes. */
export type Reading =
  /** Counts updates without parsing them. */
  | "counting"
  /** Parses every update, to add up its text. */
  | "parsing"
  /** Takes every word of an update for the moment at which it left. */
  | "timing";

const UPDATE = '"session/update"';

/** An editor that does as little as possible, so that what it measures is the agent. */
export class Probe {
  /** Updates so far, and the bytes of all lines. */
  updates = 0;
  bytes = 0;
  /** Bytes of the longest line so far. */
  longest = 0;
  /** UTF-16 units of message text so far; only while parsing. */
  text = 0;
  /** Milliseconds that each update was on its way; only while timing. */
  readonly delays: number[] = [];
  /** The moments at which they left; only while timing. */
  readonly moments: number[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #pending = new Map<number, PromiseWithResolvers<JsonObject>>();
  readonly #reading: Promise<void>;
  readonly #encoder = new TextEncoder();
  #nextId = 1;
  #mode: Reading;
  #awake: Promise<void> = Promise.resolve();
  #updated: PromiseWithResolvers<void> | undefined;
  #asked: PromiseWithResolvers<void> | undefined;

  /** Starts the agent. */
  constructor({ program, args }: Launch, mode: Reading = "counting") {
    this.#mode = mode;
    this.#child = new Deno.Command(program, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Process id of the agent. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a request; resolves with its result. */
  async request(method: string, params: JsonObject): Promise<JsonObject> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<JsonObject>();
    this.#pending.set(id, answer);
    this.#send({ id, method, params });
    return await answer.promise;
  }

  /** Sends initialize. */
  initialize(): Promise<JsonObject> {
    return this.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  }

  /** Opens a Session and returns its id. */
  async session(cwd: string): Promise<string> {
    return String((await this.request("session/new", { cwd, mcpServers: [] })).sessionId);
  }

  /** Sends a prompt and returns its stop reason. */
  async prompt(sessionId: string, text: string): Promise<string> {
    const answer = await this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    return String(answer.stopReason);
  }

  /** Sends a cancel. */
  cancel(sessionId: string): void {
    this.#send({ method: "session/cancel", params: { sessionId } });
  }

  /** Resolves at the next update with message text in it. */
  update(): Promise<void> {
    this.#updated ??= Promise.withResolvers();
    return this.#updated.promise;
  }

  /** Resolves at the next request of the agent, which is never answered. */
  question(): Promise<void> {
    this.#asked ??= Promise.withResolvers();
    return this.#asked.promise;
  }

  /** Reads nothing until this resolves. */
  sleep(until: Promise<void>): void {
    this.#awake = until;
  }

  /** Ends the agent. */
  async close(): Promise<void> {
    await this.#writer.close();
    await this.#reading;
    await this.#child.status;
  }

  #send(message: JsonObject): void {
    this.#writer.write(this.#encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`))
      .catch(() => {});
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const piece of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      await this.#awake;
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#line(line);
    }
  }

  #line(line: string): void {
    this.bytes += line.length + 1;
    this.longest = Math.max(this.longest, line.length + 1);
    if (!line.includes(UPDATE)) return this.#message(JSON.parse(line));
    this.updates++;
    switch (this.#mode) {
      case "counting":
        break;
      case "parsing":
        this.text += JSON.parse(line).params.update.content?.text?.length ?? 0;
        break;
      case "timing": {
        const now = performance.timeOrigin + performance.now();
        for (const word of String(JSON.parse(line).params.update.content?.text).split(" ")) {
          const sent = Number(word);
          if (!(sent > 0)) continue;
          this.moments.push(sent);
          this.delays.push(now - sent);
        }
      }
    }
    if (this.#updated !== undefined && line.includes('"agent_message_chunk"')) {
      this.#updated.resolve();
      this.#updated = undefined;
    }
  }

  #message(message: Message): void {
    if (message.method !== undefined) {
      this.#asked?.resolve();
      this.#asked = undefined;
      return;
    }
    const waiting = this.#pending.get(Number(message.id));
    this.#pending.delete(Number(message.id));
    if (message.error === undefined) waiting?.resolve((message.result ?? {}) as JsonObject);
    else waiting?.reject(new Error(JSON.stringify(message.error)));
  }
}

/** Memory of a process in MiB: now, and the most it ever was. Linux only; undefined elsewhere. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number } | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024;
  return { now: field("VmRSS"), peak: field("VmHWM") };
}
