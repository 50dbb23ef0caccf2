import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { AgentProcess } from "../../../src/engine/acp/process.ts";
import { KeptLog, Stage } from "./stage.ts";
import { gone } from "../gone.ts";

/** Starts an agent that has started a program, and gives both pids. */
async function family(stage: Stage): Promise<readonly number[]> {
  const visit = await stage.open();
  const { sink } = await visit.run("spawn");
  return sink.said().split(" ").map(Number);
}

for (const stays of [false, true]) {
  Deno.test(`[E3] nothing of an agent that ${stays ? "stays" : "ends"} at the end of its input outlives the Engine`, async () => {
    const stage = new Stage({ stays });
    const pids = await family(stage);
    assertEquals(pids.length, 2);
    await stage.engine.close();
    await gone(pids);
  });
}

Deno.test("[E3] what an agent started ends with it", async () => {
  await using stage = new Stage();
  const [agent = 0, child = 0] = await family(stage);
  Deno.kill(agent, "SIGKILL");
  await gone([child]);
});

Deno.test("[E3] kill -9 of Gangway ends the agent and what it started", async () => {
  const script = new URL("killed.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script],
    stdout: "piped",
    env: { JSR_URL: Deno.env.get("JSR_URL") ?? "" },
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("\n")) said += (await reader.read()).value;
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  await gone(said.trim().split(" ").map(Number));
});

const failing: readonly { name: string; program: string; says: string }[] = [
  { name: "is not there", program: "no-such-agent-here", says: 'there is no program "no-such-agent-here"' },
  { name: "cannot be run", program: "/dev/null", says: '"/dev/null" is no program that can be run' },
];
for (const { name, program, says } of failing) {
  Deno.test(`[E2] a program that ${name} fails the Turn with a sentence that names it`, async () => {
    await using stage = new Stage({ command: { program, args: [] } });
    const visit = await stage.open();
    const { outcome } = await visit.run("say hello");
    assert(outcome.kind === "failed");
    assertEquals(outcome.failure.class, "engine_gone");
    assertStringIncludes(outcome.failure.message, says);
  });
}

Deno.test("[E2] stderr goes to the log in bounds, and never blocks the agent", async () => {
  const log = new KeptLog();
  const script =
    `head -c 3000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; for i in 1 2 3; do echo "line $i" >&2; done; echo done`;
  const process = AgentProcess.start({ program: "sh", args: ["-c", script] }, log);
  const said = await new Response(process.stdout).text();
  assertEquals(said, "done\n");
  assertEquals(await process.ended, { code: 0 });
  const kept = log.lines.reduce((sum, { data }) => sum + String(data?.line ?? "").length, 0);
  assert(kept < 1_200_000, `${kept} characters are in the log`);
  assert(log.lines.every(({ data }) => String(data?.line ?? "").length <= 2000));
  assertStringIncludes(process.lastWords, "line 3\n");
  await process.close();
});

Deno.test("[E3] an exit code is told, and its mark is no part of what the agent wrote", async () => {
  const log = new KeptLog();
  const process = AgentProcess.start({ program: "sh", args: ["-c", "echo why >&2; exit 3"] }, log);
  await process.stdout.cancel();
  assertEquals(await process.ended, { code: 3 });
  assertEquals(process.lastWords, "why\n");
  await process.close();
});

Deno.test("[E2] variables and the working directory reach the agent", async () => {
  const process = AgentProcess.start(
    { program: "sh", args: ["-c", 'echo "$MINE $(pwd)"'], env: { MINE: "yes" }, cwd: "/" },
    new KeptLog(),
  );
  assertEquals(await new Response(process.stdout).text(), "yes /\n");
  await process.close();
});

Deno.test("[S9] an agent that is given its environment has no other variable", async () => {
  Deno.env.set("GANGWAY_TEST_SECRET", "inherited");
  try {
    const process = AgentProcess.start(
      {
        program: "sh",
        args: ["-c", 'echo "$MINE ${GANGWAY_TEST_SECRET:-none}"'],
        env: { MINE: "yes" },
        environment: "given",
      },
      new KeptLog(),
    );
    assertEquals(await new Response(process.stdout).text(), "yes none\n");
    await process.close();
  } finally {
    Deno.env.delete("GANGWAY_TEST_SECRET");
  }
});
