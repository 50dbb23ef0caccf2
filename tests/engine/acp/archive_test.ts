import { assert, assertEquals, assertRejects } from "@std/assert";
import type { EngineArchive, EnginePast, KeptSession } from "../../../src/engine/archive.ts";
import type { EngineContext } from "../../../src/engine/contract.ts";
import { HostError } from "../../../src/host/errors.ts";
import type { Json } from "../../../src/model/json.ts";
import { recapOf } from "../../../src/engine/acp/recap.ts";
import { RecordingSink } from "../sink.ts";
import type { TurnInput } from "../../../src/model/prompt.ts";
import { askedOf, keep, type Keeping, keeping, type KeptByAgent, talked } from "./keeping_agent.ts";
import { FakeHost, Stage } from "./stage.ts";

const NEVER = new AbortController().signal;

/** An Engine with an agent that keeps these Sessions. */
async function withAgent(
  sessions: readonly KeptByAgent[],
  how: Omit<Keeping, "file">,
  act: (stage: Stage & { readonly archive: EngineArchive; readonly file: string }) => Promise<void>,
  remembered?: Json,
): Promise<void> {
  const file = await Deno.makeTempFile();
  keep(file, ...sessions);
  try {
    await using stage = new Stage(
      { command: keeping({ ...how, file }) },
      remembered === undefined ? {} : { remembered },
    );
    const { archive } = stage.engine;
    assert(archive !== undefined);
    await act(Object.assign(stage, { archive, file }));
  } finally {
    await Deno.remove(file);
    await Deno.remove(`${file}.log`).catch(() => {});
  }
}

const names = (sessions: readonly KeptSession[]) => sessions.map(({ keptAs }) => keptAs);

/** Writes down what it is told. */
class Listener implements EnginePast {
  readonly turns: { readonly input: TurnInput | undefined; readonly sink: RecordingSink }[] = [];
  turn(input?: TurnInput): Promise<{ runId: string; sink: RecordingSink }> {
    const sink = new RecordingSink();
    this.turns.push({ input, sink });
    return Promise.resolve({ runId: `r${this.turns.length}`, sink });
  }

  /** Words of each Turn. */
  get words(): string[][] {
    return this.turns.map(({ input, sink }) => [
      ...(input?.parts ?? []).map((part) =>
        part.kind === "text" ? part.text : `${part.kind} ${part.kind === "link" ? part.name : ""}`
      ),
      ...sink.all("message").map((entry) => entry[3]),
    ]);
  }
}

function seat(): { host: FakeHost; context: EngineContext } {
  const host = new FakeHost({ sessionId: "mine" }, []);
  return { host, context: host.context() };
}

const FIVE = [1, 2, 3, 4, 5].map((at): KeptByAgent => ({
  sessionId: `s${at}`,
  cwd: at % 2 === 0 ? "/even" : "/odd",
  title: `Title ${at}`,
  updatedAt: `2026-01-0${at}T00:00:00Z`,
}));

Deno.test("[E4] an agent's own Sessions are listed through all of its pages", async () => {
  await withAgent(FIVE, { page: 2 }, async ({ archive, file }) => {
    const all = await archive.list({}, NEVER);
    assertEquals(names(all), ["s1", "s2", "s3", "s4", "s5"]);
    assertEquals(all[1], {
      keptAs: "s2",
      cwd: "/even",
      roots: [],
      title: "Title 2",
      updatedAt: Date.UTC(2026, 0, 2),
    });
    assertEquals(names(await archive.list({ cwd: "/even" }, NEVER)), ["s2", "s4"]);
    assertEquals(askedOf(file).filter((line) => line === "initialize").length, 1);
  });
});

const SHOWN: readonly {
  name: string;
  how: Omit<Keeping, "file">;
  shows: number;
  faults: readonly string[];
}[] = [
  {
    name: "turns its pages in a circle is cut off",
    how: { page: 2, fault: "list loops" },
    shows: 3,
    faults: ["malformed"],
  },
  {
    name: "babbles is heard as far as it makes sense",
    how: { fault: "list babbles" },
    shows: 5,
    faults: ["malformed"],
  },
  { name: "has no list shows none", how: { can: ["load"] }, shows: 0, faults: [] },
  {
    name: "cannot go on with what it lists shows none",
    how: { can: ["list", "delete"] },
    shows: 0,
    faults: [],
  },
  { name: "can only resume shows them", how: { can: ["list", "resume"] }, shows: 5, faults: [] },
];
for (const { name, how, shows, faults } of SHOWN) {
  Deno.test(`[E4] an agent that ${name}`, async () => {
    await withAgent(FIVE, how, async ({ archive, log }) => {
      assertEquals((await archive.list({}, NEVER)).length, shows);
      assertEquals(log.faults(), faults);
    });
  });
}

Deno.test("[E4] an agent that is known to keep nothing is not started to be asked", async () => {
  const kept: Json[] = [];
  await withAgent(FIVE, { can: ["load"] }, async (stage) => {
    await stage.archive.list({}, NEVER);
    kept.push(...stage.remembered);
  });
  await withAgent(FIVE, { can: ["load"] }, async ({ archive, file }) => {
    assertEquals(await archive.list({}, NEVER), []);
    assertEquals(askedOf(file), []);
  }, kept.at(-1));
});

Deno.test("[E4] a list that nobody waits for any more is left, and one that fails says why", async () => {
  await withAgent(FIVE, { fault: "list hangs" }, async ({ archive }) => {
    const given = new AbortController();
    const listing = archive.list({}, given.signal);
    given.abort(new Error("too late"));
    await assertRejects(() => listing, Error, "too late");
  });
  await withAgent(FIVE, { fault: "list fails" }, async ({ archive }) => {
    await assertRejects(() => archive.list({}, NEVER), Error, "could not list its Sessions: no index");
  });
});

const [FIRST] = FIVE;
const link = { type: "resource_link", uri: "file:///a/b.ts", name: "b.ts" };
const REPLAYED: readonly Record<string, unknown>[] = [
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Welcome" } },
  { sessionUpdate: "user_message_chunk", content: { type: "text", text: "Look at" } },
  { sessionUpdate: "user_message_chunk", content: link },
  { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm" } },
  { sessionUpdate: "tool_call", toolCallId: "t", title: "Read", status: "completed" },
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Seen" } },
  { sessionUpdate: "user_message_chunk", messageId: "u1", content: { type: "text", text: "One" } },
  { sessionUpdate: "user_message_chunk", messageId: "u2", content: { type: "text", text: "Two" } },
  { sessionUpdate: "session_info_update", title: "Told title" },
];

Deno.test("[E4] what an agent replays becomes Turns, once, and the next prompt goes on where it is open", async () => {
  const session = { ...FIRST!, updates: REPLAYED };
  await withAgent([session], {}, async ({ archive, file }) => {
    const past = new Listener();
    const { host, context } = seat();
    const [kept] = await archive.list({}, NEVER);
    const taken = await archive.take(kept!, context, past, {}, NEVER);
    assertEquals(past.words, [["Welcome"], ["Look at", "link b.ts", "Hm", "Seen"], ["One"], ["Two"]]);
    assertEquals(past.turns[1]?.sink.order(), [
      "message",
      "messageComplete",
      "toolStart",
      "toolResult",
      "message",
    ]);
    assertEquals(host.titles, ["Told title"]);
    assertEquals((host.states.at(-1) as { sessionId: string }).sessionId, "s1");
    assertEquals(host.options.map(({ id, value }) => [id, value]), [["mode", "b"]]);
    await host.when(() => host.commands.length > 0);
    const sink = new RecordingSink();
    const services = () => ({ readTextFile: false, writeTextFile: false, terminal: false, forms: false });
    const input = { parts: [{ kind: "text", text: "go on" } as const] };
    await taken.run({ turnId: "t1", runId: "r1", input, services }, sink, NEVER);
    assertEquals(sink.said(), `I know ${REPLAYED.length}`);
    assertEquals(past.turns.length, 4);
    await taken.close();
    assertEquals(askedOf(file).filter((line) => /load|resume|new/.test(line)), ["session/load s1"]);
  });
});

Deno.test("[E4] a recap that an agent was given in an earlier life is no words of the user", async () => {
  const { text } = recapOf([{ kind: "user", text: "old" }])!;
  const updates = [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text } },
    ...talked(["Go on", "Yes"]),
  ];
  await withAgent([{ ...FIRST!, updates }], {}, async ({ archive }) => {
    const past = new Listener();
    const [kept] = await archive.list({}, NEVER);
    await (await archive.take(kept!, seat().context, past, {}, NEVER)).close();
    assertEquals(past.words, [["Go on", "Yes"]]);
  });
});

Deno.test("[E4] an agent that can only resume is taken over without words, and that is said", async () => {
  await withAgent(
    [{ ...FIRST!, updates: REPLAYED }],
    { can: ["list", "resume"] },
    async ({ archive, file }) => {
      const past = new Listener();
      const [kept] = await archive.list({}, NEVER);
      await (await archive.take(kept!, seat().context, past, {}, NEVER)).close();
      assertEquals(
        past.turns.map(({ input, sink }) => [input, sink.all("notice").map(([, , title]) => title)]),
        [
          [undefined, ["The agent does not tell what was said before"]],
        ],
      );
      assert(askedOf(file).includes("session/resume s1"));
    },
  );
});

const REFUSED: readonly {
  name: string;
  fault: Keeping["fault"];
  keptAs: string;
  code: string;
  says: string;
}[] = [
  { name: "refuses", fault: "load refuses", keptAs: "s1", code: "unavailable", says: "history is broken" },
  { name: "dies", fault: "load dies", keptAs: "s1", code: "unavailable", says: "exit code 5" },
  { name: "wants a login", fault: "load wants a login", keptAs: "s1", code: "unauthorized", says: "log in" },
  { name: "lost it", fault: undefined, keptAs: "gone", code: "not_found", says: "No such session" },
];
for (const { name, fault, keptAs, code, says } of REFUSED) {
  Deno.test(`[E4] an agent that ${name} while a Session is taken over says so, and has nothing open`, async () => {
    const how = fault === undefined ? {} : { fault };
    await withAgent([{ ...FIRST!, updates: REPLAYED }], how, async ({ archive, file }) => {
      const { host, context } = seat();
      const kept = { keptAs, cwd: "/odd", roots: [] };
      const error = await assertRejects(
        () => archive.take(kept, context, new Listener(), {}, NEVER),
        HostError,
        says,
      );
      assertEquals(error.code, code);
      assertEquals(host.states, []);
      if (name === "refuses") assertEquals(askedOf(file).at(-1), "session/close s1");
      assertEquals((await archive.list({}, NEVER)).length, 1, "and it serves on");
    });
  });
}

Deno.test("[E4] a takeover that nobody waits for any more is left", async () => {
  await withAgent([{ ...FIRST!, updates: REPLAYED }], { fault: "load hangs" }, async ({ archive }) => {
    const given = new AbortController();
    const taking = archive.take(
      { keptAs: "s1", cwd: "/odd", roots: [] },
      seat().context,
      new Listener(),
      {},
      given.signal,
    );
    given.abort(new Error("too late"));
    await assertRejects(() => taking, Error, "too late");
  });
});

for (const how of [{}, { can: ["list", "load"] as const }]) {
  const does = "can" in how ? "cannot delete its Sessions hides" : "can delete its Sessions deletes";
  Deno.test(`[E4] [H4] an agent that ${does} one that is removed, also one that was removed while it did not run`, async () => {
    let remembered: Json | undefined;
    await withAgent(FIVE, how, async ({ archive, file, remembered: kept }) => {
      await archive.list({}, NEVER);
      await archive.remove("s2", NEVER);
      await archive.remove("s2", NEVER);
      assertEquals(names(await archive.list({}, NEVER)), ["s1", "s3", "s4", "s5"]);
      assertEquals(askedOf(file).includes("session/delete s2"), !("can" in how));
      remembered = kept.at(-1);
    });
    await withAgent(FIVE.slice(0, 3), how, async ({ archive, file }) => {
      await archive.remove("s1", NEVER);
      assertEquals(askedOf(file), [], "nothing is started for it");
      const left = "can" in how ? ["s3"] : ["s2", "s3"];
      assertEquals(names(await archive.list({}, NEVER)), left);
      if (!("can" in how)) assert((await asked(file, "session/delete s1")).includes("session/delete s1"));
    }, remembered);
  });
}

/** What the agent was asked, once this is there. */
async function asked(file: string, line: string): Promise<string[]> {
  for (;;) {
    const lines = askedOf(file);
    if (lines.includes(line)) return lines;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("[E4] [H4] an agent that refuses to delete a Session is heard, and lists it again", async () => {
  await withAgent(FIVE, { fault: "delete refuses" }, async ({ archive }) => {
    await archive.list({}, NEVER);
    const error = await assertRejects(() => archive.remove("s2", NEVER), HostError, "it is in use");
    assertEquals(error.code, "unavailable");
    assertEquals((await archive.list({}, NEVER)).length, 5);
  });
});

Deno.test("[E4] [E1] an agent that was started for a list makes way for one that knows what the editor offers", async () => {
  const services = { readTextFile: true, writeTextFile: true };
  await withAgent([{ ...FIRST!, updates: REPLAYED }], {}, async (stage) => {
    const [kept] = await stage.archive.list({}, NEVER);
    const taken = await stage.archive.take(kept!, seat().context, new Listener(), {}, NEVER);
    const input = { parts: [{ kind: "text", text: "go on" } as const] };
    const all = () => ({ ...services, terminal: false, forms: false });
    const sink = new RecordingSink();
    await taken.run({ turnId: "t1", runId: "r1", input, services: all }, sink, NEVER);
    assertEquals(sink.said(), `I know ${REPLAYED.length}`);
    await taken.close();
    const starts = askedOf(stage.file).filter((line) => line.startsWith("fs"));
    assertEquals(starts, [
      `fs ${JSON.stringify({ readTextFile: false, writeTextFile: false })}`,
      `fs ${JSON.stringify(services)}`,
    ]);
    await stage.archive.list({}, NEVER);
    assertEquals(askedOf(stage.file).filter((line) => line === "initialize").length, 2);
    assertEquals(stage.log.faults(), []);
  });
  await withAgent(FIVE, {}, async ({ archive, file }) => {
    await archive.list({ client: { ...services, terminal: false, forms: false } }, NEVER);
    assertEquals(askedOf(file)[1], `fs ${JSON.stringify(services)}`);
  });
});
