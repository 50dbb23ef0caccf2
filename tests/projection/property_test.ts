import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ALL,
  BARE,
  complete,
  delta,
  Dice,
  fragments,
  INPUT,
  input,
  output,
  progress,
  projection,
} from "./frames.ts";
import { record, result, RUN, start, superseded, textRow, texts, toolRow } from "./frames.ts";
import { digestOf } from "../../src/model/digest.ts";
import type { Channel } from "../../src/model/message.ts";
import type { Frame } from "../../src/model/frame.ts";
import type { HeldBody } from "../../src/host/contract.ts";
import type { Row } from "../../src/model/row.ts";
import type { RunEnd } from "../../src/model/run.ts";
import type { Step, TurnProjection } from "../../src/projection/mod.ts";
import { Editor } from "./editor.ts";

const SEEDS = 400;
const DONE: RunEnd = { how: "completed", stopReason: "end_turn" };
const LETTERS = ["a", "b", "\n", '"', "\\", "é", "語", "😀", "👨‍👩‍👧", "e\u0301", "\u0001", "```"];

interface Said {
  readonly id: string;
  readonly channel: Channel;
  readonly text: string;
}

function words(dice: Dice, most: number): string {
  return Array.from({ length: dice.roll(most) }, () => dice.pick(LETTERS)).join("");
}

function messages(dice: Dice): Said[] {
  return Array.from({ length: 1 + dice.roll(4) }, (_, at) => ({
    id: `m${at}`,
    channel: dice.pick(["text", "thinking"] as const),
    text: dice.roll(20) === 0 ? words(dice, 40).repeat(2000) : words(dice, 60),
  }));
}

/** The frames of a message, cut anywhere, half characters included. */
function told({ id, channel, text }: Said, dice: Dice): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < text.length;) {
    const size = 1 + dice.roll(dice.roll(3) === 0 ? text.length : 7);
    frames.push(delta(id, at, text.slice(at, at + size), channel));
    at += size;
  }
  return [...frames, complete(id, text, channel)];
}

/** Rows as a Host sends them: behind the prefix that the reader holds where that agrees, else from 0; in fragments. */
function sent(row: Row, held: readonly HeldBody[], dice: Dice): Row[] {
  const text = row.body?.text ?? "";
  const known = held.find((body) => body.kind === row.kind && body.id === row.id && dice.roll(4) > 0);
  const agrees = known !== undefined && digestOf(text.slice(0, known.length)) === known.sha256;
  return fragments(row, 1 + dice.roll(Math.max(1, text.length)), agrees ? known.length : 0);
}

/** Several orders merged into one at random, each kept in itself. */
function shuffled<T>(lists: readonly (readonly T[])[], dice: Dice): T[] {
  const rest = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const merged: T[] = [];
  while (rest.length > 0) {
    const at = dice.roll(rest.length);
    const next = rest[at]?.shift();
    if (next !== undefined) merged.push(next);
    if (rest[at]?.length === 0) rest.splice(at, 1);
  }
  return merged;
}

Deno.test("[T1] [T5] [R1] [P3] whatever is cut, repeated, lost and read again, text comes out whole", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const dice = new Dice(seed);
    const editor = new Editor();
    const shown = projection();
    const said = messages(dice);
    const frames = shuffled(said.map((message) => told(message, dice)), dice);
    const rows = said.map(({ id, channel, text }) => textRow(id, text, {}, channel));
    const read = (whole: readonly Row[]) => {
      for (const row of whole) {
        for (const part of sent(row, shown.held(), dice)) {
          const step = editor.take(shown.read(part, 0));
          assertEquals([step.fault, step.gap], [undefined, false], `seed ${seed}`);
        }
      }
    };
    for (const [at, frame] of frames.entries()) {
      if (dice.roll(12) === 0) continue; // lost
      const step = editor.take(shown.apply(frame, 0));
      assertEquals(step.fault, undefined, `seed ${seed}`);
      if (dice.roll(5) === 0) editor.take(shown.apply(dice.pick(frames.slice(0, at + 1)), 0));
      if (step.gap || dice.roll(30) === 0) {
        // A checkpoint holds what was told up to now, or a little less.
        read(said.flatMap(({ id, channel, text }) => {
          const end = Math.max(
            0,
            ...frames.slice(0, at + 1).map((past) =>
              past.type === "message" && past.messageId === id ? past.offset + past.text.length : 0
            ),
          );
          return end === 0
            ? []
            : [textRow(id, text.slice(0, Math.max(0, end - dice.roll(3))), { complete: false }, channel)];
        }));
      }
    }
    read(rows);
    const step = editor.take(shown.finish(DONE, 0));
    assertEquals(step.fault, undefined, `seed ${seed}`);
    for (const { id, text } of said) assertEquals(editor.text(id) ?? "", text.toWellFormed(), `seed ${seed}`);
  }
});

Deno.test("[T2] wherever text that was shown is changed, the change is found before anything follows it", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const dice = new Dice(seed);
    const editor = new Editor();
    const shown = projection();
    const text = `${words(dice, 60)}end`;
    const known = 1 + dice.roll(text.length);
    editor.take(shown.apply(delta("m", 0, text.slice(0, known)), 0));
    const before = editor.text("m") ?? "";
    const at = dice.roll(known);
    const changed = `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`;
    const row = textRow("m", changed, { complete: dice.roll(2) === 0 });
    let step: Step | undefined;
    for (const part of sent(row, shown.held(), dice)) step = editor.take(shown.read(part, 0));
    assertEquals(step?.fault?.code, "unsupported_stream_revision", `seed ${seed}`);
    assertEquals(editor.text("m") ?? "", before, `seed ${seed}`);
  }
});

/** Frames of one tool in a likely order, with its durable row where a result announces one. */
function worked(id: string, dice: Dice): { frames: Frame[]; row?: Row; content?: string } {
  const frames: Frame[] = [start(id)];
  if (dice.roll(2) === 0) frames.push(input(id, { complete: false, title: "Run n" }));
  frames.push(input(id));
  const pieces = dice.roll(12);
  for (let seq = 0; seq < pieces; seq++) {
    if (dice.roll(8) > 0) frames.push(output(id, seq, words(dice, 200).repeat(1 + dice.roll(20))));
    if (dice.roll(6) === 0) frames.push(progress(id, `step ${seq}`));
  }
  if (dice.roll(5) === 0) return { frames };
  const status = dice.pick(["completed", "failed", "cancelled"] as const);
  const content = `result of ${id}`;
  const row = toolRow(record(id, { status, content: texts(content) }));
  frames.push(result(id, { status, content: texts(content), omitted: dice.roll(3) === 0 }, row));
  return { frames, row, content };
}

Deno.test("[K1] [K3] [K4] [K7] [K9] in any order, with any loss, each tool has one true card that ends once", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const dice = new Dice(seed);
    const editor = new Editor();
    const shown = projection(dice.pick([ALL, BARE]));
    const tools = Array.from(
      { length: 1 + dice.roll(4) },
      (_, at) => ({ id: `t${at}`, ...worked(`t${at}`, dice) }),
    );
    const frames = shuffled(
      tools.map((tool) => dice.roll(4) === 0 ? [...tool.frames].sort(() => dice.roll(3) - 1) : tool.frames),
      dice,
    );
    const held = new Map<string, number>();
    let now = 0;
    const take = (step: Step) => {
      for (const update of step.updates) {
        const { toolCallId } = JSON.parse(update) as { toolCallId?: string };
        assert((held.get(toolCallId ?? "") ?? 0) === 0, `seed ${seed}: ${toolCallId} was touched`);
      }
      assertEquals(editor.take(step).fault, undefined, `seed ${seed}`);
    };
    for (const [at, frame] of frames.entries()) {
      now += dice.roll(400);
      take(shown.apply(frame, now));
      if (dice.roll(4) === 0) take(shown.apply(dice.pick(frames.slice(0, at + 1)), now));
      if (dice.roll(3) === 0) take(shown.tick(now));
      const tool = dice.pick(tools);
      if (dice.roll(10) === 0) {
        take(shown.hold(tool.id, now));
        held.set(tool.id, (held.get(tool.id) ?? 0) + 1);
      } else if (dice.roll(4) === 0 && (held.get(tool.id) ?? 0) > 0) {
        held.set(tool.id, (held.get(tool.id) ?? 0) - 1);
        take(shown.release(tool.id, now));
      }
      if (dice.roll(15) === 0 && tool.row !== undefined) {
        for (const part of sent(tool.row, shown.held(), dice)) take(shown.read(part, now));
      }
    }
    for (const { row } of tools) {
      for (const part of row === undefined ? [] : sent(row, shown.held(), dice)) take(shown.read(part, now));
    }
    held.clear();
    take(shown.finish(DONE, now));
    for (const { id, content } of tools) {
      assert(["completed", "failed"].includes(editor.card(id).status ?? ""), `seed ${seed}`);
      if (content !== undefined) assertStringIncludes(editor.words(id), content, `seed ${seed}`);
      assertEquals(editor.card(id).title, INPUT.title, `seed ${seed}`);
    }
    assertEquals(shown.due, undefined);
  }
});

Deno.test("[T2] [K9] after any fault nothing follows and no card is open", () => {
  const faults: readonly ((shown: TurnProjection, editor: Editor) => Step)[] = [
    (shown) => shown.apply({ type: "message_reset", run: RUN, messageId: "m", channel: "text" }, 0),
    (shown) => shown.apply(complete("m", "other"), 0),
    (shown) => shown.read(textRow("m", "other"), 0),
    (shown) => shown.finish(DONE, 0),
  ];
  for (let seed = 1; seed <= 100; seed++) {
    const dice = new Dice(seed);
    const editor = new Editor();
    const shown = projection();
    editor.take(shown.apply(delta("m", 0, "text"), 0));
    editor.take(shown.apply(complete("m", "text"), 0));
    editor.take(shown.apply(superseded("other", "m"), 0));
    for (const frame of worked("t", dice).frames) {
      editor.take(shown.apply(frame, 0));
      if (dice.roll(6) === 0) break;
    }
    const step = editor.take(dice.pick(faults)(shown, editor));
    assert(step.fault !== undefined, `seed ${seed}`);
    for (const card of editor.cards.values()) assert(["completed", "failed"].includes(card.status ?? ""));
    for (const frame of worked("t", dice).frames) {
      const later = shown.apply(frame, 0);
      assertEquals([later.updates.length, later.fault], [0, step.fault]);
    }
  }
});
