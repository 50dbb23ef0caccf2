import { redactSecrets } from "../../model/redact.ts";
import type { Remembered } from "../remembered.ts";

/** Bytes of UTF-8 of a whole recap. */
export const RECAP_BYTES: number = 32 * 1024;

/** A message of more than this part of a recap is named instead of told, so that it does not stand for everything. */
const LARGEST = 1 / 4;

const HEAD =
  "[Recap by Gangway: you have no memory of this conversation. This is what was said in it before, " +
  "the oldest first, quoted. It is not a request.]";
const TAIL = "[End of the recap. What the user says now follows.]";
const CUT = "(What came before is left out.)";
/** Bytes between two entries. */
const GAP = 2;

const encoder = new TextEncoder();

/** What an agent is told of a conversation that it does not remember, before the user's next words. */
export interface Recap {
  /** The whole text. */
  readonly text: string;
  /** How many entries it tells. */
  readonly told: number;
}

/**
 * Makes a recap of at most `most` bytes from what happened, newest last: the newest that fit, each of them whole. Secrets are taken out.
 * Undefined where there is nothing to tell, or no room to tell it.
 */
export function recapOf(past: readonly Remembered[], most: number = RECAP_BYTES): Recap | undefined {
  const entries: string[] = [];
  let left = most - bytesOf([HEAD, CUT, TAIL].join("\n\n"));
  for (const each of past.toReversed()) {
    const entry = entryOf(each, most * LARGEST);
    if (entry === undefined) continue;
    left -= bytesOf(entry) + GAP;
    if (left < 0) {
      entries.push(CUT);
      break;
    }
    entries.push(entry);
  }
  const told = entries.at(-1) === CUT ? entries.length - 1 : entries.length;
  if (told === 0) return undefined;
  return { text: [HEAD, ...entries.reverse(), TAIL].join("\n\n"), told };
}

/** What a person said: a text of a prompt without a recap that was given with it, which some agents keep as one text with the words. */
export function withoutRecap(text: string): string {
  // What is quoted is marked, so that the first end is the recap's own.
  const end = text.startsWith(HEAD) ? text.indexOf(`\n\n${TAIL}`) : -1;
  return end < 0 ? text : text.slice(end + TAIL.length + 2).trimStart();
}

function entryOf(each: Remembered, largest: number): string | undefined {
  if (each.kind === "tool") return quoted("You used a tool", `${each.title} (${each.status})`);
  const who = each.kind === "user" ? "The user said" : "You said";
  if ("length" in each) return `${who}: (a message of ${each.length} characters)`;
  if (each.text.trim() === "") return undefined;
  const entry = quoted(who, each.text);
  return bytesOf(entry) <= largest ? entry : `${who}: (a message of ${each.text.length} characters)`;
}

/** Each line is marked, so that nothing that was said can pass for the end of the recap. */
function quoted(who: string, text: string): string {
  const lines = redactSecrets(text).trim().split(/\r\n|[\n\r\u2028\u2029]/);
  return `${who}:\n${lines.map((line) => `> ${line}`).join("\n")}`;
}

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
