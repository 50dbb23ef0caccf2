import { Acpx, installAcpx } from "./acpx.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { gangway, withFolder } from "../support/launch.ts";

/** The Node that comes from npm is a program for Linux on x64; elsewhere acpx has to be tried by hand. */
const ignore = Deno.build.os !== "linux" || Deno.build.arch !== "x86_64";

async function withAcpx(body: (acpx: Acpx, cwd: string) => Promise<void>): Promise<void> {
  const installed = await installAcpx();
  await withFolder(async (folder) => {
    for (const name of ["home", "work"]) await Deno.mkdir(`${folder}/${name}`);
    const agent = gangway("--state", `${folder}/state`);
    await body(
      new Acpx(installed, { home: `${folder}/home`, cwd: `${folder}/work`, agent }),
      `${folder}/work`,
    );
  });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test({
  name: "[A1] [I9] acpx runs a prompt, approves one and denies one",
  ignore,
  async fn(t) {
    await withAcpx(async (acpx, cwd) => {
      await t.step("exec", async () => {
        const { code, stdout, stderr } = await acpx.run("--format", "quiet", "exec", "/think hm\n/say hello");
        assertEquals([code, stdout.trim()], [0, "hello"], stderr);
      });
      await t.step("approved", async () => {
        const { code, stdout } = await acpx.run(
          "--approve-all",
          "exec",
          "/write yes.txt words\n/run cat yes.txt",
        );
        assertEquals([code, await exists(`${cwd}/yes.txt`)], [0, true], stdout);
        assertStringIncludes(stdout, "Write yes.txt (completed)");
        assertStringIncludes(stdout, "[done] end_turn");
      });
      await t.step("denied", async () => {
        const { stdout } = await acpx.run("--deny-all", "exec", "/write no.txt words");
        assertEquals(await exists(`${cwd}/no.txt`), false, stdout);
        assertStringIncludes(stdout, "Write no.txt (failed)");
        assertStringIncludes(stdout, "[done] end_turn");
      });
    });
  },
});

Deno.test({
  name: "[C7] [S3] [S6] acpx keeps a Session, cancels its prompt, lists and closes it",
  ignore,
  async fn(t) {
    await withAcpx(async (acpx) => {
      let sessionId = "";
      await t.step("new", async () => {
        const { code, stdout } = await acpx.run("--format", "quiet", "sessions", "new");
        assertEquals(code, 0);
        sessionId = stdout.trim();
      });
      await t.step("cancel", async () => {
        const prompt = acpx.start("--format", "json", "--ttl", "60", "prompt", "/say begun\n/sleep 60000");
        await prompt.said('"begun"');
        assertStringIncludes((await acpx.run("cancel")).stdout, "cancel");
        const { stdout } = await prompt.ended;
        assertStringIncludes(stdout, '"stopReason":"cancelled"');
      });
      await t.step("the Session goes on", async () => {
        const { stdout } = await acpx.run("--format", "json", "--ttl", "60", "prompt", "/say on");
        assertStringIncludes(stdout, '"text":"on"');
        assertStringIncludes(stdout, '"stopReason":"end_turn"');
      });
      await t.step("close", async () => assertEquals((await acpx.run("sessions", "close")).code, 0));
      await t.step("list", async () => {
        const { code, stdout } = await acpx.run("--format", "json", "sessions", "list");
        assertEquals(code, 0);
        const { source, sessions } = JSON.parse(stdout);
        assert(source === "agent" && sessions.length >= 1, `${sessionId}: ${stdout}`);
      });
    });
  },
});
