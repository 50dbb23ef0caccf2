import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { alive, gone } from "../../engine/gone.ts";
import { openSession, promptParams, tell } from "../../support/talk.ts";
import { HostLock } from "../../../src/host/wire/transport/host_lock.ts";
import { listenOnSocket } from "../../../src/host/wire/transport/socket.ts";
import { publishEndpoint } from "../../../src/host/wire/transport/endpoint.ts";
import { readFirstLine, writeLine } from "../../../src/cli/daemon/first_line.ts";
import { Rendezvous } from "../../../src/host/wire/transport/rendezvous.ts";
import { permitted, script } from "../../support/launch.ts";
import { withEditor } from "../../support/editor.ts";
import { withHouse } from "./house.ts";

/** Fields of /proc/PID/stat: parent, process group, session and terminal. */
function familyOf(pid: number): { parent: number; group: number; session: number; terminal: number } {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/^.*\) /, "").split(" ").map(Number);
  const [, parent = 0, group = 0, session = 0, terminal = 0] = fields;
  return { parent, group, session, terminal };
}

Deno.test("[A4] the handshake of --host auto starts nothing and touches no file", async () => {
  await withHouse(async (house) => {
    await withEditor({ launch: house.editor() }, async (editor) => {
      await editor.initialize();
      assertEquals(await house.status(), undefined);
      assertEquals(await Deno.stat(house.state).catch(() => undefined), undefined);
    });
  });
});

Deno.test("[W1] editors that start at once have one Host, of nobody's process group, without a terminal", async () => {
  await withHouse(async (house) => {
    const pids = await Promise.all([1, 2, 3].map(async () => {
      let pid = 0;
      await withEditor({ launch: house.editor(), deadlineMs: 30_000 }, async (editor) => {
        const sessionId = await openSession(editor, house.cwd);
        assertEquals((await tell(editor, sessionId, "/say hello")).stopReason, "end_turn");
        pid = await house.hostPid();
        const { group, session, terminal } = familyOf(pid);
        assertEquals([group, session, terminal], [pid, pid, 0]);
        assert(session !== familyOf(editor.pid).session);
      });
      return pid;
    }));
    assertEquals(new Set(pids).size, 1);
    for (const stream of [0, 1]) {
      assertEquals(await Deno.readLink(`/proc/${pids[0]}/fd/${stream}`), "/dev/null");
    }
    assertEquals(house.processes(), pids.slice(0, 1));
  });
});

Deno.test("[W1] gangway host says how it is, refuses a second one, and stops", async () => {
  await withHouse(async (house) => {
    assertEquals((await house.run("host", "status")).code, 1);
    assertEquals((await house.run("host", "stop")).code, 1);
    await withEditor({ launch: house.editor(), deadlineMs: 40_000 }, async (editor) => {
      const sessionId = await openSession(editor, house.cwd);
      const answer = editor.call("session/prompt", promptParams(sessionId, "/say begun\n/sleep 60000"));
      await editor.updated(sessionId, (update) => JSON.stringify(update).includes("begun"), "begun");
      const pid = await house.hostPid();
      const shown = await house.run("host", "status");
      assertEquals([shown.code, shown.stderr], [0, ""]);
      assertMatch(shown.stdout, new RegExp(`Process ${pid}, version \\d`));
      assertStringIncludes(
        shown.stdout,
        "Editors 1, open Sessions 1, Turns at work 1, waiting for an answer 0",
      );
      assertStringIncludes(shown.stdout, "leaves after 15 min");
      const told = JSON.parse((await house.run("host", "status", "--json")).stdout);
      assertEquals([told.running, told.pid, told.connections, told.sessions.length], [true, pid, 1, 1]);
      const second = await house.run("host");
      assertEquals(second.code, 1);
      assertStringIncludes(second.stderr, `process ${pid}`);
      const stopped = await house.run("host", "stop");
      assertEquals([stopped.code, stopped.stderr], [0, ""]);
      assert(!alive(pid) || (await gone([pid]), true));
      const ended = await answer;
      assert("error" in ended, JSON.stringify(ended));
      assertEquals((ended.error.data as { code: string }).code, "turn_interrupted");
      // The next prompt has a new Host.
      assertEquals((await tell(editor, sessionId, "/say next")).stopReason, "end_turn");
      assert(await house.hostPid() !== pid);
    });
  });
});

for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
  Deno.test(`[W1] ${signal} drains a Host: its Turns end as interrupted, and it says so by its code`, async () => {
    await withHouse(async (house) => {
      const { program, args, env } = script("mod.ts", "host", "--state", house.state);
      const host = new Deno.Command(program, {
        args: [...args],
        env: { ...env },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      await house.until((status) => status !== undefined, "the Host");
      await withEditor({ launch: house.editor() }, async (editor) => {
        const sessionId = await openSession(editor, house.cwd);
        assertEquals(await house.hostPid(), host.pid, "it is the one that was there");
        const answer = editor.call("session/prompt", promptParams(sessionId, "/say begun\n/sleep 60000"));
        await editor.updated(sessionId, (update) => JSON.stringify(update).includes("begun"), "begun");
        host.kill(signal);
        const { code: ended, stdout, stderr } = await host.output();
        assertEquals([ended, new TextDecoder().decode(stderr)], [code, ""]);
        assertStringIncludes(new TextDecoder().decode(stdout), `Serving ${house.state}`);
        const answered = await answer;
        assert("error" in answered, JSON.stringify(answered));
        assertEquals((answered.error.data as { code: string }).code, "turn_interrupted");
        assertEquals((await tell(editor, sessionId, "/say next")).stopReason, "end_turn");
      });
    });
  });
}

Deno.test("[W1] a Host that an editor started leaves when there was nothing to do for long enough", async () => {
  await withHouse(async (house) => {
    await withEditor({ launch: house.editor("--idle", "1") }, async (editor) => {
      const sessionId = await openSession(editor, house.cwd);
      const pid = await house.hostPid();
      // Longer than that, but an editor is there.
      await tell(editor, sessionId, "/sleep 1500");
      assertEquals(await house.hostPid(), pid);
    });
    await house.until((status) => status === undefined, "the Host's leaving");
  });
});

Deno.test("[W2] an older Host makes room when nobody needs it, which is said once; one that is needed stays", async (t) => {
  for (const needed of [false, true]) {
    await t.step(needed ? "needed" : "idle", async () => {
      await withHouse(async (house) => {
        await Deno.mkdir(house.state, { mode: 0o700 });
        const place = new Rendezvous(house.state);
        place.prepare();
        const lock = HostLock.take(place.lock);
        assert(lock instanceof HostLock);
        const listener = listenOnSocket(place.socket(undefined));
        publishEndpoint(place, listener.endpoint);
        const wants: string[] = [];
        const serving = (async () => {
          for await (const stream of listener.connections) {
            const { said } = await readFirstLine(stream, 1000);
            const { want } = said as { want: string };
            wants.push(want);
            const status = {
              ...{
                version: "0.0.1",
                pid: Deno.pid,
                folder: house.state,
                endpoint: listener.endpoint,
                uptime: 1,
              },
              ...{ connections: needed ? 1 : 0, sessions: [] },
            };
            await writeLine(stream, { ok: true, status });
            if (want === "stop") {
              await listener.close();
              lock.release();
            }
            stream.close();
            if (want === "host") await listener.close();
          }
        })();
        await withEditor({ launch: house.editor() }, async (editor) => {
          await editor.initialize();
          const asked = editor.call("session/new", { cwd: house.cwd, mcpServers: [] });
          await serving;
          if (needed) {
            lock.release();
            await asked;
            assertEquals(wants.slice(0, 2), ["status", "host"]);
            assertEquals(editor.stderr, "");
            return;
          }
          const answer = await asked;
          assert("result" in answer, JSON.stringify(answer));
          assertEquals(wants, ["status", "stop"]);
          assertEquals(editor.stderr.match(/version 0\.0\.1 had nothing to do and is replaced/g)?.length, 1);
        });
      });
    });
  }
});

Deno.test("[W4] an editor refuses a Host whose folder is open to others, and says what to do", async () => {
  await withHouse(async (house) => {
    await withEditor({ launch: house.editor() }, async (editor) => {
      await openSession(editor, house.cwd);
      await Deno.chmod(`${house.state}/host`, 0o755);
      const error = await editor.refused("session/list", {}).catch(() => undefined);
      assertEquals(error, undefined, "the connection that it has goes on");
    });
    await withEditor({ launch: house.editor() }, async (editor) => {
      await editor.initialize();
      const error = await editor.refused("session/list", {});
      assertStringIncludes(error.message, "cannot be trusted");
      await Deno.chmod(`${house.state}/host`, 0o700);
      await editor.request("session/list", {});
    });
  });
});

Deno.test("[A8] a Host that cannot be started says why, and the next request tries again", async () => {
  await withHouse(async (house) => {
    await Deno.writeTextFile(house.state, "in the way");
    await withEditor({ launch: house.editor() }, async (editor) => {
      await editor.initialize();
      const error = await editor.refused("session/list", {});
      assertStringIncludes(error.message, "could not be started");
      await Deno.remove(house.state);
      await editor.request("session/list", {});
    });
  });
});

Deno.test("[W1] the permissions that the README names suffice for --host auto", async () => {
  await withHouse(async (house) => {
    const flags = ["--allow-env", "--allow-net", "--allow-read", "--allow-write", "--allow-run"];
    const launch = permitted(flags, "mod.ts", "--state", house.state, "--host", "auto");
    await withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
      const sessionId = await openSession(editor, house.cwd);
      assertEquals((await tell(editor, sessionId, "/say hello")).stopReason, "end_turn");
      const words = (await Deno.readTextFile(`/proc/${await house.hostPid()}/cmdline`)).split("\0");
      assertEquals(words.filter((word) => word.startsWith("--allow")).toSorted(), flags.toSorted());
    });
  });
});

Deno.test("[A8] --host PATH takes a socket or a state folder, starts nothing, and says so where nobody is there", async () => {
  await withHouse(async (house) => {
    await withEditor({ launch: house.editor(), deadlineMs: 30_000 }, async (editor) => {
      const sessionId = await openSession(editor, house.cwd);
      for (const path of [house.state, `${house.state}/host/socket`]) {
        const launch = script("mod.ts", "--agent", "workbench", "--state", house.state, "--host", path);
        await withEditor({ launch, deadlineMs: 30_000 }, async (other) => {
          await other.initialize();
          const { sessions } = await other.request("session/list", {}) as {
            sessions: { sessionId: string }[];
          };
          assertEquals(sessions.map((each) => each.sessionId), [sessionId]);
        });
      }
    });
    assertEquals((await house.run("host", "stop")).code, 0);
    const launch = script("mod.ts", "--agent", "workbench", "--state", house.state, "--host", house.state);
    await withEditor({ launch, deadlineMs: 30_000 }, async (editor) => {
      await editor.initialize();
      assertStringIncludes((await editor.refused("session/list", {})).message, "start it with gangway host");
      assertEquals(await house.status(), undefined);
    });
  });
});
