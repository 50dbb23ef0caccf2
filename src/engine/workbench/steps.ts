import { parseFields } from "./form.ts";
import { type Step, StepError } from "./step.ts";
import { STEPS } from "./profile.ts";
import type { StopReason } from "../../model/run.ts";

/** The steps of a text in their order, and the text without them. */
export interface Script {
  readonly steps: readonly Step[];
  readonly rest: string;
}

/** Past these numbers a step is refused: larger ones can only be a slip of the finger. */
const MOST = {
  count: 100_000_000,
  pieceBytes: 1024 * 1024,
  floodBytes: 4 * 1024 * 1024 * 1024,
  /** One day; a timer's own limit is 24 of them. */
  ms: 86_400_000,
};

const STOP_REASONS: readonly StopReason[] = ["end_turn", "max_tokens", "max_turn_requests", "refusal"];

/**
 * Reads the lines that begin with `/` as steps; every other line goes to `rest`. All steps are checked before any is
 * returned. Throws {@linkcode StepError} at the first one that is wrong.
 */
export function parseScript(text: string): Script {
  const steps: Step[] = [];
  const rest: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("/")) steps.push(parseStep(line));
    else rest.push(line);
  }
  return { steps, rest: rest.join("\n").trim() };
}

/** All steps in one line, as an error and the first answer name them. */
export function stepList(): string {
  return STEPS.map(({ name, hint }) => `/${name} ${hint}`).join(", ");
}

function parseStep(line: string): Step {
  const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const known = STEPS.find((step) => step.name === name);
  if (known === undefined) {
    throw new StepError("unknown", `There is no step "/${name.slice(0, 40)}". The steps are: ${stepList()}`);
  }
  const wrong = (detail: string) =>
    new StepError("malformed", `The step "/${name}" wants ${known.hint}: ${detail}`);
  return parseArguments(known.name, new Arguments(rest.trimEnd(), wrong));
}

function parseArguments(name: Step["name"], args: Arguments): Step {
  switch (name) {
    case "say":
    case "think":
    case "title":
    case "fail":
    case "rewrite":
      return { name, text: args.text("TEXT") };
    case "emit":
      return args.end({
        name,
        count: args.number("COUNT", 1, MOST.count),
        bytes: args.number("BYTES", 1, MOST.pieceBytes),
      });
    case "read":
      return args.end({ name, path: args.word("PATH") });
    case "write":
      return { name, path: args.word("PATH"), text: unescape(args.rest()) };
    case "edit": {
      const path = args.word("PATH");
      const [before, after] = args.halves("=>");
      return { name, path, before: unescape(before), after: unescape(after) };
    }
    case "run":
      return { name, command: args.text("COMMAND") };
    case "ask": {
      const [question = "", ...options] = args.items();
      if (options.length === 0) throw args.wrong("at least one OPTION must follow a |");
      return { name, question, options };
    }
    case "form":
      return { name, fields: parseFields(args.text("NAME:TYPE"), args.wrong) };
    case "plan":
      return { name, items: args.items() };
    case "sleep":
      return args.end({ name, ms: args.number("MS", 0, MOST.ms) });
    case "usage":
      return args.end({
        name,
        used: args.number("USED", 0, Number.MAX_SAFE_INTEGER),
        size: args.number("SIZE", 0, Number.MAX_SAFE_INTEGER),
      });
    case "stop": {
      const word = args.word("REASON");
      const reason = STOP_REASONS.find((known) => known === word);
      if (reason === undefined) throw args.wrong(`REASON must be one of ${STOP_REASONS.join(", ")}`);
      return args.end({ name, reason });
    }
    case "background":
      return { name, ms: args.number("MS", 0, MOST.ms), text: args.text("TEXT") };
    case "flood":
      return args.end({ name, bytes: args.number("BYTES", 1, MOST.floodBytes) });
    case "tools":
      return args.end({ name, count: args.number("COUNT", 1, MOST.count) });
  }
}

/** What follows a step's name, taken from the left. */
class Arguments {
  #left: string;
  readonly wrong: (detail: string) => StepError;

  constructor(text: string, wrong: (detail: string) => StepError) {
    this.#left = text;
    this.wrong = wrong;
  }

  /** The next word, or what stands in double quotes. */
  word(what: string): string {
    const found = /^"([^"]+)"(?:\s+|$)|^(\S+)\s*/.exec(this.#left);
    if (found === null) throw this.wrong(`${what} is missing`);
    this.#left = this.#left.slice(found[0].length);
    return found[1] ?? found[2] ?? "";
  }

  number(what: string, least: number, most: number): number {
    const word = this.word(what);
    const value = /^\d+$/.test(word) ? Number(word) : NaN;
    if (value >= least && value <= most) return value;
    throw this.wrong(`${what} must be a whole number from ${least} to ${most}`);
  }

  rest(): string {
    const rest = this.#left;
    this.#left = "";
    return rest;
  }

  text(what: string): string {
    const rest = this.rest();
    if (rest === "") throw this.wrong(`${what} is missing`);
    return rest;
  }

  items(): string[] {
    const items = this.rest().split("|").map((item) => item.trim());
    if (items.includes("")) throw this.wrong("no part between | may be empty");
    return items;
  }

  halves(separator: string): [string, string] {
    const rest = this.rest();
    const at = rest.indexOf(separator);
    const before = rest.slice(0, Math.max(at, 0)).trim();
    if (before === "") throw this.wrong(`a text must stand before "${separator}"`);
    return [before, rest.slice(at + separator.length).trim()];
  }

  end<T>(step: T): T {
    if (this.#left !== "") throw this.wrong("there are too many words");
    return step;
  }
}

const ESCAPES: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

function unescape(text: string): string {
  return text.replaceAll(/\\([nrt\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}
