import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import type { TurnRecord, Write } from "../../../src/host/store/contract.ts";
import type { SessionStore, Store } from "../../../src/host/store/contract.ts";
import { openFolderStore } from "../../../src/host/store/folder.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { headOf, infoOf, keptLog, numbersOf, refusalOf, rowOf, withFolder } from "./support.ts";

/** Both stores keep the same promises: each check runs against each of them. */
const STORES: readonly { name: string; with(work: (store: Store) => Promise<void>): Promise<void> }[] = [
  { name: "memory", with: (work) => closing(Promise.resolve(new MemoryStore()), work) },
  {
    name: "folder",
    with: (work) => withFolder((folder) => closing(openFolderStore({ folder, log: keptLog() }), work)),
  },
];

async function closing(opening: Promise<Store>, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await opening;
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function check(name: string, work: (store: Store) => Promise<void>): void {
  for (const each of STORES) Deno.test(`${name} (${each.name})`, () => each.with(work));
}

/** A check of one Session. `again` lets go of it and takes hold of it anew, so that nothing comes from a cache. */
function checkSession(
  name: string,
  work: (session: SessionStore, again: () => Promise<SessionStore>) => Promise<void>,
): void {
  check(name, async (store) => {
    let session = await store.create(infoOf("one"));
    await work(session, async () => {
      await session.close();
      session = await store.hold("one");
      return session;
    });
  });
}

const END = { how: "completed", stopReason: "end_turn" } as const;
const ORIGIN = { kind: "connection", connectionId: "c" } as const;

function admitted(turnId: string): TurnRecord {
  return {
    state: "admitted",
    run: { turnId, runId: `run of ${turnId}` },
    foreground: true,
    origin: ORIGIN,
    cut: 0,
  };
}

async function bodyOf(session: SessionStore, seq: number): Promise<string> {
  return await session.body(seq, 0, Number.MAX_SAFE_INTEGER);
}

// Sessions

check("a Session is created once, held once and found again", async (store) => {
  const info = infoOf("one", { title: "First", usage: { used: 1, size: 2 } });
  const session = await store.create(info);
  assertEquals(session.sessionId, "one");
  assertEquals(await store.get("one"), info);
  assertEquals(await store.get("two"), undefined);
  assertEquals((await refusalOf(store.create(info))).code, "conflict");
  const busy = await refusalOf(store.hold("one"));
  assertEquals([busy.code, busy.data.pid], ["busy", Deno.pid]);
  assertEquals((await refusalOf(store.remove("one"))).code, "busy");
  await session.close();
  await session.close();
  const again = await store.hold("one");
  assertEquals((await again.load()).info, info);
});

check("ids that could leave the folder are refused before anything else", async (store) => {
  for (const id of ["", ".", "..", "a/b", "../a", "a.b", "a b", "é", "a\0", "x".repeat(65)]) {
    assertEquals((await refusalOf(store.create(infoOf(id)))).code, "invalid", JSON.stringify(id));
    assertEquals((await refusalOf(store.hold(id))).code, "invalid", JSON.stringify(id));
    assertEquals((await refusalOf(store.remove(id))).code, "invalid", JSON.stringify(id));
  }
  const session = await store.create(infoOf("x".repeat(64)));
  for (const id of ["../x", "a/b", ".", ""]) {
    assertEquals((await refusalOf(session.artifacts.begin(id))).code, "invalid");
    assertEquals((await refusalOf(session.artifacts.read(id, 0, 1))).code, "invalid");
    assertEquals((await refusalOf(session.artifacts.remove(id))).code, "invalid");
  }
});

check("[H4] a removed Session is gone with everything, and removing nothing is silent", async (store) => {
  const session = await store.create(infoOf("one"));
  await session.commit(rowOf(1, "secret"));
  await session.artifacts.begin("up");
  await session.artifacts.append("up", new Uint8Array(10));
  await session.artifacts.seal("up", "art");
  await session.close();
  await store.remove("one");
  await store.remove("one");
  await store.remove("never");
  assertEquals((await refusalOf(store.hold("one"))).code, "not_found");
  assertEquals((await store.list({ limit: 10 })).sessions, []);
  const fresh = await store.create(infoOf("one"));
  assertEquals(await fresh.heads({ after: 0, limit: 10 }), []);
  assertEquals((await refusalOf(fresh.artifacts.read("art", 0, 1))).code, "not_found");
});

check("closed things say so", async (store) => {
  const session = await store.create(infoOf("one"));
  await session.close();
  for (
    const work of [
      session.load(),
      session.commit([]),
      session.heads({ after: 0, limit: 1 }),
      session.body(1, 0, 1),
      session.turn("t"),
      session.artifacts.begin("up"),
      session.artifacts.list(),
    ]
  ) assertEquals((await refusalOf(work)).code, "unavailable");
  await store.close();
  for (
    const work of [store.list({ limit: 1 }), store.get("one"), store.hold("one"), store.create(infoOf("two"))]
  ) {
    assertEquals((await refusalOf(work)).code, "unavailable");
  }
});

// The list

check(
  "[S6] the list is newest first, pages without gap or repetition, and filters by folder",
  async (store) => {
    const next = numbersOf(7);
    const all = Array.from(
      { length: 23 },
      (_, at) => infoOf(`s${at}`, { updatedAt: 1000 + next(5), cwd: next(2) === 0 ? "/a" : "/b" }),
    );
    for (const info of all) {
      await (await store.create(info)).close();
    }
    for (const cwd of [undefined, "/a", "/b", "/none"]) {
      const wanted = all.filter((info) => cwd === undefined || info.cwd === cwd)
        .sort((a, b) => b.updatedAt - a.updatedAt || (a.sessionId < b.sessionId ? 1 : -1));
      for (const limit of [1, 4, 23, 100]) {
        const found = [];
        let cursor: string | undefined;
        do {
          const page = await store.list({ cwd, cursor, limit });
          assert(page.sessions.length <= limit);
          found.push(...page.sessions);
          cursor = page.next;
          assert(cursor === undefined || cursor.length <= 256);
        } while (cursor !== undefined);
        assertEquals(found, wanted);
      }
    }
  },
);

check("[S6] a Session that moves up while pages are read is never seen twice", async (store) => {
  const sessions = [];
  for (let at = 0; at < 4; at++) {
    sessions.push(await store.create(infoOf(`s${at}`, { updatedAt: 1000 + at })));
  }
  const first = await store.list({ limit: 2 });
  assertEquals(first.sessions.map((info) => info.sessionId), ["s3", "s2"]);
  await sessions[0]?.commit([{ op: "info", info: infoOf("s0", { updatedAt: 2000 }) }]);
  const second = await store.list({ limit: 2, cursor: first.next });
  assertEquals(second.sessions.map((info) => info.sessionId), ["s1"]);
  assertEquals((await store.list({ limit: 1 })).sessions.map((info) => info.sessionId), ["s0"]);
});

check("[S6] a foreign or broken cursor is refused clearly", async (store) => {
  for (let at = 0; at < 3; at++) await store.create(infoOf(`s${at}`));
  const cursor = (await store.list({ limit: 1 })).next ?? "";
  const other = new MemoryStore();
  for (let at = 0; at < 3; at++) await other.create(infoOf(`s${at}`));
  const foreign = (await other.list({ limit: 1 })).next ?? "";
  await other.close();
  const broken = [
    foreign,
    "",
    "x",
    "..",
    cursor.slice(1),
    cursor.slice(0, -1),
    cursor + "x",
    cursor.replace("1000", "1001"),
    "x".repeat(100_000),
  ];
  for (const each of broken) {
    const error = await refusalOf(store.list({ limit: 1, cursor: each }));
    assertEquals(error.code, "invalid", each.slice(0, 80));
    assertStringIncludes(error.message, "cursor");
  }
  assertEquals((await refusalOf(store.list({ limit: 1, cursor, cwd: "/work" }))).code, "invalid");
});

// Commits

checkSession("a commit is whole or not at all, and hurts no other", async (session, again) => {
  await session.commit(rowOf(1, "abc"));
  const bad: readonly (readonly Write[])[] = [
    [...rowOf(3, "x"), { op: "append", seq: 1, offset: 2, text: "y" }],
    [{ op: "watermark", seq: 9 }, { op: "append", seq: 7, offset: 0, text: "y" }],
    [{ op: "grant", grant: grantOf("g") }, { op: "body", seq: 7, text: "y" }],
    [{ op: "change", changeId: "c", revision: 1 }, { op: "pin", turnId: "t", artifactId: "none" }],
    [{ op: "turn", turn: admitted("t") }, {
      op: "row",
      head: headOf(1, "abc", { run: { turnId: "u", runId: "r" } }),
    }],
  ];
  const run = { turnId: "turn-2", runId: "run-2" };
  const results = await Promise.allSettled([
    session.commit([{ op: "append", seq: 1, offset: 3, text: "d" }, ...rowOf(2, "new", { run })]),
    ...bad.map((batch) => session.commit(batch)),
    session.commit([{ op: "append", seq: 1, offset: 4, text: "e" }]),
  ]);
  assertEquals(results.map((result) => result.status === "fulfilled"), [true, ...bad.map(() => false), true]);
  for (const result of results) {
    if (result.status === "rejected") assertEquals(result.reason.code, "persistence_failed");
  }
  session = await again();
  assertEquals(await bodyOf(session, 1), "abcde");
  assertEquals(await session.heads({ after: 0, limit: 9 }), [headOf(1, "abc"), headOf(2, "new", { run })]);
  assertEquals(await session.heads({ turnId: "turn-2", after: 0, limit: 9 }), [headOf(2, "new", { run })]);
  const state = await session.load();
  assertEquals([state.watermark, state.grants, state.unended, state.last], [0, [], [], 2]);
  assertEquals([await session.change("c"), await session.turn("t")], [undefined, undefined]);
});

checkSession("batches take effect in call order and readers see them at once", async (session, again) => {
  const commits: Promise<void>[] = [session.commit([{ op: "row", head: headOf(1, "") }])];
  let text = "";
  for (let at = 0; at < 50; at++) {
    commits.push(session.commit([{ op: "append", seq: 1, offset: text.length, text: `${at} ` }]));
    text += `${at} `;
    if (at % 10 === 0) assertEquals(await bodyOf(session, 1), text);
  }
  await Promise.all(commits);
  const last = session.commit([{ op: "append", seq: 1, offset: text.length, text: "end" }]);
  session = await again();
  await last;
  assertEquals(await bodyOf(session, 1), `${text}end`);
});

checkSession("[H3] load tells what a Host needs to go on", async (session, again) => {
  const info = infoOf("one", { title: "Named", updatedAt: 5000, config: { revision: 3, options: [] } });
  const ended: TurnRecord = {
    state: "ended",
    run: { turnId: "t1", runId: "run of t1" },
    foreground: true,
    origin: ORIGIN,
    cut: 0,
    end: END,
    through: 2,
  };
  await session.commit([{ op: "turn", turn: admitted("t1") }, ...rowOf(1, "one"), ...rowOf(2, "two")]);
  await session.commit([
    { op: "turn", turn: ended },
    { op: "turn", turn: admitted("t2") },
    { op: "turn", turn: { state: "tombstone", turnId: "t3" } },
    { op: "info", info },
    { op: "watermark", seq: 1 },
    ...rowOf(5, "open", { complete: false }),
    { op: "grant", grant: grantOf("g1") },
    { op: "grant", grant: grantOf("g2") },
    { op: "engine_state", value: { deep: [1, "zwei", null] } },
    { op: "mcp", digest: "keyed" },
  ]);
  await session.commit([{ op: "revoke", grantId: "g1" }, { op: "revoke", grantId: "never" }]);
  session = await again();
  assertEquals(await session.load(), {
    info,
    unended: [admitted("t2")],
    grants: [grantOf("g2")],
    engineState: { deep: [1, "zwei", null] },
    watermark: 1,
    last: 5,
    open: [headOf(2, "two"), headOf(5, "open", { complete: false })],
  });
  assertEquals(await session.turn("t1"), ended);
  assertEquals(await session.turn("t3"), { state: "tombstone", turnId: "t3" });
  assertEquals(await session.turn("t4"), undefined);
});

checkSession("an empty Session loads empty", async (session) => {
  const state = await session.load();
  assertEquals(state.engineState, undefined);
  assertEquals([state.unended, state.grants, state.open, state.last, state.watermark], [[], [], [], 0, 0]);
  await session.commit([]);
});

checkSession(
  "interactions and changes are found by their ids, whatever these are",
  async (session, again) => {
    const run = { turnId: "t", runId: "r" };
    const ids = ["plain", "\ud83d", "a\0b", "a", "", "😀"];
    for (const [at, id] of ids.entries()) {
      await session.commit([
        {
          op: "interaction",
          interactionId: id,
          run,
          reason: "answered",
          answer: { kind: "option", optionId: id },
          by: "c",
        },
        { op: "change", changeId: id, revision: at },
        { op: "turn", turn: { state: "tombstone", turnId: id } },
        ...rowOf(at + 1, id, { id, run: { turnId: id, runId: id } }),
      ]);
    }
    session = await again();
    for (const [at, id] of ids.entries()) {
      assertEquals(await session.interaction(id), {
        run,
        reason: "answered",
        answer: { kind: "option", optionId: id },
        by: "c",
      });
      assertEquals(await session.change(id), at);
      assertEquals(await session.turn(id), { state: "tombstone", turnId: id });
      const wanted = headOf(at + 1, id, { id, run: { turnId: id, runId: id } });
      assertEquals(await session.heads({ turnId: id, after: 0, limit: 9 }), [wanted]);
      assertEquals(await bodyOf(session, at + 1), id);
    }
    assertEquals([await session.interaction("no"), await session.change("no")], [undefined, undefined]);
  },
);

// Rows and bodies

checkSession("a head is replaced and its body stays", async (session) => {
  await session.commit(rowOf(1, "first", { complete: false, sensitive: true }));
  const head = headOf(1, "first", { kind: "tool", id: "tool", run: { turnId: "turn-1", runId: "run-2" } });
  await session.commit([{ op: "row", head }]);
  assertEquals(await session.heads({ after: 0, limit: 9 }), [head]);
  assertEquals(await bodyOf(session, 1), "first");
  for (
    const [at, kind] of (["user", "text", "thinking", "tool", "plan", "notice", "end"] as const).entries()
  ) {
    await session.commit(rowOf(at + 2, "", { kind }));
    assertEquals((await session.heads({ after: at + 1, limit: 1 }))[0]?.kind, kind);
  }
});

checkSession(
  "bodies grow, are replaced and are read from anywhere, cut as they may be",
  async (session, again) => {
    for (let seed = 1; seed <= 12; seed++) {
      const next = numbersOf(seed);
      const pieces = ["a", "é", "漢", "😀", "\ud83d", "\ude00", "\0", "x".repeat(700), "😀".repeat(3000), ""];
      let text = "";
      await session.commit([{ op: "row", head: headOf(seed, "") }]);
      for (let step = 0; step < 40; step++) {
        const batch: Write[] = [];
        for (let write = next(4); write >= 0; write--) {
          const piece = (pieces[next(pieces.length)] ?? "").slice(0, next(6001));
          if (next(15) === 0) {
            text = piece;
            batch.push({ op: "body", seq: seed, text });
          } else {
            batch.push({ op: "append", seq: seed, offset: text.length, text: piece });
            text += piece;
          }
        }
        await session.commit(batch);
        const offset = next(text.length + 10);
        const length = next(20_000);
        assertEquals(await session.body(seed, offset, length), text.slice(offset, offset + length));
      }
      session = await again();
      assertEquals(await bodyOf(session, seed), text, `seed ${seed}`);
      const [row] = await session.rows({ after: seed - 1, limit: 1, length: 9000, maxLength: 1 });
      assertEquals(row?.text, text.slice(0, 9000));
    }
    assertEquals(await session.body(99, 0, 10), "");
  },
);

checkSession("a body of exactly whole parts, and one that grows past it", async (session, again) => {
  for (const [at, length] of [8191, 8192, 8193, 16384, 16385].entries()) {
    const text = "0123456789".repeat(2000).slice(0, length);
    await session.commit(rowOf(at + 1, text));
    session = await again();
    await session.commit([{ op: "append", seq: at + 1, offset: length, text: "more" }]);
    assertEquals(await bodyOf(session, at + 1), `${text}more`);
    await session.commit([{ op: "body", seq: at + 1, text: "new" }]);
    await session.commit([{ op: "append", seq: at + 1, offset: 3, text }]);
    assertEquals(await bodyOf(session, at + 1), `new${text}`);
  }
});

checkSession("rows and heads come in order, by Turn, within their bounds", async (session) => {
  const next = numbersOf(3);
  const texts = new Map<number, string>();
  const batch: Write[] = [];
  for (let seq = 1; seq <= 400; seq += 1 + next(3)) {
    const text = String(seq).repeat(next(40) + (next(20) === 0 ? 4000 : 0));
    texts.set(seq, text);
    batch.push(...rowOf(seq, text, { run: { turnId: `t${seq % 3}`, runId: "r" } }));
  }
  await session.commit(batch);
  const seqs = [...texts.keys()];
  for (const turnId of [undefined, "t0", "t1", "t2", "none"]) {
    for (
      const [after, through] of [[0, undefined], [0, 100], [57, 300], [300, 300], [1000, undefined]] as const
    ) {
      const wanted = seqs.filter((seq) =>
        seq > after && seq <= (through ?? Infinity) && (turnId === undefined || `t${seq % 3}` === turnId)
      );
      for (const limit of [1, 7, 1000]) {
        const heads = await session.heads({ turnId, after, through, limit });
        assertEquals(heads.map((head) => head.seq), wanted.slice(0, limit));
      }
      for (
        const bounds of [{ limit: 1000, length: 100, maxLength: 500 }, {
          limit: 5,
          length: 9000,
          maxLength: 1e6,
        }]
      ) {
        let at: number = after;
        const found: number[] = [];
        for (;;) {
          const rows = await session.rows({ turnId, after: at, through, ...bounds });
          if (rows.length === 0) break;
          let total = 0;
          for (const { head, text } of rows) {
            const whole = texts.get(head.seq) ?? "";
            assertEquals(head, headOf(head.seq, whole, { run: { turnId: `t${head.seq % 3}`, runId: "r" } }));
            assertEquals(text, whole.slice(0, bounds.length));
            found.push(head.seq);
            total += text.length;
          }
          assert(rows.length <= bounds.limit);
          assert(total <= bounds.maxLength || rows.length === 1);
          // A page that ends early does so only because the next row does not fit.
          at = found.at(-1) ?? at;
          const following = wanted.find((seq) => seq > at);
          if (following !== undefined && rows.length < bounds.limit) {
            assert(total + (texts.get(following) ?? "").slice(0, bounds.length).length > bounds.maxLength);
          }
        }
        assertEquals(found, wanted);
      }
    }
  }
});

// Artifacts

checkSession("[F3] uploads grow, are compared, measured and become Artifacts", async (session, again) => {
  const files = session.artifacts;
  const bytes = crypto.getRandomValues(new Uint8Array(50_000));
  const sha256 = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  assertEquals(await files.measure("up"), undefined);
  assertEquals(await Promise.all([files.begin("up"), files.begin("up")]), [0, 0]);
  const sizes = await Promise.all([
    files.append("up", bytes.subarray(0, 20_000)),
    files.append("up", bytes.subarray(20_000)),
    files.append("up", new Uint8Array(0)),
  ]);
  assertEquals(sizes, [20_000, 50_000, 50_000]);
  assertEquals(await files.begin("up"), 50_000);
  assertEquals(await files.peek("up", 100, 10), bytes.slice(100, 110));
  assertEquals(await files.peek("up", 49_990, 100), bytes.slice(49_990));
  assertEquals(await files.peek("up", 60_000, 100), new Uint8Array(0));
  assertEquals(await files.append("up", new Uint8Array([1])), 50_001);
  await files.remove("up");
  assertEquals(await files.measure("up"), undefined);
  await files.begin("up");
  await files.append("up", bytes);
  assertEquals(await files.measure("up"), { size: 50_000, sha256 });
  await files.seal("up", "art");
  assertEquals(await files.measure("up"), undefined);
  assertEquals((await refusalOf(files.append("up", bytes))).code, "not_found");
  assertEquals((await refusalOf(files.seal("up", "art2"))).code, "not_found");
  const artifact = { artifactId: "art", name: "a\0\ud83d.bin", mimeType: "x/y", size: 50_000, sha256 };
  await session.commit([{ op: "artifact", artifact }]);
  assertEquals(await files.list(), [{ artifact, pinned: false }]);
  await session.commit([{ op: "pin", turnId: "t", artifactId: "art" }]);
  session = await again();
  assertEquals(await session.artifacts.list(), [{ artifact, pinned: true }]);
  assertEquals(await session.artifacts.read("art", 0, 1e9), bytes);
  assertEquals(await session.artifacts.read("art", 49_999, 10), bytes.slice(49_999));
  assertEquals(await session.artifacts.read("art", 50_001, 10), new Uint8Array(0));
  assertEquals((await refusalOf(session.artifacts.read("other", 0, 1))).code, "not_found");
});

checkSession(
  "[F3] Artifacts are listed as they came; one that a Turn used is not removed alone",
  async (session) => {
    const artifacts = ["z", "a", "m"].map((artifactId) => ({
      artifactId,
      name: "n",
      mimeType: "t",
      size: 0,
      sha256: "",
    }));
    for (const artifact of artifacts) await session.commit([{ op: "artifact", artifact }]);
    await session.commit([{ op: "pin", turnId: "t", artifactId: "a" }, {
      op: "pin",
      turnId: "t",
      artifactId: "a",
    }]);
    assertEquals(
      (await session.artifacts.list()).map(({ artifact, pinned }) => [artifact.artifactId, pinned]),
      [["z", false], ["a", true], ["m", false]],
    );
    const error = await refusalOf(session.commit([
      { op: "artifact_removed", artifactId: "z" },
      { op: "artifact_removed", artifactId: "a" },
    ]));
    assertEquals(error.code, "persistence_failed");
    await session.commit([{ op: "artifact_removed", artifactId: "m" }, {
      op: "artifact_removed",
      artifactId: "never",
    }]);
    assertEquals((await session.artifacts.list()).map(({ artifact }) => artifact.artifactId), ["z", "a"]);
    await session.artifacts.remove("never");
  },
);

checkSession(
  "[F4] what nobody can reach is swept: unfinished uploads and bytes without a row",
  async (session, again) => {
    const artifact = { artifactId: "kept", name: "n", mimeType: "t", size: 1, sha256: "" };
    for (const id of ["kept", "orphan", "begun"]) {
      await session.artifacts.begin(id);
      await session.artifacts.append(id, new Uint8Array([1]));
    }
    await session.artifacts.seal("kept", "kept");
    await session.artifacts.seal("orphan", "orphan");
    await session.commit([{ op: "artifact", artifact }]);
    session = await again();
    assertEquals(await session.artifacts.measure("begun"), undefined);
    assertEquals(await session.artifacts.begin("begun"), 0);
    assertEquals(await session.artifacts.read("kept", 0, 9), new Uint8Array([1]));
    assertEquals((await refusalOf(session.artifacts.read("orphan", 0, 9))).code, "not_found");
  },
);

check("stores have their own names", async (store) => {
  const other = new MemoryStore();
  assertNotEquals(store.storeId, other.storeId);
  assert(store.storeId.length > 0);
  await other.close();
});

function grantOf(grantId: string) {
  return { grantId, scope: { what: "write", value: "/x", until: "session" as const }, createdAt: 5 };
}
