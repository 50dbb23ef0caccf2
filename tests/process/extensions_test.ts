import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { behind } from "../engine/acp/outspoken.ts";
import { Editor, type EditorOptions, withEditor } from "../support/editor.ts";
import { fields } from "../support/rules.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { LIMITS } from "../../src/limits.ts";
import { newSession, openSession, tell } from "../support/talk.ts";
import { NEVER, Refusal } from "../support/answers.ts";
import { textOf } from "../support/screen.ts";
import { withFolder } from "../support/launch.ts";

const options = (more: EditorOptions = {}): EditorOptions => ({
  launch: behind(),
  deadlineMs: 20_000,
  ...more,
});

/** What the agent heard so far, beside what asks it. */
async function heardBy(editor: Editor): Promise<readonly JsonObject[]> {
  const { heard } = await editor.request("_heard", {}) as { readonly heard: readonly JsonObject[] };
  return heard;
}

Deno.test("[E1] extension methods of the editor reach the agent, and its answers and errors come back as they are", async () => {
  await withEditor(options(), async (editor) => {
    await editor.initialize();
    assertEquals(await editor.request("_echo", { a: [1, { b: null }] }), { params: { a: [1, { b: null }] } });
    assertEquals(await editor.request("_list", {}), [1, "two", null]);
    assertEquals(await editor.refused("_fail", {}), {
      code: -32055,
      message: "No such luck",
      data: { why: "reasons" },
    });
    assertEquals((await editor.refused("_unheard_of", {})).code, -32601);
    editor.notify("_news", { of: "the day" });
    const heard = await heardBy(editor);
    assertEquals(heard.at(-1), { method: "_news", params: { of: "the day" } });
  });
});

Deno.test("[E1] a Session has its own name on each side, in what the editor says and in what the agent says", async () => {
  const about: JsonObject[] = [];
  const answers = {
    _about: (params: JsonObject) => {
      about.push(params);
      return { told: params.sessionId ?? null };
    },
  };
  await withEditor(options({ answers }), async (editor) => {
    const sessionId = await openSession(editor, Deno.cwd());
    // Before the first prompt too: the agent's Session is opened for it.
    assertEquals(await editor.request("_echo", { sessionId, more: 1 }), {
      params: { sessionId: "own-1", more: 1 },
    });
    editor.notify("_news", { sessionId });
    assertEquals((await heardBy(editor)).at(-1), { method: "_news", params: { sessionId: "own-1" } });
    const { stopReason, screen } = await tell(editor, sessionId, "ask");
    assertEquals([stopReason, textOf(screen)], ["end_turn", JSON.stringify({ told: sessionId })]);
    assertEquals(about, [{ sessionId, from: "prompt" }]);
    const told = await editor.request("_ask", {
      method: "_about",
      params: { sessionId: "own-1", from: "call" },
    });
    assertEquals(told, { result: { told: sessionId } });
    await editor.request("_tell", { method: "_news", params: { sessionId: "own-1", n: 1 } });
    await editor.until(
      ({ from, message }) =>
        from === "agent" && message?.kind === "notification" && message.method === "_news" &&
          fields(message.params).sessionId === sessionId || undefined,
      "the news about the Session",
    );
    const foreign = await editor.request("_ask", { method: "_about", params: { sessionId: "own-77" } });
    assertEquals(fields(fields(foreign).error).code, -32002);
    assertEquals(about.length, 2);
  });
});

Deno.test("[E1] [S4] an extension method about a Session that is not owned is refused and not passed on", async () => {
  await withEditor(options(), async (editor) => {
    await editor.initialize();
    const error = await editor.refused("_echo", { sessionId: "own-1" });
    assertEquals([error.code, fields(error.data).sessionId], [-32002, "own-1"]);
    editor.notify("_news", { sessionId: "own-1" });
    assertEquals((await heardBy(editor)).map(({ method }) => method), ["initialize"]);
  });
});

Deno.test("[E1] extension methods of the agent reach the editor, and its answers and errors come back as they are", async () => {
  const answers = {
    _fine: (params: JsonObject) => ({ got: params }),
    _nothing: () => null,
    _no: () => new Refusal(-32044, "Not today"),
  };
  await withEditor(options({ answers }), async (editor) => {
    await editor.initialize();
    const ask = (method: string) => editor.request("_ask", { method, params: { n: 1 } });
    assertEquals(await ask("_fine"), { result: { got: { n: 1 } } });
    assertEquals(await ask("_nothing"), { result: null });
    assertEquals(await ask("_no"), { error: { code: -32044, message: "Not today" } });
    assertEquals(fields(fields(await ask("_unknown")).error).code, -32601);
    await editor.request("_tell", { method: "_news", params: { n: 2 } });
    await editor.until(
      ({ message }) =>
        message?.kind === "notification" && message.method === "_news" && fields(message.params).n === 2 ||
        undefined,
      "the agent's news",
    );
  });
});

Deno.test("[E1] an extension request that is taken back is taken back on the other side, both ways", async () => {
  await withEditor(options({ answers: { _slow: () => NEVER } }), async (editor) => {
    await editor.initialize();
    const message = editor.compose("_hang", {});
    const refused = editor.expect(message);
    editor.bytes(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
    assertEquals(await editor.request("_echo", {}), { params: {} });
    editor.notify("$/cancel_request", { requestId: message.id });
    const answer = await refused;
    assert("error" in answer, JSON.stringify(answer));
    assertEquals(answer.error.code, -32800);
    assertEquals((await heardBy(editor)).at(-1)?.method, "$/cancel_request");
    await editor.request("_begin_to_ask", { method: "_slow", params: {} });
    const { id } = await editor.asked("_slow");
    await editor.request("_take_back", {});
    await editor.until(
      ({ message }) =>
        message?.kind === "notification" && message.method === "$/cancel_request" &&
          fields(message.params).requestId === id || undefined,
      "the request to be taken back",
    );
  });
});

Deno.test("[E1] what is too large to pass is refused with the limit, and the connection goes on", async () => {
  await withEditor(options({ keep: 10 }), async (editor) => {
    await editor.initialize();
    const large = "x".repeat(LIMITS.extensionLength);
    for (const [method, params] of [["_echo", { large }], ["_big", { length: large.length }]] as const) {
      const error = await editor.refused(method, params);
      assertEquals(
        fields(error.data),
        { code: "extension_too_large", limit: LIMITS.extensionLength },
        method,
      );
      assertStringIncludes(error.message, String(LIMITS.extensionLength));
    }
    const { error } = fields(await editor.request("_ask_much", { length: large.length }));
    assertEquals(fields(fields(error).data).limit, LIMITS.extensionLength);
    editor.answer({ _fine: () => large });
    const answered = fields(await editor.request("_ask_much", { length: 1 }));
    assertEquals(fields(fields(answered.error).data).limit, LIMITS.extensionLength);
    // Far more than other lines may have.
    const most = await editor.request("_big", { length: large.length / 2 }) as { readonly text: string };
    assertEquals(most.text.length, large.length / 2);
    assertEquals(await editor.request("_echo", {}), { params: {} });
  });
});

Deno.test("[E1] [E2] an extension request ends with an error when the agent dies, and the next one starts it again", async () => {
  await withEditor(options(), async (editor) => {
    await editor.initialize();
    const hanging = editor.refused("_hang", {});
    assertEquals(await editor.request("_echo", {}), { params: {} });
    for (const error of await Promise.all([hanging, editor.refused("_exit", {})])) {
      assertEquals(fields(error.data).code, "host_unavailable");
      assertStringIncludes(error.message, "exit code 3");
    }
    assertEquals(await editor.request("_echo", {}), { params: {} });
  });
});

Deno.test("[E1] metadata passes from the editor's requests to the agent's", async () => {
  await withFolder(async (folder) => {
    const resumes = { agentCapabilities: { sessionCapabilities: { resume: {}, close: {} } } };
    const capabilities = { _meta: { "terminal-auth": true } };
    const launch = behind({ hello: resumes }, "--state", `${folder}/state`);
    let sessionId = "";
    await withEditor(options({ launch, capabilities }), async (editor) => {
      await editor.request("initialize", { ...editor.hello(), _meta: { trace: 1 } });
      sessionId = await newSession(editor, folder, { _meta: { n: 2 } });
      assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
      await editor.request("session/set_mode", { sessionId, modeId: "code", _meta: { n: 3 } });
      await editor.request("session/set_config_option", {
        sessionId,
        configId: "mode",
        value: "ask",
        _meta: { n: 4 },
      });
      const heard = await heardBy(editor);
      const [hello] = heard;
      assertEquals(fields(hello?.params)._meta, { trace: 1 });
      assertEquals(fields(fields(hello?.params).clientCapabilities)._meta, { "terminal-auth": true });
      const metas = heard.filter(({ method }) => method === "session/new" || method === "session/set_mode")
        .map(({ params }) => fields(params)._meta);
      assertEquals(metas, [{ n: 2 }, { n: 3 }, { n: 4 }]);
    });
    await withEditor(options({ launch }), async (editor) => {
      await editor.initialize();
      await editor.request("session/resume", { sessionId, cwd: folder, mcpServers: [], _meta: { n: 5 } });
      assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
      const resumed = (await heardBy(editor)).find(({ method }) => method === "session/resume");
      assertEquals(fields(resumed?.params)._meta, { n: 5 });
      await editor.request("session/load", { sessionId, cwd: folder, mcpServers: [], _meta: { n: 6 } });
      await editor.request("session/load", { sessionId, cwd: folder, mcpServers: [] });
      assertEquals((await tell(editor, sessionId, "hello")).stopReason, "end_turn");
    });
  });
});

Deno.test("[E1] what an agent says of itself beyond the protocol, and its commands, are there from its second start on", async () => {
  const commands = [{ name: "web", description: "Search", input: { hint: "words" } }];
  const hello = {
    agentCapabilities: { auth: { logout: {} }, _meta: { custom: { queueing: true } } },
    _meta: { build: "b7" },
  };
  await withFolder(async (folder) => {
    const launch = behind({ hello, commands }, "--state", `${folder}/state`);
    for (const start of ["first", "second"]) {
      await withEditor(options({ launch }), async (editor) => {
        const { agentCapabilities, _meta } = await editor.initialize();
        const { auth, _meta: custom } = fields(agentCapabilities);
        const known = start === "second";
        assertEquals(
          [auth, custom, _meta],
          known
            ? [{ logout: {} }, { custom: { queueing: true } }, { build: "b7" }]
            : [undefined, undefined, undefined],
        );
        const sessionId = await newSession(editor, folder);
        const shown = () =>
          editor.updated(
            sessionId,
            ({ sessionUpdate, availableCommands }) =>
              sessionUpdate === "available_commands_update" &&
              JSON.stringify(availableCommands) === JSON.stringify(commands),
            "the commands",
          );
        // Before any prompt, where they are known.
        if (known) return void await shown();
        await tell(editor, sessionId, "hello");
        await shown();
      });
    }
  });
});

Deno.test("[E1] unstable methods about the agent as a whole pass where it says that it has them; those about Sessions are refused", async () => {
  const hello = { agentCapabilities: { providers: {}, auth: { status: {} } } };
  const UNSTABLE = ["auth/status", "providers/list"];
  const REFUSED = [
    ...["session/fork", "session/archive", "session/unarchive", "session/set_title", "session/status"],
    ...["session/set_model", "mcp/message", "proxy/successor", "nes/start", "document/didOpen"],
  ];
  for (const [launch, there] of [[behind({ hello }), true], [behind(), false]] as const) {
    const editor = new Editor(options({ launch }));
    try {
      await editor.initialize();
      const sessionId = await newSession(editor, Deno.cwd());
      for (const method of UNSTABLE) {
        const answer = await editor.call(method, {}, { judged: false });
        assertEquals("result" in answer, there, method);
        if ("error" in answer) assertEquals(answer.error.code, -32601, method);
      }
      for (const method of REFUSED) {
        assertEquals((await editor.refused(method, { sessionId }, { judged: false })).code, -32601, method);
      }
      await editor.request("_tell", { method: "auth/status_update", params: { state: "unknown" } });
      await editor.until(
        ({ message }) =>
          message?.kind === "notification" && message.method === "auth/status_update" || undefined,
        "the agent's status",
      );
      assertEquals((await heardBy(editor)).filter(({ method }) => REFUSED.includes(String(method))), []);
    } finally {
      await editor.kill();
    }
  }
});
