import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { HostError } from "../../../src/host/errors.ts";
import type { RuntimeHost } from "../../../src/host/contract.ts";
import type { Answer, FormField, GrantScope, Interaction, Question } from "../../../src/model/question.ts";
import type { Frame } from "../../../src/model/frame.ts";
import { faultOf } from "../../../src/host/local/form.ts";
import { MemoryStore } from "../../../src/host/store/memory.ts";
import { FaultyStore, gate, unclosed } from "./faulty_store.ts";
import { ended, NO_SERVICES, opened, plain, started, until, type World, worldOf } from "./world.ts";

/** A permission with an option for each length of time, and lasting refusals. */
function permission(value: string, what = "write"): Question {
  const scope = (until: GrantScope["until"]): GrantScope => ({ what, value, until });
  return {
    kind: "permission",
    message: `May I ${what} ${value}?`,
    options: [
      { optionId: "once", name: "Once", effect: "allow" },
      { optionId: "turn", name: "This Turn", effect: "allow", scope: scope("turn") },
      { optionId: "session", name: "This Session", effect: "allow", scope: scope("session") },
      { optionId: "forever", name: "Always", effect: "allow", scope: scope("forever") },
      { optionId: "no", name: "No", effect: "deny" },
      { optionId: "never", name: "Never", effect: "deny", scope: scope("session") },
    ],
  };
}

/** A world whose Engine asks these questions one after the other and keeps the answers. */
function asking(
  questions: readonly Question[],
  store?: FaultyStore | MemoryStore,
): World & { answers: Answer[] } {
  const answers: Answer[] = [];
  const world = worldOf(async (_turn, sink) => {
    for (const question of questions) answers.push(await sink.ask(question));
  }, { store });
  return Object.assign(world, { answers });
}

const isOpened = (frame: Frame): boolean => frame.type === "interaction_opened";

function openedIn(frames: readonly Frame[]): Interaction {
  const frame = frames.findLast(isOpened);
  if (frame?.type !== "interaction_opened") throw new Error("No question was opened");
  return frame.interaction;
}

function answerWith(connection: RuntimeHost, interactionId: string, optionId: string): Promise<void> {
  return connection.interactions.answer({
    sessionId: "s1",
    interactionId,
    answer: { kind: "option", optionId },
  });
}

Deno.test("[I2] an answer and the Grant that it makes are durable in one commit before the Engine has it", async () => {
  const store = new FaultyStore();
  await using world = asking([permission("/a")], store);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const { interactionId } = openedIn(await until(subscription, isOpened));
  assertEquals(await connection.interactions.query({ sessionId: "s1", interactionId }), { kind: "open" });
  store.batches.length = 0;
  const commit = gate();
  store.onCommit = () => commit.promise;
  const answered = answerWith(connection, interactionId, "forever");
  for (let turn = 0; turn < 5; turn++) await world.clock.turn();
  assertEquals(world.answers, []);
  commit.open();
  await answered;
  const batch = store.batches[0]?.filter((write) => write.op === "interaction" || write.op === "grant");
  assertEquals(batch?.[0], {
    op: "interaction",
    interactionId,
    run,
    reason: "answered",
    answer: { kind: "option", optionId: "forever" },
    by: "c1",
  });
  assertEquals(batch?.[1]?.op === "grant" && batch[1].grant.scope.until, "forever");
  const closing = await until(subscription, ended);
  assertEquals(closing.find((frame) => frame.type === "interaction_closed"), {
    type: "interaction_closed",
    interactionId,
    run,
    reason: "answered",
    by: "c1",
  });
  assertEquals(world.answers, [{ kind: "option", optionId: "forever" }]);
});

/** What was answered first, and which of the later questions is then asked: in the Turn, in the next one, after a restart. */
const LASTING: readonly [optionId: string, asked: readonly [boolean, boolean, boolean], answer: string][] = [
  ["once", [true, true, true], ""],
  ["no", [true, true, true], ""],
  ["turn", [false, true, true], "turn"],
  ["session", [false, false, false], "turn"],
  ["forever", [false, false, false], "turn"],
  ["never", [false, false, false], "never"],
];
for (const [optionId, asked, given] of LASTING) {
  Deno.test(`[I2] "${optionId}" lasts as long as it says, for its own action and object alone`, async () => {
    const store = new MemoryStore();
    const questions = [permission("/a"), permission("/a"), permission("/b"), permission("/a", "run")];
    const openings: string[][] = [];
    /** Answers the first with the option and the others with "once", noting what was opened. */
    const turn = async (world: World, turnId: string, first: string) => {
      const connection = world.host.connect("c1");
      const subscription = await connection.sessions.open("s1", NO_SERVICES);
      await started(connection, turnId);
      const messages: string[] = [];
      for (let choice = first;; choice = "once") {
        const frames = await until(subscription, (frame) => isOpened(frame) || ended(frame));
        if (frames.some(ended)) break;
        const { interactionId, message } = openedIn(frames);
        messages.push(message);
        await answerWith(connection, interactionId, choice);
      }
      openings.push(messages);
    };
    {
      await using world = asking(questions, unclosed(store));
      await (await opened(world.host.connect("c1"))).close();
      await turn(world, "t1", optionId);
      await turn(world, "t2", "once");
      if (given !== "") assertEquals(world.answers[1], { kind: "option", optionId: given });
    }
    await using world = asking(questions, store);
    await turn(world, "t3", "once");
    const others = ["May I write /b?", "May I run /a?"];
    const again = (count: number) => [...Array(count).fill("May I write /a?"), ...others];
    assertEquals(openings, [again(asked[0] ? 2 : 1), again(asked[1] ? 2 : 0), again(asked[2] ? 2 : 0)]);
  });
}

Deno.test("[I2] a Grant that is taken back is asked for again, and may be taken back twice", async () => {
  await using world = asking([permission("/a")]);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await answerWith(connection, openedIn(await until(subscription, isOpened)).interactionId, "session");
  await until(subscription, ended);
  const grants = await connection.grants.list("s1");
  assertEquals(grants.map(({ scope, effect, createdAt }) => ({ scope, effect, createdAt })), [
    { scope: { what: "write", value: "/a", until: "session" }, effect: "allow", createdAt: 1000 },
  ]);
  const grantId = grants[0]?.grantId ?? "";
  await connection.grants.revoke({ sessionId: "s1", grantId });
  await connection.grants.revoke({ sessionId: "s1", grantId });
  assertEquals(await connection.grants.list("s1"), []);
  await started(connection, "t2");
  await answerWith(connection, openedIn(await until(subscription, isOpened)).interactionId, "no");
  await until(subscription, ended);
});

Deno.test("[I2] a refusal that lasts goes before a permission that lasts", async () => {
  await using world = asking([permission("/a"), { ...permission("/a"), kind: "question" }, permission("/a")]);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await answerWith(connection, openedIn(await until(subscription, isOpened)).interactionId, "session");
  // A plain question is asked whatever was granted.
  await answerWith(connection, openedIn(await until(subscription, isOpened)).interactionId, "never");
  await until(subscription, ended);
  assertEquals(world.answers.at(-1), { kind: "option", optionId: "never" });
});

Deno.test("[I4] a Grant closes other questions that it covers; they are answered, not asked", async () => {
  const answers: Answer[] = [];
  await using world = worldOf(async (_turn, sink) => {
    answers.push(...await Promise.all(["/a", "/a", "/b"].map((value) => sink.ask(permission(value)))));
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames: Frame[] = [];
  while (frames.filter(isOpened).length < 3) frames.push(...(await subscription.next()).frames);
  const [first, second, third] = frames.flatMap((frame) =>
    frame.type === "interaction_opened" ? [frame.interaction.interactionId] : []
  );
  await answerWith(connection, first ?? "", "session");
  assertEquals(plain(await connection.interactions.query({ sessionId: "s1", interactionId: second ?? "" })), {
    kind: "closed",
    reason: "granted",
  });
  assertEquals(await connection.interactions.query({ sessionId: "s1", interactionId: third ?? "" }), {
    kind: "open",
  });
  await answerWith(connection, third ?? "", "no");
  await until(subscription, ended);
  assertEquals(answers.map((answer) => answer.kind === "option" && answer.optionId), [
    "session",
    "turn",
    "no",
  ]);
});

Deno.test("[I4] the same answer may be repeated, another one is already_resolved, also after a restart", async () => {
  const store = new MemoryStore();
  let interactionId = "";
  const check = async (connection: RuntimeHost) => {
    await answerWith(connection, interactionId, "once");
    const error = await assertRejects(() => answerWith(connection, interactionId, "no"), HostError);
    assertEquals([error.code, error.data], ["already_resolved", { reason: "answered" }]);
    assertEquals(await connection.interactions.query({ sessionId: "s1", interactionId }), {
      kind: "closed",
      reason: "answered",
      by: "c1",
    });
  };
  {
    await using world = asking([permission("/a")], unclosed(store));
    const connection = world.host.connect("c1");
    const subscription = await opened(connection);
    await started(connection, "t1");
    interactionId = openedIn(await until(subscription, isOpened)).interactionId;
    const outcomes = await Promise.allSettled([
      answerWith(connection, interactionId, "once"),
      answerWith(world.host.connect("c2"), interactionId, "no"),
    ]);
    assertEquals(outcomes.map((each) => each.status), ["fulfilled", "rejected"]);
    assertEquals(world.answers, [{ kind: "option", optionId: "once" }]);
    await check(world.host.connect("c2"));
  }
  await using world = asking([], store);
  await check(world.host.connect("c3"));
});

const PLAIN: Question = { kind: "question", message: "Which?", options: [{ optionId: "a", name: "A" }] };
const FORM: Question = {
  kind: "form",
  message: "Fill in",
  options: [],
  fields: [{ name: "n", type: "integer", required: true, minimum: 1 }],
};

const WRONG_ANSWERS: readonly [string, Question, unknown][] = [
  ["an option that is not offered", permission("/a"), { kind: "option", optionId: "all" }],
  ["an option's name", permission("/a"), { kind: "option", optionId: "Once" }],
  ["no option", permission("/a"), { kind: "option" }],
  ["values for a permission", permission("/a"), { kind: "values", values: {} }],
  ["a made-up kind", permission("/a"), { kind: "selected", optionId: "once" }],
  ["an option for a form", FORM, { kind: "option", optionId: "a" }],
  ["a missing field", FORM, { kind: "values", values: {} }],
  ["a value out of range", FORM, { kind: "values", values: { n: 0 } }],
  ["a field that there is not", FORM, { kind: "values", values: { n: 1, m: 1 } }],
  ["values for a question", PLAIN, { kind: "values", values: {} }],
];
for (const [what, question, answer] of WRONG_ANSWERS) {
  Deno.test(`[I3] ${what} is invalid, approves nothing and leaves the question open`, async () => {
    await using world = asking([question]);
    const connection = world.host.connect("c1");
    const subscription = await opened(connection);
    const run = await started(connection, "t1");
    const { interactionId } = openedIn(await until(subscription, isOpened));
    const wrong = { sessionId: "s1", interactionId, answer: answer as Answer };
    const error = await assertRejects(() => connection.interactions.answer(wrong), HostError);
    assertEquals(error.code, "invalid");
    assertEquals(await connection.interactions.query({ sessionId: "s1", interactionId }), { kind: "open" });
    assertEquals([world.answers, await connection.grants.list("s1")], [[], []]);
    await connection.turns.stop({ sessionId: "s1", run });
    await until(subscription, ended);
  });
}

for (const answer of [{ kind: "decline" }, { kind: "cancel" }] as const) {
  Deno.test(`[I3] ${answer.kind} is an answer of its own to any question`, async () => {
    await using world = asking([permission("/a"), FORM]);
    const connection = world.host.connect("c1");
    const subscription = await opened(connection);
    await started(connection, "t1");
    for (let count = 0; count < 2; count++) {
      const { interactionId } = openedIn(await until(subscription, isOpened));
      await connection.interactions.answer({ sessionId: "s1", interactionId, answer });
    }
    await until(subscription, ended);
    assertEquals([world.answers, await connection.grants.list("s1")], [[answer, answer], []]);
  });
}

Deno.test("[I4] a stop closes the Run's questions as stopped and rejects what the Engine waits for", async () => {
  let reason: unknown;
  await using world = worldOf(async (_turn, sink, signal) => {
    await sink.ask(PLAIN).catch((error) => reason = error === signal.reason ? "the signal's" : error);
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  const run = await started(connection, "t1");
  const frames = await until(subscription, (frame) => frame.type === "run" && frame.live.phase === "waiting");
  const { interactionId } = openedIn(frames);
  const late = await connection.sessions.open("s1", NO_SERVICES);
  assertEquals(late.snapshot.interactions.map((each) => each.interactionId), [interactionId]);
  await connection.turns.stop({ sessionId: "s1", run });
  const after = await until(subscription, ended);
  assertEquals(after.filter((frame) => frame.type === "interaction_closed"), [
    { type: "interaction_closed", interactionId, run, reason: "stopped", by: "c1" },
  ]);
  assertEquals(reason, "the signal's");
  const error = await assertRejects(() => answerWith(connection, interactionId, "a"), HostError);
  assertEquals([error.code, error.data], ["already_resolved", { reason: "stopped" }]);
});

Deno.test("[I4] a question that the Engine left open ends with its Run, and the Run waits and goes on in turns", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.ask(PLAIN);
    void sink.ask(PLAIN);
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, isOpened);
  await answerWith(connection, openedIn(frames).interactionId, "a");
  frames.push(...await until(subscription, ended));
  assertEquals(frames.flatMap((frame) => frame.type === "run" ? [frame.live.phase] : []), [
    "admitted",
    "running",
    "waiting",
    "running",
    "waiting",
  ]);
  assertEquals(frames.flatMap((frame) => frame.type === "interaction_closed" ? [frame.reason] : []), [
    "answered",
    "run_ended",
  ]);
});

Deno.test("[I7] questions stay open while nobody presents, and whoever adopts the Run sees and answers them", async () => {
  await using world = asking([permission("/a")]);
  const one = world.host.connect("c1");
  const subscription = await opened(one);
  const run = await started(one, "t1");
  const { interactionId } = openedIn(await until(subscription, isOpened));
  await one.close();
  const two = world.host.connect("c2");
  const joined = await two.sessions.open("s1", NO_SERVICES);
  assertEquals(joined.snapshot.runs[0]?.presenter, undefined);
  assertEquals(joined.snapshot.interactions.map((each) => each.interactionId), [interactionId]);
  assertEquals(world.answers, []);
  await two.turns.adopt({ sessionId: "s1", run });
  await answerWith(two, interactionId, "once");
  await until(joined, ended);
  assertEquals(world.answers, [{ kind: "option", optionId: "once" }]);
});

Deno.test("[I7] a question reaches every Subscription, naming its Run, so that others can tell it is not theirs", async () => {
  await using world = asking([PLAIN]);
  const one = world.host.connect("c1");
  const mine = await opened(one);
  const theirs = await world.host.connect("c2").sessions.open("s1", NO_SERVICES);
  const run = await started(one, "t1");
  const [here, there] = [openedIn(await until(mine, isOpened)), openedIn(await until(theirs, isOpened))];
  assertEquals([there, here.run], [here, run]);
  await answerWith(one, here.interactionId, "a");
  await until(theirs, ended);
});

Deno.test("[I5] a question that nobody could answer fails in the Engine; an unknown tool is left out", async () => {
  const failures: string[] = [];
  const fault = (error: Error) => void failures.push(error.message);
  await using world = worldOf(async (_turn, sink) => {
    await sink.ask({ kind: "permission", message: "?", options: [] }).catch(fault);
    await sink.ask({ kind: "form", message: "?", options: [] }).catch(fault);
    await sink.ask({ ...PLAIN, toolCallId: "nowhere" });
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const question = openedIn(await until(subscription, isOpened));
  assertEquals(question.toolCallId, undefined);
  await answerWith(connection, question.interactionId, "a");
  await until(subscription, ended);
  assertMatch(failures.join(), /permission that offers no options.*form that offers no fields/);
});

Deno.test("[I2] an answer that cannot be saved is refused, and the question stays open", async () => {
  const store = new FaultyStore();
  await using world = asking([permission("/a")], store);
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const { interactionId } = openedIn(await until(subscription, isOpened));
  store.onCommit = () => Promise.reject(new HostError("persistence_failed", "The disk is full"));
  const error = await assertRejects(() => answerWith(connection, interactionId, "forever"), HostError);
  assertEquals([error.code, world.answers], ["persistence_failed", []]);
  assertEquals(await connection.grants.list("s1"), []);
  store.onCommit = () => {};
  await answerWith(connection, interactionId, "once");
  await until(subscription, ended);
});

const field = (rest: object): FormField => ({ name: "f", required: false, ...rest }) as FormField;
const CHOICES = [{ value: "a" }, { value: "b" }];
const VALUES: readonly [string, FormField, unknown, boolean][] = [
  ["text", field({ type: "string" }), "x", true],
  ["a number as text", field({ type: "string" }), 1, false],
  ["text that is too short", field({ type: "string", minLength: 2 }), "x", false],
  ["text that is long enough", field({ type: "string", minLength: 2 }), "xy", true],
  ["text that is too long", field({ type: "string", maxLength: 1 }), "xy", false],
  ["text with the pattern", field({ type: "string", pattern: "^a+$" }), "aa", true],
  ["text without the pattern", field({ type: "string", pattern: "^a+$" }), "b", false],
  ["a pattern that is none", field({ type: "string", pattern: "(" }), "b", true],
  ["an address", field({ type: "string", format: "email" }), "a@b", true],
  ["no address", field({ type: "string", format: "email" }), "a", false],
  ["a link", field({ type: "string", format: "uri" }), "https://x.test/", true],
  ["no link", field({ type: "string", format: "uri" }), "x", false],
  ["a day", field({ type: "string", format: "date" }), "2026-02-28", true],
  ["no day", field({ type: "string", format: "date" }), "2026-13-01", false],
  ["a moment", field({ type: "string", format: "date-time" }), "2026-02-28T10:00:00Z", true],
  ["no moment", field({ type: "string", format: "date-time" }), "2026-02-28", false],
  ["a number", field({ type: "number", minimum: 0, maximum: 1 }), 0.5, true],
  ["a number that is too small", field({ type: "number", minimum: 0 }), -1, false],
  ["a number that is too large", field({ type: "number", maximum: 1 }), 2, false],
  ["no number", field({ type: "number" }), NaN, false],
  ["text for a number", field({ type: "number" }), "1", false],
  ["a broken whole number", field({ type: "integer" }), 1.5, false],
  ["a truth", field({ type: "boolean" }), false, true],
  ["text for a truth", field({ type: "boolean" }), "true", false],
  ["a choice", field({ type: "enum", choices: CHOICES }), "a", true],
  ["no choice", field({ type: "enum", choices: CHOICES }), "c", false],
  ["choices", field({ type: "multi_enum", choices: CHOICES }), ["a", "b"], true],
  ["an unknown choice", field({ type: "multi_enum", choices: CHOICES }), ["a", "c"], false],
  ["a choice twice", field({ type: "multi_enum", choices: CHOICES }), ["a", "a"], false],
  ["too few choices", field({ type: "multi_enum", choices: CHOICES, minItems: 1 }), [], false],
  ["too many choices", field({ type: "multi_enum", choices: CHOICES, maxItems: 1 }), ["a", "b"], false],
  ["one choice that is no list", field({ type: "multi_enum", choices: CHOICES }), "a", false],
  ["null", field({ type: "string" }), null, false],
  ["a missing value that may be", field({ type: "string" }), undefined, true],
  ["a missing value that must not be", field({ type: "string", required: true }), undefined, false],
];
for (const [what, of, value, fits] of VALUES) {
  Deno.test(`[I3] a form takes only what its fields allow: ${what}`, () => {
    const fault = faultOf([of], { f: value } as Record<string, string>);
    assertEquals(fault === undefined, fits, fault);
  });
}
