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
  async rich(show) {
    const say = (content: ContentBlock, more: { _meta?: Record<string, unknown> } = {}) =>
      show({ sessionUpdate: "agent_message_chunk", messageId: "rich-1", content, ...more });
    await say(text("See: "));
    await say({ type: "image", mimeType: "image/png", data: "AAAA", uri: "file:///w/a.png" });
    await say({ type: "audio", mimeType: "audio/wav", data: "BBBB" }, { _meta: { of: "chunk" } });
    await say({ type: "resource_link", uri: "file:///w/b", name: "b", title: "B", size: 7 });
    await say({ type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "noted" } });
    await say({ type: "resource", resource: { uri: "note://2", blob: "CCCC" }, _meta: { of: "block" } });
    await say({ type: "text", text: "Loud.", annotations: { priority: 1, audience: ["user"] } });
    await say(text(" One."), { _meta: { n: 1 } });
    await say(text(" Two."), { _meta: { n: 2 } });
    await say(text(" None."));
    await show({
      sessionUpdate: "agent_thought_chunk",
      messageId: "rich-2",
      content: text("Hm."),
      _meta: { of: "thought" },
    });
    await show({
      sessionUpdate: "tool_call",
      toolCallId: "rich-3",
      title: "Show",
      kind: "other",
      status: "completed",
      content: [
        { type: "content", content: { type: "resource", resource: { uri: "note://3", blob: "DDDD" } } },
        { type: "content", content: { type: "audio", mimeType: "audio/wav", data: "EEEE" } },
      ],
      _meta: { of: "tool" },
    });
  },
  async metas(show) {
    const of = (name: string) => ({ _meta: { of: name } });
    await show({
      sessionUpdate: "plan",
      entries: [{ content: "Look", priority: "high", status: "completed", _meta: { e: 1 } }],
      ...of("plan"),
    });
    await show({ sessionUpdate: "notice", severity: "info", title: "Note", ...of("notice") });
    await show({ sessionUpdate: "usage_update", used: 1, size: 9, ...of("usage") });
    await show({
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "x", description: "d", _meta: { c: 1 } }],
      ...of("commands"),
    });
    await show({ sessionUpdate: "session_info_update", title: "Metas", ...of("info") });
    await show({ sessionUpdate: "current_mode_update", currentModeId: "ask", ...of("mode") });
  },
  async compaction(show) {
    const summary = [text("So far.")];
    await show({
      sessionUpdate: "compaction_update",
      compactionId: "c1",
      status: "in_progress",
      _meta: { x: 1 },
    });
    await show({ sessionUpdate: "compaction_summary_chunk", compactionId: "c1", content: text("So far.") });
    await show({ sessionUpdate: "compaction_update", compactionId: "c1", status: "completed", summary });
  },
  async asks(show, client, sessionId) {
    const page = await client.request("elicitation/create", {
      sessionId,
      mode: "url",
      message: "Log in",
      url: "https://example.com/login",
      elicitationId: "page-1",
      _meta: { of: "page" },
    });
    await client.notify("elicitation/complete", { elicitationId: "page-1" });
    const form = await client.request("elicitation/create", {
      sessionId,
      mode: "form",
      message: "Name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      _meta: { of: "form" },
    });
    await show({
      sessionUpdate: "agent_message_chunk",
      messageId: "asks-1",
      content: text(JSON.stringify({ page, form })),
    });
  },
  async takeback(show, client, sessionId) {
    const back = new AbortController();
    const asked = client.request("session/request_permission", {
      sessionId,
      toolCall: { toolCallId: "back-1", title: "Never mind", kind: "other", status: "pending" },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    }, { cancellationSignal: back.signal, stopWaitingOnCancel: true });
    setTimeout(() => back.abort(), 300);
    await asked.catch(() => {});
    await show({ sessionUpdate: "tool_call_update", toolCallId: "back-1", status: "failed" });
  },
  async late(show) {
    setTimeout(
      () => void show({ sessionUpdate: "agent_message_chunk", messageId: "late-1", content: text("Later.") }),
      100,
    );
    await show({ sessionUpdate: "agent_message_chunk", messageId: "late-0", content: text("Now.") });
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
