import type { Diff, ToolContent, ToolInput } from "../model/tool.ts";
import { type Block, bytesOfBase64 } from "../model/block.ts";
import { blockJson, wholeBytesOf } from "./block.ts";
import { bytesOf, fits, jsonText, metaMember, oneLine } from "./encode.ts";
import type { CardStatus, ToolBody, ToolCard } from "./card.ts";
import { fenced } from "./output.ts";
import { hunksOf } from "./diff.ts";
import type { Json } from "../model/json.ts";
import { keepEnds, keepTail } from "./cut.ts";
import { LIMITS } from "../limits.ts";
import { type Redact, redactJson } from "../model/redact.ts";

/** How cards are shown to one Client. */
export interface CardStyle {
  readonly redact: Redact;
  readonly terminal: boolean;
}

/** The members of an encoded card but its content, in order: name and JSON. */
export type Members = (readonly [name: string, json: string])[];

/** Locations of one card, and bytes that they may take. */
const LOCATIONS = 64;
const LOCATION_BYTES = 8 * 1024;
/** Bytes of a card that its content can count on, whatever raw input and `_meta` would take. */
const CONTENT_BYTES = 16 * 1024;
/** Items of a result that are shown, and the bytes kept back for each that follows, at most half of what is left. */
const ITEMS = 64;
const ITEM_BYTES = 256;
/** UTF-16 units of a title or a word of progress that are looked at; far more than are shown. */
const WORDS = 8 * 1024;
/** UTF-16 units of both sides of a change above which its lines are not compared. */
const DIFF_LENGTH = 8 * 1024 * 1024;

/** Everything about a card but its content. `first`: the card was not shown yet. */
export function headOf(card: ToolCard, status: CardStatus, style: CardStyle, first: boolean): Members {
  const { input, result } = card;
  // Without an input only a card's first showing needs a title; later it would overwrite the real one.
  const members: Members = input !== undefined || first
    ? [["title", jsonText(titleOf(input, style.redact))]]
    : [];
  if (input?.name !== undefined) members.push(["name", jsonText(oneLine(input.name, LIMITS.titleLength))]);
  if (input !== undefined) members.push(["kind", `"${input.kind}"`]);
  members.push(["status", `"${status}"`]);
  let left = LIMITS.cardBytes - CONTENT_BYTES -
    members.reduce((sum, [name, json]) => sum + name.length + bytesOf(json) + 4, 0);
  const add = (name: string, json: string | undefined): void => {
    if (json === undefined || !fits(json, left)) return;
    left -= bytesOf(json) + name.length + 4;
    members.push([name, json]);
  };
  if (input !== undefined && input.locations.length > 0) add("locations", locationsOf(input));
  const open = input !== undefined && input.complete && !input.sensitive;
  if (open && input.raw !== undefined) add("rawInput", rawValue(input.raw, style.redact));
  if (open && result?.raw !== undefined) add("rawOutput", rawValue(result.raw, style.redact));
  const meta = card.parent === undefined ? card.meta : { ...card.meta, gangway: { parent: card.parent } };
  add("_meta", metaMember(meta).slice(`,"_meta":`.length) || undefined);
  return members;
}

/** A preview says that it is one: its words are still being written. */
function titleOf(input: ToolInput | undefined, redact: Redact): string {
  const title = input === undefined ? "" : oneLine(redact(input.title.slice(0, WORDS)), LIMITS.titleLength);
  const words = title === "" ? oneLine(input?.name ?? "Tool", LIMITS.titleLength) : title;
  return input?.complete === false ? `${words} (preview)` : words;
}

/** Only absolute paths: a relative one would mean another file to each reader. */
function locationsOf(input: ToolInput): string | undefined {
  const shown: string[] = [];
  let left = LOCATION_BYTES;
  for (const { path, line } of input.locations.slice(0, LOCATIONS)) {
    if (!isAbsolute(path)) continue;
    const at = line !== undefined && Number.isSafeInteger(line) && line >= 1 ? `,"line":${line}` : "";
    const json = `{"path":${jsonText(path)}${at}}`;
    left -= bytesOf(json) + 1;
    if (left < 0) break;
    shown.push(json);
  }
  return shown.length === 0 ? undefined : `[${shown.join(",")}]`;
}

function rawValue(raw: Json, redact: Redact): string | undefined {
  // Measured before it is walked: a large value is left out without a second copy of it.
  return JSON.stringify(raw).length > LIMITS.rawBytes ? undefined : withinRaw(redactJson(raw, redact));
}

function withinRaw(value: Json): string | undefined {
  const json = JSON.stringify(value);
  return fits(json, LIMITS.rawBytes) ? json : undefined;
}

/** Whether a path means the same file to everyone; Windows drives and shares too. */
export function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path);
}

/**
 * A card's content as a JSON array within `bytes`: the result where it has something to show, else what the tool proposes and wrote, then what has
 * to be said about its end. Images are the exception: they go whole up to {@linkcode LIMITS.imageBytes} a card.
 */
export function contentOf(
  card: ToolCard,
  style: CardStyle,
  bytes: number,
  images: number = LIMITS.imageBytes,
): string {
  const notes = notesOf(card, style.redact).map(textBlock);
  const room = bytes - 2 - notes.reduce((sum, note) => sum + bytesOf(note) + 1, 0);
  const settled = card.result === undefined ? [] : bodyBlocks(card.result, style, room, images);
  const shown = settled.length > 0 ? settled : workBlocks(card, style, room, images);
  return `[${[...shown, ...notes].join(",")}]`;
}

/** What a tool shows without a result: what it proposes, then what it wrote. */
function workBlocks(card: ToolCard, style: CardStyle, room: number, images: number): string[] {
  const { output, proposal } = card;
  const written = output === undefined ? "" : style.redact(output.text());
  const half = written === "" ? room : room >> 1;
  const blocks = proposal === undefined ? [] : bodyBlocks(proposal, style, half, images);
  if (output === undefined || written === "") return blocks;
  // Images have room of their own.
  const taken = blocks.reduce((sum, block) => sum + Math.min(bytesOf(block) + 1, half), 0);
  return [...blocks, outputBlock(written, output.dropped, room - Math.min(taken, half))];
}

/** What is said below the content: progress while it works, then how it ended. */
function notesOf(card: ToolCard, redact: Redact): string[] {
  const notes: string[] = [];
  if (card.end === undefined) {
    if (card.progress !== undefined) {
      notes.push(oneLine(redact(card.progress.slice(0, WORDS)), LIMITS.commandLength));
    }
  } else {
    if (card.result?.exitCode !== undefined) notes.push(`Exit code ${card.result.exitCode}`);
    if (card.end.note !== undefined) notes.push(card.end.note);
  }
  return notes.filter((note) => note !== "");
}

function bodyBlocks(
  body: ToolBody,
  style: CardStyle,
  bytes: number,
  images: number,
): string[] {
  const items: (Diff | ToolContent)[] = [
    ...body.diffs,
    ...body.content.filter((part) => part.kind !== "terminal" || style.terminal),
  ];
  const blocks: string[] = [];
  let left = bytes;
  let pictures = images;
  for (const [at, item] of items.entries()) {
    const rest = items.length - at - 1;
    const room = left - Math.min(Math.min(rest, ITEMS - at) * ITEM_BYTES, left >> 1);
    if (at === ITEMS || room < ITEM_BYTES) {
      const more = textBlock(`[${rest + 1} more items not shown]`);
      if (left > bytesOf(more)) blocks.push(more);
      break;
    }
    const whole = "kind" in item && item.kind !== "terminal" ? wholeBytesOf(item) : undefined;
    if ("kind" in item && item.kind !== "terminal" && whole !== undefined && whole <= pictures) {
      pictures -= whole;
      blocks.push(contentBlock(item));
      continue;
    }
    const block = "kind" in item ? partBlock(item, style.redact, room) : diffBlock(item, style.redact, room);
    if (block === undefined) continue;
    left -= bytesOf(block) + 1;
    blocks.push(block);
  }
  return blocks;
}

function partBlock(part: ToolContent, redact: Redact, room: number): string | undefined {
  switch (part.kind) {
    case "text": {
      const text = keepEnds(part.text, room - TEXT_FRAME, redact);
      const block = contentBlock({ ...part, text });
      return part.text === "" ? undefined : fits(block, room) ? block : textBlock(text);
    }
    case "terminal":
      return `{"type":"terminal","terminalId":${jsonText(part.terminalId)}}`;
    case "link":
      return linkBlock(part, room);
    case "resource": {
      if (part.blob === undefined) {
        const text = part.text ?? "";
        const block = contentBlock({ ...part, text: redact(text) });
        return fits(block, room) ? block : textBlock(keepEnds(text, room - TEXT_FRAME, redact));
      }
      const size = `${Math.ceil(bytesOfBase64(part.blob) / 1024)} KiB`;
      return linkBlock(
        { kind: "link", uri: part.uri, name: `Resource, ${size}`, mimeType: part.mimeType },
        room,
      );
    }
    case "image":
    case "audio": {
      const size = `${Math.ceil(bytesOfBase64(part.data) / 1024)} KiB`;
      const what = part.kind === "image" ? "Image" : "Audio";
      return part.uri === undefined
        ? textBlock(`[${part.kind} not shown: ${oneLine(part.mimeType, 64)}, ${size}]`)
        : linkBlock({ kind: "link", uri: part.uri, name: `${what}, ${size}`, mimeType: part.mimeType }, room);
    }
  }
}

const TEXT_FRAME = textBlock("").length;

function textBlock(text: string): string {
  return `{"type":"content","content":{"type":"text","text":${jsonText(text)}}}`;
}

function contentBlock(block: Block): string {
  return `{"type":"content","content":${blockJson(block)}}`;
}

function linkBlock(link: Block & { kind: "link" }, room: number): string {
  const block = contentBlock(link);
  return fits(block, room) ? block : textBlock(`[link too long to show: ${oneLine(link.name, 64)}]`);
}

/** What a tool wrote, as a terminal shows it. */
function outputBlock(text: string, dropped: number, room: number): string {
  return fencedBlock((bytes) => keepTail(text, dropped, bytes), "", room);
}

/** A change: both texts where they fit, else its hunks. A change that redaction hides is said to be hidden. */
function diffBlock(diff: Diff, redact: Redact, room: number): string {
  const name = oneLine(diff.path, LIMITS.titleLength);
  const length = (diff.oldText?.length ?? 0) + diff.newText.length;
  if (length < room && isAbsolute(diff.path)) {
    const before = diff.oldText === null ? null : redact(diff.oldText);
    const after = redact(diff.newText);
    if (before === after && diff.oldText !== diff.newText) {
      return textBlock(`[${name}: the change is in redacted text]`);
    }
    const block = `{"type":"diff","path":${jsonText(diff.path)},"oldText":${
      before === null ? "null" : jsonText(before)
    },"newText":${jsonText(after)}}`;
    if (fits(block, room)) return block;
  }
  if (length > DIFF_LENGTH) return textBlock(`[${name}: a change too large to show]`);
  const hunks = hunksOf(diff);
  return fencedBlock((bytes) => keepEnds(hunks, bytes, redact), "diff", room);
}

/** A code block cut to `room`. The fence grows with the backticks in the text, so what fits is found by trying. */
function fencedBlock(cut: (bytes: number) => string, language: string, room: number): string {
  for (let bytes = room - TEXT_FRAME - 32; bytes > 0; bytes = Math.floor(bytes / 2)) {
    const block = textBlock(fenced(cut(bytes), language));
    if (fits(block, room)) return block;
  }
  return textBlock("[text not shown]");
}
