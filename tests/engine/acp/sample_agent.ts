/**
 * An agent on the protocol's own SDK that shows one of everything, for the comparison of an agent alone with the same one behind
 * Gangway. The prompt's text names the scene.
 */
import { agent, type AgentContext, type ContentBlock, type SessionUpdate } from "@agentclientprotocol/sdk";

let sessions = 0;
const modes = {
  currentModeId: "ask",
  availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code", description: "Writes" }],
};

type Scene = (
  show: (update: SessionUpdate) => Promise<void>,
  client: AgentContext,
  sessionId: string,
) => Promise<void>;

const text = (words: string): ContentBlock => ({ type: "text", text: words });

const scenes: Record<string, Scene> = {
  async talk(show) {
    await show({ sessionUpdate: "agent_thought_chunk", messageId: "m1", content: text("Let me see.") });
    for (const word of ["Hello", ", ", "world"]) {
      await show({ sessionUpdate: "agent_message_chunk", messageId: "m2", content: text(word) });
    }
    await show({ sessionUpdate: "agent_message_chunk", messageId: "m3", content: text("And again.") });
  },
  async nameless(show) {
    await show({ sessionUpdate: "agent_message_chunk", content: text("One") });
    await show({ sessionUpdate: "agent_message_chunk", content: text(", two") });
  },
  async tools(show) {
    await show({
      sessionUpdate: "tool_call",
      toolCallId: "read-1",
      title: "Read a.ts",
      kind: "read",
      status: "in_progress",
      locations: [{ path: "/w/a.ts", line: 3 }],
      rawInput: { path: "/w/a.ts" },
      _meta: { agent: { tool: "Read" } },
    });
    await show({
      sessionUpdate: "tool_call_update",
      toolCallId: "read-1",
      status: "completed",
      content: [{ type: "content", content: text("export const a = 1;") }],
      rawOutput: { lines: 1 },
    });
    await show({
      sessionUpdate: "tool_call",
      toolCallId: "edit-1",
      title: "Edit a.ts",
      kind: "edit",
      content: [{ type: "diff", path: "/w/a.ts", oldText: "1\n", newText: "2\n" }],
    });
    await show({ sessionUpdate: "tool_call_update", toolCallId: "edit-1", status: "completed" });
    await show({ sessionUpdate: "tool_call", toolCallId: "run-1", title: "Run it", kind: "execute" });
    await show({
      sessionUpdate: "tool_call_update",
      toolCallId: "run-1",
      status: "failed",
      content: [{ type: "content", content: text("no such command") }],
    });
  },
  async plan(show) {
    await show({
      sessionUpdate: "plan",
      entries: [
        { content: "Look", priority: "high", status: "completed" },
        { content: "Do", priority: "low", status: "in_progress" },
      ],
    });
    await show({
      sessionUpdate: "usage_update",
      used: 10,
      size: 100,
      cost: { amount: 0.5, currency: "USD" },
    });
    await show({ sessionUpdate: "session_info_update", title: "A title" });
    await show({
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "web", description: "Search", input: { hint: "words" } }],
    });
    await show({ sessionUpdate: "current_mode_update", currentModeId: "code" });
  },
  async permission(show, client, sessionId) {
    const toolCall = {
      toolCallId: "ask-1",
      title: "Delete b.ts",
      kind: "delete",
      status: "pending",
      content: [{ type: "diff", path: "/w/b.ts", oldText: "b\n", newText: "" }],
    } as const;
    await show({ sessionUpdate: "tool_call", ...toolCall, content: [...toolCall.content] });
    const response = await client.request("session/request_permission", {
      sessionId,
      toolCall: { ...toolCall, content: [...toolCall.content] },
      options: [
        { optionId: "yes", name: "Yes", kind: "allow_once" },
        { optionId: "ever", name: "Always", kind: "allow_always" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ],
    });
    await show({ sessionUpdate: "tool_call_update", toolCallId: "ask-1", status: "completed" });
    await show({
      sessionUpdate: "agent_message_chunk",
      messageId: "m9",
      content: text(JSON.stringify(response)),
    });
  },
  async echo() {},
  async refusal() {},
};

agent()
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "sample", version: "1.0.0" },
    agentCapabilities: { promptCapabilities: { embeddedContext: true } },
  }))
  .onRequest("session/new", () => ({ sessionId: `${Deno.pid}-${++sessions}`, modes }))
  .onRequest("session/set_mode", () => ({}))
  .onRequest("session/prompt", async ({ params: { sessionId, prompt, _meta }, client }) => {
    const show = (update: SessionUpdate) => client.notify("session/update", { sessionId, update });
    const [first] = prompt;
    const name = first?.type === "text" ? first.text : "";
    if (name === "echo") {
      await show({
        sessionUpdate: "agent_message_chunk",
        messageId: crypto.randomUUID(),
        content: text(JSON.stringify({ prompt, _meta })),
      });
    }
    await scenes[name]?.(show, client, sessionId);
    return name === "refusal"
      ? { stopReason: "refusal", _meta: { why: "policy" } }
      : { stopReason: "end_turn" };
  })
  .onNotification("session/cancel", () => {})
  .connect({
    readable: Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(lines()),
    writable: new WritableStream({
      write: async (message) => {
        const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
        for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
      },
    }),
  });

function lines(): TransformStream<string, never> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const all = (rest + chunk).split("\n");
      rest = all.pop() ?? "";
      for (const line of all) if (line !== "") controller.enqueue(JSON.parse(line) as never);
    },
  });
}
