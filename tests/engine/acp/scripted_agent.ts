/**
 * An agent that does what it is told. Its one argument is JSON ({@linkcode Manners}); each line of a prompt's text is a step:
 * `update JSON`, `raw TEXT`, `ask METHOD JSON`, `stop REASON`, `fail JSON`, `exit CODE`, `hang`, `wait` (for a cancel), `after JSON` (an
 * update behind the answer), `later MS JSON` (one some time behind it), `tell METHOD JSON` (a notification), `withdraw METHOD JSON` (a
 * question that is taken back when the file `cue` is there), `until PATH` (waits for a file), `note PATH` (writes the last answer to one),
 * `asked` (say what it was asked so far), `steered` (waits for words by `_test/steer`), `flood COUNT`, `spawn` (a child that outlives it), `prompt` (say what arrived), `stderr TEXT`.
 */
export interface Manners {
  readonly initialize?: Record<string, unknown> | "hang" | "exit";
  /** The result of session/new beside the id; a string is how it fails. */
  readonly opened?: Record<string, unknown> | "hang" | "exit" | "login";
  /** Updates that are sent before the answer to session/new, and lines. */
  readonly early?: readonly Record<string, unknown>[];
  readonly lines?: readonly string[];
  /** What load and resume say before their answer; absent: there is no such Session; `busy`: they fail. */
  readonly history?: readonly Record<string, unknown>[] | "busy";
  /** What load says behind its answer, with a moment between. */
  readonly lateHistory?: readonly Record<string, unknown>[];
  /** A file that the answers to load and resume wait for; `PATH.asked` says that one does. */
  readonly gate?: string;
  /** Whether it stays when its input ends. */
  readonly stays?: boolean;
}

type Message = Record<string, unknown> & { params?: Record<string, unknown> };

if (import.meta.main) {
  const manners: Manners = JSON.parse(Deno.args[0] ?? "{}");
  const encoder = new TextEncoder();
  const line = (text: string) => {
    const bytes = encoder.encode(`${text}\n`);
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  };
  const send = (message: Record<string, unknown>) => line(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const update = (sessionId: unknown, update: unknown) =>
    send({ method: "session/update", params: { sessionId, update } });
  const say = (sessionId: unknown, text: string) =>
    update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const answers = new Map<unknown, (message: Message) => void>();
  const cancels = new Map<unknown, () => void>();
  const settings: unknown[] = [];
  const steers = new Map<unknown, (words: unknown) => void>();
  const bindings = new Map<unknown, unknown>();
  /** Waits for a file to be there. */
  const until = async (path: string) => {
    for (;;) {
      try {
        return void await Deno.stat(path);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  const heard: string[] = [];
  let answered: unknown;
  let asked = 0;
  let sessions = 0;
  let replayed = Promise.resolve();

  const follow = async (id: unknown, { sessionId, prompt, ...rest }: Record<string, unknown>) => {
    const texts = (prompt as { type: string; text?: string }[]).flatMap((block) => block.text ?? []);
    const after: string[] = [];
    const later: string[] = [];
    let stopReason = "end_turn";
    for (const step of texts.join("\n").split("\n")) {
      const [, verb = "", detail = ""] = /^(\w+) ?(.*)$/s.exec(step) ?? [];
      switch (verb) {
        case "update":
          update(sessionId, JSON.parse(detail));
          break;
        case "raw":
          line(detail);
          break;
        case "say":
          say(sessionId, detail);
          break;
        case "ask": {
          const [, method = "", params = "{}"] = /^(\S+) (.*)$/s.exec(detail) ?? [];
          const request = `ask-${++asked}`;
          const reply = new Promise<Message>((resolve) => answers.set(request, resolve));
          send({ id: request, method, params: { sessionId, ...JSON.parse(params) } });
          const { result, error } = await reply;
          answered = result === undefined ? { error } : { result };
          say(sessionId, JSON.stringify(answered));
          break;
        }
        case "until":
          await until(detail);
          break;
        case "note":
          await Deno.writeTextFile(detail, JSON.stringify(answered));
          break;
        case "asked":
          say(sessionId, JSON.stringify(heard));
          break;
        case "withdraw": {
          const [, method = "", params = "{}"] = /^(\S+) (.*)$/s.exec(detail) ?? [];
          const request = `ask-${++asked}`;
          const answered = new Promise<Message>((resolve) => answers.set(request, resolve));
          const { cue, ...rest } = JSON.parse(params);
          send({ id: request, method, params: { sessionId, ...rest } });
          await until(cue);
          send({ method: "$/cancel_request", params: { requestId: request } });
          const { result, error } = await answered;
          say(sessionId, JSON.stringify(result === undefined ? { error } : { result }));
          break;
        }
        case "tell": {
          const [, method = "", params = "{}"] = /^(\S+) (.*)$/s.exec(detail) ?? [];
          send({ method, params: JSON.parse(params) });
          break;
        }
        case "steered":
          say(sessionId, JSON.stringify(await new Promise((resolve) => steers.set(sessionId, resolve))));
          break;
        case "later":
          later.push(detail);
          break;
        case "prompt":
          say(sessionId, JSON.stringify({ prompt, ...rest }));
          break;
        case "set":
          say(sessionId, JSON.stringify(settings));
          break;
        case "session":
          say(sessionId, String(sessionId));
          break;
        case "opened":
          say(sessionId, JSON.stringify(bindings.get(sessionId)));
          break;
        case "wait":
          await new Promise<void>((resolve) => cancels.set(sessionId, resolve));
          stopReason = "cancelled";
          break;
        case "replayed":
          await replayed;
          break;
        case "hang":
          return;
        case "stop":
          stopReason = detail;
          break;
        case "fail":
          return send({ id, error: JSON.parse(detail) });
        case "after":
          after.push(detail);
          break;
        case "flood":
          for (let count = 0; count < Number(detail); count++) say(sessionId, `${count} `);
          break;
        case "huge":
          line("x".repeat(33 * 1024 * 1024));
          break;
        case "stderr":
          await Deno.stderr.write(encoder.encode(`${detail}\n`));
          break;
        case "spawn": {
          const child = new Deno.Command("sleep", {
            args: ["1000"],
            stdin: "null",
            stdout: "null",
            stderr: "null",
          })
            .spawn();
          say(sessionId, `${Deno.pid} ${child.pid}`);
          break;
        }
        case "exit":
          Deno.exit(Number(detail));
      }
    }
    send({ id, result: { stopReason } });
    for (const each of after) update(sessionId, JSON.parse(each));
    for (const each of later) {
      const [, ms = "0", json = "{}"] = /^(\d+) (.*)$/s.exec(each) ?? [];
      setTimeout(() => update(sessionId, JSON.parse(json)), Number(ms));
    }
  };

  const answer = ({ id, method, params = {} }: Message): void => {
    heard.push(String(method));
    switch (method) {
      case "initialize":
        if (manners.initialize === "hang") return;
        if (manners.initialize === "exit") Deno.exit(7);
        return send({ id, result: { protocolVersion: 1, agentCapabilities: {}, ...manners.initialize } });
      case "session/new": {
        if (manners.opened === "hang") return;
        if (manners.opened === "exit") Deno.exit(8);
        if (manners.opened === "login") {
          return send({ id, error: { code: -32000, message: "Authentication required" } });
        }
        const sessionId = `${Deno.pid}-${++sessions}`;
        bindings.set(sessionId, params);
        for (const early of manners.early ?? []) update(sessionId, early);
        return send({ id, result: { sessionId, ...manners.opened } });
      }
      case "session/resume":
      case "session/load":
        if (manners.history === undefined) {
          return send({ id, error: { code: -32002, message: "No such session" } });
        }
        if (manners.history === "busy") {
          return send({ id, error: { code: -32603, message: "overloaded" } });
        }
        replayed = (async () => {
          if (manners.gate !== undefined) {
            await Deno.writeTextFile(`${manners.gate}.asked`, "");
            await until(manners.gate);
          }
          for (const each of manners.history ?? []) update(params.sessionId, each);
          send({ id, result: manners.opened ?? {} });
          for (const each of manners.lateHistory ?? []) {
            await new Promise((resolve) => setTimeout(resolve, 20));
            update(params.sessionId, each);
          }
        })();
        return;
      case "_test/steer": {
        const { prompt, _meta } = params;
        steers.get(params.sessionId)?.({ prompt, _meta });
        return send({ id, result: { taken: steers.delete(params.sessionId) } });
      }
      case "session/prompt":
        return void follow(id, params);
      case "session/cancel":
        cancels.get(params.sessionId)?.();
        return;
      case "session/set_mode":
      case "session/set_config_option":
        settings.push([method, params.modeId ?? params.value]);
        return send({ id, result: {} });
      case "_test/none":
        return send({ id, error: { code: -32601, message: "Method not found" } });
      default:
        if (id !== undefined) send({ id, result: { configOptions: undefined } });
    }
  };

  for (const each of manners.lines ?? []) line(each);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of Deno.stdin.readable) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      const message: Message = JSON.parse(text);
      if (message.method !== undefined) answer(message);
      else answers.get(message.id)?.(message);
    }
  }
  if (manners.stays === true) await new Promise(() => setInterval(() => {}, 1000));
}
