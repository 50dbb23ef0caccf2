import { assert, assertEquals } from "@std/assert";
import { NO_SERVICES } from "../../host/local/world.ts";
import { RecordingSink } from "../sink.ts";
import { runInNewContext } from "node:vm";
import { setFlagsFromString } from "node:v8";
import { folder } from "../bench.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { Stage } from "./stage.ts";
import { systemClock } from "../../../src/system.ts";

const RESTORING = {
  initialize: { agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } } },
  history: [],
};

/** Resolves when a file is there. */
async function there(path: string): Promise<void> {
  for (;;) {
    try {
      return void await Deno.stat(path);
    } catch {
      await systemClock.turn();
    }
  }
}

for (
  const { method, params } of [
    { method: "terminal/create", params: { command: "true" } },
    { method: "fs/write_text_file", params: { path: "left", content: "x" } },
    { method: "fs/read_text_file", params: { path: "cue" } },
  ]
) {
  Deno.test(`[E3] [S3] a Session that was closed serves no ${method}, and does again once it is opened anew`, async () => {
    await using place = await folder();
    await using stage = new Stage();
    const parts = { cwd: place.path };
    const first = await stage.open(parts);
    const asked = {
      ...params,
      ...("path" in params && { path: `${place.path}/${params.path}` }),
    };
    const ask = `ask ${method} ${JSON.stringify(asked)}`;
    const { sink, outcome } = first.start(
      `say up\nuntil ${place.path}/cue\n${ask}\nnote ${place.path}/answer`,
    );
    await sink.when(([name]) => name === "message");
    await first.session.close();
    await outcome;
    await Deno.writeTextFile(`${place.path}/cue`, "");
    await there(`${place.path}/answer`);
    const second = await stage.open({ ...parts, restored: first.host.states[0] });
    const ended = `ask terminal/wait_for_exit {"terminalId":"gangway-terminal-1"}`;
    const again = await second.run(method === "terminal/create" ? `${ask}\n${ended}` : ask);
    const answer: JsonObject = JSON.parse(await Deno.readTextFile(`${place.path}/answer`));
    assertEquals((answer.error as JsonObject | undefined)?.code, -32002);
    assert(!again.sink.said().includes("error"), again.sink.said());
  });
}

Deno.test("[E4] a Session that is closed and opened again while the agent loads it is not closed under the second one", async () => {
  await using place = await folder();
  const gate = `${place.path}/gate`;
  await using stage = new Stage({ ...RESTORING, gate });
  const restored: Json = { sessionId: "kept" };
  const first = await stage.open({ restored });
  const begun = first.start("say x");
  await there(`${gate}.asked`);
  await first.session.close();
  await begun.outcome;
  await Deno.remove(`${gate}.asked`);
  const second = await stage.open({ restored });
  const next = second.start("asked");
  await there(`${gate}.asked`);
  await Deno.writeTextFile(gate, "");
  assertEquals((await next.outcome).kind, "completed");
  const heard: string[] = JSON.parse(next.sink.said());
  assertEquals(heard.filter((method) => method !== "session/load"), ["initialize", "session/prompt"]);
});

Deno.test("[E4] a Session that the Host could not keep is not left open in the agent", async () => {
  await using stage = new Stage(RESTORING);
  const visit = await stage.open({ full: true });
  const { outcome } = await visit.run("say x");
  assertEquals(outcome.kind, "failed");
  const other = await stage.open({ sessionId: "other" });
  const { sink } = await other.run("asked");
  assertEquals(JSON.parse(sink.said()), [
    "initialize",
    "session/new",
    "session/close",
    "session/new",
    "session/prompt",
  ]);
});

Deno.test("[E2] [S3] an agent that serves on keeps nothing of Sessions that were closed", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  await using stage = new Stage(RESTORING);
  const visit = async (sessionId: string) => {
    const { host, session } = await stage.open({ sessionId });
    const sink = new RecordingSink();
    const turn = { turnId: "t", runId: "r", input: { parts: [{ kind: "text", text: "say x" } as const] } };
    await session.run({ ...turn, services: () => NO_SERVICES }, sink, new AbortController().signal);
    await session.close();
    return new WeakRef(host);
  };
  const hosts = await Promise.all(Array.from({ length: 8 }, (_, at) => visit(`s${at}`)));
  // Answered behind the ends of the others.
  await visit("last");
  const left = () => hosts.filter((host) => host.deref() !== undefined).length;
  for (let round = 0; round < 20 && left() > 0; round++) {
    await systemClock.turn();
    collect();
  }
  assertEquals(left(), 0);
});
