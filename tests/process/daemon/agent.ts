/**
 * A small agent for Sessions behind a Host in a process of its own. A prompt says what it does: `env NAME …` tells variables, `pid` its
 * process id, `words` its arguments, `hang` says "hanging" and waits to be cancelled, `ask` asks for a permission. Anything
 * else is said back.
 */
const decoder = new TextDecoder();
const open = new Map<unknown, string>();
const asked = new Map<number, (result: { outcome: { outcome: string } }) => void>();
let rest = "";
let count = 0;

function write(message: Record<string, unknown>): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

function say(sessionId: string, text: string): void {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  write({ method: "session/update", params: { sessionId, update } });
}

function finish(id: unknown, stopReason: string): void {
  if (open.delete(id)) write({ id, result: { stopReason } });
}

function prompt(id: unknown, sessionId: string, text: string): void {
  const [what, ...names] = text.split(" ");
  open.set(id, sessionId);
  switch (what) {
    case "env":
      say(sessionId, names.map((name) => `${name}=${Deno.env.get(name) ?? "none"}`).join(" "));
      return finish(id, "end_turn");
    case "pid":
      say(sessionId, String(Deno.pid));
      return finish(id, "end_turn");
    case "words":
      say(sessionId, Deno.args.join(" "));
      return finish(id, "end_turn");
    case "hang":
      return say(sessionId, `hanging ${Deno.pid}`);
    case "ask": {
      const request = ++count;
      asked.set(request, ({ outcome }) => {
        say(sessionId, outcome.outcome);
        finish(id, "end_turn");
      });
      return write({
        id: request,
        method: "session/request_permission",
        params: {
          sessionId,
          toolCall: { toolCallId: `tool-${request}`, title: "Do it", kind: "execute", status: "pending" },
          options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
        },
      });
    }
    default:
      say(sessionId, text);
      return finish(id, "end_turn");
  }
}

for await (const chunk of Deno.stdin.readable) {
  rest += decoder.decode(chunk, { stream: true });
  const lines = rest.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params, result } = JSON.parse(line);
    switch (method) {
      case "initialize":
        write({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: false } } });
        break;
      case "session/new":
        write({ id, result: { sessionId: `agent-${++count}-${Deno.pid}` } });
        break;
      case "session/prompt":
        prompt(id, params.sessionId, params.prompt.at(-1).text);
        break;
      case "session/cancel":
        for (const [id, sessionId] of open) if (sessionId === params.sessionId) finish(id, "cancelled");
        break;
      case undefined:
        asked.get(id)?.(result ?? { outcome: { outcome: "refused" } });
        break;
      default:
        if (id !== undefined) write({ id, error: { code: -32601, message: "Method not found" } });
    }
  }
}
