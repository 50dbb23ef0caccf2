import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Ended, type House, withHouse } from "../process/daemon/house.ts";
import { ageOf, plain, stateOf, tableOf } from "../../src/cli/sessions/table.ts";
import { LocalHost } from "../../src/host/local/host.ts";
import { openFolderStore } from "../../src/host/store/folder.ts";
import { openSession, tell } from "../support/talk.ts";
import { randomIds, systemClock } from "../../src/system.ts";
import type { SessionInfo } from "../../src/host/contract.ts";
import { silentLog } from "../../src/model/log.ts";
import { withEditor } from "../support/editor.ts";
import { workbench } from "../../src/engine/workbench/mod.ts";

function info(sessionId: string, more: Partial<SessionInfo> = {}): SessionInfo {
  return {
    sessionId,
    cwd: "/home/me/project",
    roots: [],
    engineId: "workbench",
    createdAt: 0,
    updatedAt: 0,
    config: { revision: 1, options: [] },
    commands: [],
    ...more,
  };
}

Deno.test("a table fits the terminal, shortens what is long, and shows nothing that could steer it", () => {
  const lines = tableOf(
    [
      { info: info("aaaaaaaa-1", { title: "Mend \u001b[31mthe\u202e\nrecipe" }) },
      { info: info("bbbbbbbb-2", { cwd: `/home/me/${"deep/".repeat(20)}end` }), words: "w".repeat(200) },
      { info: info("cccccccc-3", { updatedAt: 3_500_000 }) },
    ],
    3_600_000,
    80,
    "/home/me",
  );
  assertEquals(lines.length, 4);
  assert(lines.every((line) => line.length <= 80), lines.join("\n"));
  assertMatch(lines[0]!, /^ID +LAST USED +STATE +TITLE +FOLDER$/);
  assertMatch(lines[1]!, /^aaaaaaaa {2}1 h ago {4}idle {3}Mend \[31mthe recipe +~\/project$/);
  assertMatch(lines[2]!, /w… {2}…\S+end$/);
  assertMatch(lines[3]!, /^cccccccc {2}1 min ago/);
});

Deno.test("ids that begin alike are shown as long as tells them apart", () => {
  const [, first, second] = tableOf([{ info: info("aaaaaaaaaa1") }, { info: info("aaaaaaaaaa2") }], 0, 80);
  assertEquals([first?.split(" ")[0], second?.split(" ")[0]], ["aaaaaaaaaa1", "aaaaaaaaaa2"]);
});

Deno.test("what a Session does and how old it is, in a word or two", () => {
  const held = { sessionId: "s", cwd: "/", editors: 0, running: 0, waiting: 0 };
  assertEquals(
    [undefined, held, { ...held, editors: 1 }, { ...held, running: 1 }, { ...held, running: 1, waiting: 1 }]
      .map(stateOf),
    ["idle", "idle", "open", "running", "waiting"],
  );
  const minute = 60_000;
  assertEquals(
    [0, minute, 59 * minute, 60 * minute, 24 * 60 * minute, 366 * 24 * 60 * minute].map(ageOf),
    ["just now", "1 min ago", "59 min ago", "1 h ago", "1 d ago", "1 y ago"],
  );
  assertEquals(plain("\u0007a\tb\u009b"), "a b");
});

/** Fills a state folder, newest last. */
async function fill(house: House, count: number): Promise<void> {
  const host = new LocalHost({
    store: () => openFolderStore({ folder: house.state, log: silentLog }),
    engines: [workbench()],
    defaultEngine: "workbench",
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
  });
  const connection = host.connect("fill");
  for (let at = 0; at < count; at++) {
    const sessionId = `${String(at).padStart(4, "0")}-session`;
    await connection.sessions.create({ sessionId, cwd: house.cwd, roots: [], mcpServers: [] });
    await connection.sessions.release(sessionId);
  }
  await host.close();
}

function linesOf({ stdout }: Ended): string[] {
  return stdout.trim().split("\n");
}

Deno.test("many Sessions make a short list with a way to all of them", async () => {
  await withHouse(async (house) => {
    assertEquals(linesOf(await house.run("sessions")), ["There are no Sessions"]);
    await fill(house, 130);
    const short = linesOf(await house.run("sessions"));
    assertEquals(short.length, 32);
    assertMatch(short[1]!, /^0129-ses/);
    assertStringIncludes(short.at(-1)!, "--all");
    const { stdout } = await house.run("sessions", "--json");
    const all: { sessionId: string }[] = JSON.parse(stdout);
    assertEquals([all.length, all[0]?.sessionId, all.at(-1)?.sessionId], [
      130,
      "0129-session",
      "0000-session",
    ]);
  });
});

for (const where of ["from the state folder", "from the Host"] as const) {
  Deno.test(`[W1] Sessions are listed, shown and deleted ${where}`, async () => {
    await withHouse(async (house) => {
      const sessions: string[] = [];
      await withEditor({ launch: house.editor(), deadlineMs: 40_000 }, async (editor) => {
        sessions.push(await openSession(editor, house.cwd));
        assertEquals(
          (await tell(editor, sessions[0]!, "Mend the recipe\n/say hello")).stopReason,
          "end_turn",
        );
        if (where === "from the Host") return await read(house, sessions[0]!, "open");
      });
      if (where === "from the state folder") {
        assertEquals((await house.run("host", "stop")).code, 0);
        await read(house, sessions[0]!, "idle");
      }
    });
  });
}

async function read(house: House, sessionId: string, state: string): Promise<void> {
  const lines = linesOf(await house.run("sessions", "list"));
  assertEquals(lines.length, 2);
  assertMatch(lines[1]!, new RegExp(`^${sessionId.slice(0, 8)}  just now   ${state} +Mend the recipe`));
  const shown = await house.run("sessions", "show", sessionId.slice(0, 8));
  assertEquals(shown.code, 0);
  for (const text of [sessionId, house.cwd, "Mend the recipe", "hello", "end_turn"]) {
    assertStringIncludes(shown.stdout, text);
  }
  const { rows } = JSON.parse((await house.run("sessions", "show", sessionId, "--json")).stdout);
  assertEquals(rows[0].body.kind, "user");
  assertEquals(rows.at(-1).body.end.how, "completed");
  for (
    const [id, sentence] of [["nope-nope", "There is no Session"], ["a", "at least 4 characters"]] as const
  ) {
    const refused = await house.run("sessions", "delete", id);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stdout, sentence);
  }
  const deleted = await house.run("sessions", "delete", sessionId.slice(0, 12));
  assertEquals([deleted.code, deleted.stdout], [0, `Deleted ${sessionId}\n`]);
  assertEquals(linesOf(await house.run("sessions")), ["There are no Sessions"]);
}
