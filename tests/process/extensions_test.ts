import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fields } from "../support/rules.ts";
import { heardBy, outspoken } from "../engine/acp/outspoken.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { LIMITS } from "../../src/limits.ts";
import { NEVER, Refusal } from "../support/answers.ts";
import { openSession, tell } from "../support/talk.ts";
import { textOf } from "../support/screen.ts";
import { withEditor } from "../support/editor.ts";

Deno.test("[E1] extension methods of the editor reach the agent, and its answers and errors come back as they are", async () => {
  await withEditor(outspoken(), async (editor) => {
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
  await withEditor(outspoken({ answers }), async (editor) => {
    const sessionId = await openSession(editor, Deno.cwd());
    // Before the first prompt too: the agent's Session is opened for it.
    assertEquals(await editor.request("_echo", { sessionId, more: 1 }), {
      params: { sessionId: "own-1", more: 1 },
    });
    for (const n of [1, 2]) {
      await editor.until(
        ({ message }) => {
          if (message?.kind !== "notification" || message.method !== "_opening") return undefined;
          return fields(message.params).sessionId === sessionId && fields(message.params).n === n ||
            undefined;
        },
        `what the agent says ${n === 1 ? "before" : "behind"} its naming of the Session`,
      );
    }
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
  await withEditor(outspoken(), async (editor) => {
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
  await withEditor(outspoken({ answers }), async (editor) => {
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
  await withEditor(outspoken({ answers: { _slow: () => NEVER } }), async (editor) => {
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
  await withEditor(outspoken({ keep: 10 }), async (editor) => {
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
  await withEditor(outspoken(), async (editor) => {
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
