/**
 * Agents that others make, as npm has them: real processes, alone and behind Gangway, with models on loopback. They are no part of
 * `deno task test`, because of what there is to download: half a gigabyte, once, into a cache folder outside the project.
 *
 * Usage: `deno task agents`. Where the npm registry does not answer and the packages are not in the cache, an agent is skipped, which is
 * said.
 *
 * Tried, and not here: OpenCode 1.18.33 (`opencode acp`, 350 MB with both of its builds) answers `initialize` and `session/new` without a
 * network, from a list of models that it brings along, and leaves the first prompt without an answer while its own service is out of
 * reach. It was not pointed at a model on loopback.
 */
import { assert, assertEquals } from "@std/assert";
import { atPlace, behind, freshWork, packagesOf } from "./place.ts";
import { claude } from "./claude.ts";
import { differences, judge } from "./comparison.ts";
import { example } from "./example.ts";
import { familyOf, MARK } from "./family.ts";
import { gemini } from "./gemini.ts";
import { gone } from "../engine/gone.ts";
import { met, openedBy, record, type Recording, start, withRealEditor } from "./visit.ts";
import type { Place, RealAgent } from "./agent.ts";
import { withSdkClient } from "../conformance/sdk_client.ts";

for (const agent of [example, claude, gemini]) {
  const packages = await packagesOf(agent);
  const test = (name: string, body: (place: Place) => Promise<void>, ignore = false) =>
    Deno.test({
      name: `${name}: ${agent.name}`,
      ignore: ignore || packages === undefined,
      fn: async () => packages && await atPlace(agent, packages, body),
    });

  test("[E1] it shows behind Gangway what it shows alone, but for what is written down", async (place) => {
    const alone = await record(agent, agent.launch(place), "alone", place.folder);
    await freshWork(place.folder);
    const launch = behind(agent, place);
    // From its second start on Gangway knows what an agent can do.
    await met(launch, place.folder);
    const together = await record(agent, launch, "behind", place.folder);
    assertEquals(judge(differences(alone, together), agent.differences), []);
    assertWhole(agent, together);
  });

  test("[E3] kill -9 of Gangway leaves no process, also while the agent works", async (place) => {
    const mark = crypto.randomUUID();
    const launch = behind(agent, place, { [MARK]: mark });
    await withRealEditor(launch, "behind", async (editor) => {
      await editor.initialize();
      const { sessionId } = await openedBy({ ...agent, mode: undefined }, editor, `${place.folder}/work`);
      await start(editor, String(sessionId), agent.working);
      const family = await familyOf(mark);
      assert(family.length > 1, "Gangway and the agent are no family");
      editor.signal("SIGKILL");
      await editor.exited();
      await gone(family);
      assertEquals(await familyOf(mark), []);
      await editor.kill();
    });
  }, Deno.build.os !== "linux");

  test("[E1] the protocol's own client works with it through Gangway", async (place) => {
    const cwd = `${place.folder}/work`;
    const code = await withSdkClient("2.4.0", behind(agent, place), ({ options }) => ({
      outcome: { outcome: "selected", optionId: options[0]?.optionId ?? "" },
    }), async (client) => {
      await client.initialize({ protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await client.create({ cwd, mcpServers: [] });
      const prompt = [{ type: "text" as const, text: "Please show me <talk>" }];
      const { stopReason } = await client.prompt({ sessionId, prompt });
      assertEquals(stopReason, "end_turn");
      assert(client.updates.some(({ update }) => update.sessionUpdate === "agent_message_chunk"));
      const { sessions } = await client.list({ cwd });
      assert(sessions.some((each) => each.sessionId === sessionId));
      await client.close(sessionId);
    });
    assertEquals(code, 0);
  });
}

/** What must hold behind Gangway, whatever the agent does: cancels end as such, and a new process shows it all and goes on. */
function assertWhole(agent: RealAgent, { scenes, listed, closed, loaded, after }: Recording): void {
  const cancelled = agent.scenes.filter(({ cancelAt }) => cancelAt !== undefined);
  for (const { name } of cancelled) assertEquals(scenes[name]?.answer.stopReason, "cancelled");
  assertEquals(listed?.sessionId, "SESSION");
  assertEquals(closed, {});
  const live = Object.values(scenes).flatMap(({ messages }) => messages);
  assertEquals(loaded.messages.filter(({ channel }) => channel !== "user"), live);
  const cards = Object.values(scenes).flatMap(({ cards }) => cards);
  assertEquals(loaded.cards.map(({ status }) => status), cards.map(({ status }) => status));
  assertEquals(after?.answer.stopReason, "end_turn");
  assertEquals(after?.messages, scenes[agent.scenes[0]?.name ?? ""]?.messages);
}
