/**
 * An agent that speaks beyond Sessions and Turns. Its first argument is JSON ({@linkcode Traits}); further arguments mean that somebody logs in
 * to it in a terminal: it says what it was started with, waits for a line and ends with the code that the line names.
 */
export interface Traits {
  /** The result of `initialize` beside the version. Methods of a terminal are offered only to a client that has one. */
  readonly hello?: {
    readonly authMethods?: readonly Record<string, unknown>[];
    readonly agentCapabilities?: Record<string, unknown>;
    readonly _meta?: Record<string, unknown>;
  };
  /** Sessions need a login first. */
  readonly gated?: boolean;
  /** The commands of each Session. */
  readonly commands?: readonly Record<string, unknown>[];
  /** A variable that it names when somebody logs in. */
  readonly variable?: string;
}

type Params = Record<string, unknown>;
type Message = { id?: unknown; method?: string; params?: Params; result?: unknown; error?: unknown };

const MODES = {
  currentModeId: "ask",
  availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }],
};

async function logIn({ variable = "" }: Traits, args: readonly string[]): Promise<number> {
  const said = JSON.stringify({ args, variable: Deno.env.get(variable) ?? null });
  await Deno.stdout.write(new TextEncoder().encode(`${said}\n`));
  const bytes = new Uint8Array(100);
  const read = await Deno.stdin.read(bytes);
  return Number(new TextDecoder().decode(bytes.subarray(0, read ?? 0)));
}

async function serve({ hello = {}, gated = false, commands }: Traits): Promise<void> {
  const encoder = new TextEncoder();
  const send = (message: Message) => {
    const bytes = encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  };
  /** Everything that came, without ids. */
  const heard: Message[] = [];
  const answers = new Map<unknown, (answer: Message) => void>();
  let asked = 0;
  let sessions = 0;
  let state: "out" | "in" = gated ? "out" : "in";

  const ask = (method: string, params: Params) =>
    new Promise<Message>((resolve) => {
      const id = `ask-${++asked}`;
      answers.set(id, resolve);
      send({ id, method, params });
    });
  const say = (sessionId: unknown, text: string) =>
    send({
      method: "session/update",
      params: {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
      },
    });

  const answer = async ({ id, method = "", params = {} }: Message): Promise<void> => {
    const reply = (result: unknown) => id === undefined ? undefined : send({ id, result });
    switch (method) {
      case "initialize": {
        const { clientCapabilities } = params as { clientCapabilities?: { auth?: { terminal?: boolean } } };
        const { authMethods = [] } = hello;
        return reply({
          protocolVersion: 1,
          agentCapabilities: {},
          ...hello,
          authMethods: authMethods.filter(({ type }) =>
            type !== "terminal" || clientCapabilities?.auth?.terminal === true
          ),
        });
      }
      case "authenticate":
        state = "in";
        return reply({ _meta: { by: params.methodId, with: params._meta ?? null } });
      case "logout":
        state = "out";
        return reply({});
      case "session/new":
      case "session/resume": {
        if (state === "out") {
          return send({ id, error: { code: -32000, message: "Authentication required" } });
        }
        const sessionId = params.sessionId ?? `own-${++sessions}`;
        // Before and right behind the answer that names the Session.
        send({ method: "_opening", params: { sessionId, n: 1 } });
        reply({ ...(method === "session/new" && { sessionId }), modes: MODES });
        send({ method: "_opening", params: { sessionId, n: 2 } });
        const update = { sessionUpdate: "available_commands_update", availableCommands: commands };
        if (commands !== undefined) send({ method: "session/update", params: { sessionId, update } });
        return;
      }
      case "session/prompt": {
        const [{ text = "" } = {}] = params.prompt as { text?: string }[];
        if (text === "heard") say(params.sessionId, JSON.stringify(heard));
        if (text === "ask") {
          const outcome = await ask("_about", { sessionId: params.sessionId, from: "prompt" });
          say(params.sessionId, JSON.stringify(outcome.result ?? outcome.error ?? null));
        }
        return reply({ stopReason: "end_turn" });
      }
      case "_echo":
        return reply({ params });
      case "_list":
        return reply([1, "two", null]);
      case "_big":
        return reply({ text: "x".repeat(Number(params.length)) });
      case "_heard":
        return reply({ heard });
      case "_ask": {
        const outcome = await ask(String(params.method), params.params as Params);
        return reply({ result: outcome.result, error: outcome.error });
      }
      case "_ask_much": {
        const outcome = await ask("_fine", { text: "x".repeat(Number(params.length)) });
        return reply({ result: outcome.result, error: outcome.error });
      }
      case "_begin_to_ask":
        void ask(String(params.method), params.params as Params);
        return reply({});
      case "_take_back":
        send({ method: "$/cancel_request", params: { requestId: `ask-${asked}` } });
        return reply({});
      case "_tell":
        send({ method: String(params.method), params: params.params as Params });
        return reply({});
      case "_exit":
        return Deno.exit(3);
      case "_hang":
        return;
      case "auth/status":
        return reply({ state: state === "in" ? "authenticated" : "unauthenticated" });
      case "providers/list":
        return reply({ providers: [] });
      case "_fail":
        return send({ id, error: { code: -32055, message: "No such luck", data: { why: "reasons" } } });
      case "session/set_mode":
      case "session/close":
        return reply({});
      default:
        if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
    }
  };

  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of Deno.stdin.readable) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message: Message = JSON.parse(line);
      if (message.method === undefined) answers.get(message.id)?.(message);
      else {
        if (message.method !== "_heard") heard.push({ method: message.method, params: message.params });
        void answer(message);
      }
    }
  }
}

if (import.meta.main) {
  const [traits = "{}", ...args] = Deno.args;
  if (args.length === 0) await serve(JSON.parse(traits));
  else Deno.exit(await logIn(JSON.parse(traits), args));
}
