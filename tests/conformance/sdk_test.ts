import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { gangway, withFolder } from "../support/launch.ts";
import { type Choice, type SdkClient, type Version, withSdkClient } from "./sdk_client.ts";

const VERSIONS: readonly Version[] = ["2.4.0", "0.14.1"];

const pick = (kind: string): Choice => ({ options }) => {
  const option = options.find((each) => each.kind === kind);
  assert(option !== undefined);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
};

async function open(client: SdkClient, cwd: string): Promise<string> {
  const hello = await client.initialize({ protocolVersion: 1, clientCapabilities: {} });
  assertEquals(hello.protocolVersion, 1);
  return (await client.create({ cwd, mcpServers: [] })).sessionId;
}

function say(client: SdkClient, sessionId: string, text: string): ReturnType<SdkClient["prompt"]> {
  return client.prompt({ sessionId, prompt: [{ type: "text", text }] });
}

/** All agent text that the SDK handed out. */
function textOf(client: SdkClient): string {
  return client.updates.map(({ update }) =>
    update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
      ? update.content.text
      : ""
  ).join("");
}

function statusesOf(client: SdkClient): readonly unknown[] {
  return client.updates.flatMap(({ update }) =>
    update.sessionUpdate === "tool_call_update" && typeof update.status === "string" ? [update.status] : []
  );
}

for (const version of VERSIONS) {
  Deno.test(`[A1] [A9] the SDK's client ${version} prompts, lists and closes`, async () => {
    await withFolder(async (folder) => {
      const code = await withSdkClient(
        version,
        gangway("--state", `${folder}/state`),
        pick("allow_once"),
        async (client) => {
          const sessionId = await open(client, folder);
          for (let round = 0; round < 20; round++) {
            client.updates.length = 0;
            const { stopReason } = await say(
              client,
              sessionId,
              `/think hm\n/emit 10 10\n/say round ${round}`,
            );
            assertEquals(stopReason, "end_turn");
            // The last word is there when the answer is.
            assertStringIncludes(textOf(client), `round ${round}`);
          }
          assertEquals((await client.list({})).sessions.map((info) => info.sessionId), [sessionId]);
          await client.setMode({ sessionId, modeId: "read_only" });
          await client.close(sessionId);
          assertEquals((await client.list({})).sessions.length, 1);
        },
      );
      assertEquals(code, 0);
    });
  });

  for (
    const [kind, status, made] of [["allow_once", "completed", true], [
      "reject_once",
      "failed",
      false,
    ]] as const
  ) {
    Deno.test(`[I9] the SDK's client ${version} answers a permission with ${kind}`, async () => {
      await withFolder(async (folder) => {
        await withSdkClient(version, gangway("--memory"), pick(kind), async (client) => {
          const sessionId = await open(client, folder);
          assertEquals((await say(client, sessionId, "/write made.txt words")).stopReason, "end_turn");
          assertEquals(statusesOf(client).at(-1), status);
          assertEquals(await Deno.stat(`${folder}/made.txt`).then(() => true, () => false), made);
        });
      });
    });
  }

  Deno.test(`[C7] the SDK's client ${version} cancels, in its dialog too`, async () => {
    await withFolder(async (folder) => {
      const dialog = Promise.withResolvers<void>();
      const never: Choice = () => {
        dialog.resolve();
        return new Promise<never>(() => {});
      };
      await withSdkClient(version, gangway("--memory"), never, async (client) => {
        const sessionId = await open(client, folder);
        const sleeping = say(client, sessionId, "/say go\n/sleep 60000");
        await client.cancel(sessionId);
        assertEquals((await sleeping).stopReason, "cancelled");
        const asking = say(client, sessionId, "/run echo x");
        await dialog.promise;
        await client.cancel(sessionId);
        assertEquals((await asking).stopReason, "cancelled");
        assertEquals((await say(client, sessionId, "/say on")).stopReason, "end_turn");
      });
    });
  });
}
