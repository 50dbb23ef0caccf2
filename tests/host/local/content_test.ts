import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Block } from "../../../src/model/block.ts";
import { decodeBody, type Row } from "../../../src/model/row.ts";
import type { Frame } from "../../../src/model/frame.ts";
import { HostError } from "../../../src/host/errors.ts";
import { LIMITS } from "../../../src/limits.ts";
import type { Meta } from "../../../src/model/json.ts";
import { partId } from "../../../src/model/message.ts";
import { gate } from "./faulty_store.ts";
import { COMPLETED, ended, NO_SERVICES, opened, plain, started, until, worldOf } from "./world.ts";

const IMAGE: Block = { kind: "image", mimeType: "image/png", data: "AAAA" };
const META: Meta = { x: 1 };
const BIG: Meta = { x: "x".repeat(LIMITS.metaBytes) };

function bodyOf(row: Row): unknown {
  return plain(decodeBody(row.kind, row.body?.text ?? ""));
}

Deno.test("[E1] [H1] blocks and metadata of messages stand in their places in the transcript and in frames", async () => {
  await using world = worldOf(async (_turn, sink) => {
    await sink.message("m", "text", "see ");
    await sink.messageComplete("m");
    await sink.content(partId("m", 1), "text", IMAGE, META);
    await sink.message(partId("m", 2), "text", "the ", META);
    await sink.message(partId("m", 2), "text", "end", META);
    await sink.message("n", "text", "plain", BIG);
    // An id is used once.
    await sink.content(partId("m", 1), "text", IMAGE);
    await sink.content("m", "text", IMAGE);
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const { rows } = await subscription.read({ after: 1, maxLength: 100_000 });
  assertEquals(rows.map((row) => [row.kind, row.id, bodyOf(row)]), [
    ["text", "m", { kind: "text", text: "see " }],
    ["content", partId("m", 1), { kind: "content", channel: "text", block: IMAGE, meta: META }],
    ["content", partId("m", 2), { kind: "content", channel: "text", meta: META }],
    ["text", partId("m", 2), { kind: "text", text: "the end" }],
    ["text", "n", { kind: "text", text: "plain" }],
    ["end", rows[5]?.id, { kind: "end", end: { how: "completed", stopReason: "end_turn" } }],
  ]);
  const content = frames.filter((frame) => frame.type === "content");
  assertEquals(
    content.map(({ contentId, block, length, sha256, meta }) => [contentId, block, length, sha256, meta]),
    [
      [partId("m", 1), IMAGE, rows[1]?.length, rows[1]?.sha256, META],
    ],
  );
  const metas = frames.flatMap((frame) => frame.type === "message" ? [[frame.text, frame.meta]] : []);
  assertEquals(metas, [["see ", undefined], ["the ", META], ["end", META], ["plain", undefined]]);
});

Deno.test("[E1] a block too large for a frame is read from the transcript, one too large to keep is a link", async () => {
  const bytes = (length: number) => "A".repeat(length * 4 / 3);
  await using world = worldOf(async (_turn, sink) => {
    await sink.content("large", "text", { ...IMAGE, data: bytes(90_000) });
    await sink.content("huge", "text", {
      kind: "resource",
      uri: "note://1",
      blob: bytes(3 * LIMITS.imageBytes),
    });
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const shown = frames.flatMap((frame) =>
    frame.type === "content" ? [[frame.contentId, frame.block?.kind]] : []
  );
  assertEquals(shown, [["large", undefined], ["huge", "link"]]);
  const { rows } = await subscription.read({ after: 1, maxLength: 1_000_000 });
  assertEquals(rows[0]?.body?.text.includes(bytes(90_000)), true);
});

Deno.test("[E1] [H1] metadata of plans, notices and compactions is kept; of compactions their end", async () => {
  const plan = [{ content: "a", priority: "low", status: "pending", meta: META }] as const;
  await using world = worldOf(async (_turn, sink) => {
    await sink.plan(plan, META);
    await sink.notice("info", "N", undefined, META);
    await sink.compaction({ compactionId: "c", status: "in_progress" });
    await sink.compaction({ compactionId: "c", status: "in_progress" }, { kind: "text", text: "so" });
    await sink.compaction({ compactionId: "c", status: "completed", meta: META });
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, ended);
  const { rows } = await subscription.read({ after: 1, maxLength: 100_000 });
  assertEquals(rows.slice(0, -1).map(bodyOf), [
    { kind: "plan", entries: plan, meta: META },
    { kind: "notice", severity: "info", title: "N", meta: META },
    { kind: "compaction", compactionId: "c", status: "completed", meta: META },
  ]);
  const metas = frames.flatMap(({ type, meta }) =>
    ["plan", "notice", "compaction"].includes(type) ? [[type, meta]] : []
  );
  assertEquals(metas, [
    ["plan", META],
    ["notice", META],
    ["compaction", undefined],
    ["compaction", undefined],
    ["compaction", META],
  ]);
});

Deno.test("[E1] [G1] metadata of commands, title, options and mode is kept with the Session, as it came last", async () => {
  await using world = worldOf(() => Promise.resolve());
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  await until(subscription, ended);
  const [context] = world.engine.contexts;
  assert(context !== undefined);
  const { options } = context.config();
  await context.commands([{ name: "x", description: "d", meta: META }], META);
  await context.title("T", META);
  await context.usage({ used: 1, size: 2, meta: META });
  await context.configured(options, { options: META, mode: { m: 1 } });
  const isConfig = (frame: Frame) => frame.type === "config";
  const frames = await until(subscription, isConfig);
  assertEquals(
    frames.flatMap((frame): unknown[] =>
      frame.type === "commands" || frame.type === "title"
        ? [[frame.type, frame.meta]]
        : frame.type === "usage"
        ? [[frame.type, frame.usage.meta]]
        : frame.type === "config"
        ? [[frame.type, frame.meta, frame.modeMeta]]
        : []
    ),
    [["commands", META], ["title", META], ["usage", META], ["config", META, { m: 1 }]],
  );
  const later = await world.host.connect("c2").sessions.open("s1", NO_SERVICES);
  const { metas, usage, commands } = later.snapshot;
  assertEquals(metas, { commands: META, title: META, options: META, mode: { m: 1 } });
  assertEquals([usage?.meta, commands[0]?.meta], [META, META]);
  // What comes without any has none.
  await context.title("U");
  await context.configured(options);
  const { metas: left } = (await world.host.connect("c3").sessions.open("s1", NO_SERVICES)).snapshot;
  assertEquals(left, { commands: META });
});

Deno.test("[I4] [E1] a question that is taken back closes as withdrawn everywhere, and its answer comes too late", async () => {
  const back = new AbortController();
  const refused = gate<unknown>();
  await using world = worldOf(async (_turn, sink) => {
    const question = {
      kind: "permission",
      message: "May I?",
      options: [{ optionId: "o", name: "O", effect: "allow" }],
      meta: META,
    } as const;
    await sink.ask(question, back.signal).catch(refused.open);
    await sink.ask(question, AbortSignal.abort("never asked")).catch(() => {});
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, (frame) => frame.type === "interaction_opened");
  const open = frames.find((frame) => frame.type === "interaction_opened");
  assert(open?.type === "interaction_opened");
  assertEquals(open.interaction.meta, META);
  back.abort("not any more");
  assertEquals(await refused.promise, "not any more");
  const rest = await until(subscription, ended);
  assertEquals(rest.filter(({ type }) => type === "interaction_opened"), []);
  const closed = rest.find((frame) => frame.type === "interaction_closed");
  assertEquals(closed?.type === "interaction_closed" && closed.reason, "withdrawn");
  const { interactionId } = open.interaction;
  const answer = { kind: "option", optionId: "o" } as const;
  const late = connection.interactions.answer({ sessionId: "s1", interactionId, answer });
  assertEquals((await assertRejects(() => late, HostError)).code, "already_resolved");
});

Deno.test("[E1] [I3] a page takes agreement, and no option", async () => {
  const answers: unknown[] = [];
  await using world = worldOf(async (_turn, sink) => {
    const page = { url: "https://example.com", elicitationId: "e" };
    answers.push(await sink.ask({ kind: "url", message: "Go", options: [], page }));
    await sink.ask({ kind: "url", message: "Go", options: [] }).catch((error) => answers.push(error.code));
  });
  const connection = world.host.connect("c1");
  const subscription = await opened(connection);
  await started(connection, "t1");
  const frames = await until(subscription, (frame) => frame.type === "interaction_opened");
  const open = frames.find((frame) => frame.type === "interaction_opened");
  assert(open?.type === "interaction_opened");
  const about = { sessionId: "s1", interactionId: open.interaction.interactionId };
  const option = connection.interactions.answer({ ...about, answer: { kind: "option", optionId: "o" } });
  assertEquals((await assertRejects(() => option, HostError)).code, "invalid");
  await connection.interactions.answer({ ...about, answer: { kind: "values", values: {}, meta: META } });
  await until(subscription, ended);
  assertEquals(answers, [{ kind: "values", values: {}, meta: META }, "invalid"]);
  await world.engine.contexts[0]?.elicited("e");
  await until(subscription, (frame) => frame.type === "elicited" && frame.elicitationId === "e");
});

Deno.test("[E2] what an Engine says between Turns is a Run beside the last one, shown by who showed that", async () => {
  await using world = worldOf(() => Promise.resolve());
  const [first, second] = [world.host.connect("c1"), world.host.connect("c2")];
  const subscription = await opened(first);
  const said = (text: string) =>
    world.engine.contexts[0]!.beside(async (sink) => {
      await sink.message(text, "text", text);
      return COMPLETED;
    });
  const run = await started(first, "t1");
  await until(subscription, ended);
  assertEquals(typeof await said("late"), "string");
  const frames = await until(subscription, ended);
  const [live] = frames.flatMap((frame) => frame.type === "run" ? [frame.live] : []);
  assertEquals([live?.foreground, live?.origin, live?.presenter], [
    false,
    { kind: "engine", parent: run },
    "c1",
  ]);
  assertEquals(frames.flatMap((frame) => frame.type === "message" ? [frame.text] : []), ["late"]);
  // Who went away shows nothing; what is said is kept.
  const other = await second.sessions.open("s1", NO_SERVICES);
  await first.sessions.release("s1");
  await said("later");
  const [unshown] = (await until(other, ended)).flatMap((frame) => frame.type === "run" ? [frame.live] : []);
  assertEquals([unshown?.origin.kind, unshown?.presenter], ["engine", undefined]);
  const { rows } = await other.read({ after: 0, maxLength: 100_000 });
  assertEquals(rows.flatMap(({ kind, id }) => kind === "text" ? [id] : []), ["late", "later"]);
});
