import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { Step } from "../../src/engine/workbench/step.ts";
import { parseScript } from "../../src/engine/workbench/steps.ts";
import { StepError } from "../../src/engine/workbench/step.ts";
import { STEPS } from "../../src/engine/workbench/profile.ts";

const READ: readonly (readonly [line: string, step: Step])[] = [
  ["/say Hello, world", { name: "say", text: "Hello, world" }],
  ["/say  /say a \\n b | c ", { name: "say", text: "/say a \\n b | c" }],
  ["/think hm", { name: "think", text: "hm" }],
  ["/emit 3 16", { name: "emit", count: 3, bytes: 16 }],
  ["/read a/b.txt", { name: "read", path: "a/b.txt" }],
  ['/read "a b.txt"', { name: "read", path: "a b.txt" }],
  ["/write a.txt", { name: "write", path: "a.txt", text: "" }],
  ["/write a.txt one\\r\\ntwo\\t\\\\n", { name: "write", path: "a.txt", text: "one\r\ntwo\t\\n" }],
  ["/write a.txt \\d+", { name: "write", path: "a.txt", text: "\\d+" }],
  ["/edit a.txt old words => new => words", {
    name: "edit",
    path: "a.txt",
    before: "old words",
    after: "new => words",
  }],
  ["/edit a.txt old =>", { name: "edit", path: "a.txt", before: "old", after: "" }],
  ["/run echo hi | cat", { name: "run", command: "echo hi | cat" }],
  ["/ask Which? | Red | Dark green", { name: "ask", question: "Which?", options: ["Red", "Dark green"] }],
  ["/plan One | Two", { name: "plan", items: ["One", "Two"] }],
  ["/sleep 0", { name: "sleep", ms: 0 }],
  ["/usage 10 100", { name: "usage", used: 10, size: 100 }],
  ["/title A title", { name: "title", text: "A title" }],
  ["/fail On purpose", { name: "fail", text: "On purpose" }],
  ["/stop refusal", { name: "stop", reason: "refusal" }],
  ["/background 5 later", { name: "background", ms: 5, text: "later" }],
  ["/rewrite better", { name: "rewrite", text: "better" }],
  ["/flood 100000", { name: "flood", bytes: 100000 }],
  ["/tools 4", { name: "tools", count: 4 }],
  ["/form name:string", { name: "form", fields: [{ name: "name", required: true, type: "string" }] }],
  ["/form name?:string(1..20)=Ada mail:email", {
    name: "form",
    fields: [
      { name: "name", required: false, type: "string", minLength: 1, maxLength: 20, default: "Ada" },
      { name: "mail", required: true, type: "string", format: "email" },
    ],
  }],
  ["/form n:number(-1.5..) i:integer(..9)=3 b:boolean=true", {
    name: "form",
    fields: [
      { name: "n", required: true, type: "number", minimum: -1.5 },
      { name: "i", required: true, type: "integer", maximum: 9, default: 3 },
      { name: "b", required: true, type: "boolean", default: true },
    ],
  }],
  ["/form c:enum(red,green)=red m?:multi(a, b, c)=a,c", {
    name: "form",
    fields: [
      {
        name: "c",
        required: true,
        type: "enum",
        choices: [{ value: "red" }, { value: "green" }],
        default: "red",
      },
      {
        name: "m",
        required: false,
        type: "multi_enum",
        choices: [{ value: "a" }, { value: "b" }, { value: "c" }],
        default: ["a", "c"],
      },
    ],
  }],
];

Deno.test("every step is read with its arguments", () => {
  const read = READ.map(([line]) => parseScript(line));
  // Through JSON, since a bound that is not set counts as absent.
  assertEquals(
    JSON.parse(JSON.stringify(read)),
    READ.map(([, step]) => ({ steps: [step], rest: "" })),
  );
  assertEquals([...new Set(READ.map(([, { name }]) => name))].sort(), STEPS.map(({ name }) => name).sort());
});

Deno.test("steps keep their order and leave the other lines", () => {
  assertEquals(parseScript("first\r\n/say a\n\nsecond /say b\n/say c\n"), {
    steps: [{ name: "say", text: "a" }, { name: "say", text: "c" }],
    rest: "first\n\nsecond /say b",
  });
});

const REFUSED: readonly (readonly [line: string, reason: StepError["reason"], words: string])[] = [
  ["/", "unknown", 'There is no step "/"'],
  ["/nope 1", "unknown", 'There is no step "/nope"'],
  ["/Say hi", "unknown", "The steps are: /say TEXT, /think TEXT, /emit COUNT BYTES"],
  ["/constructor x", "unknown", "/constructor"],
  ["/say", "malformed", 'The step "/say" wants TEXT: TEXT is missing'],
  ["/emit 3", "malformed", "BYTES is missing"],
  ["/emit x 3", "malformed", "COUNT must be a whole number from 1"],
  ["/emit 1e3 3", "malformed", "COUNT"],
  ["/emit 0 3", "malformed", "COUNT"],
  ["/emit 3 9999999999", "malformed", "BYTES must be a whole number from 1 to 1048576"],
  ["/emit 3 3 3", "malformed", "too many words"],
  ["/read", "malformed", "PATH is missing"],
  ["/read a b", "malformed", "too many words"],
  ["/edit a.txt old new", "malformed", 'before "=>"'],
  ["/edit a.txt => new", "malformed", 'before "=>"'],
  ["/run ", "malformed", "COMMAND is missing"],
  ["/ask Why?", "malformed", "OPTION"],
  ["/ask Why? | a |", "malformed", "empty"],
  ["/plan a || b", "malformed", "empty"],
  ["/sleep -1", "malformed", "MS"],
  ["/sleep 99999999999", "malformed", "MS"],
  ["/usage 1", "malformed", "SIZE"],
  ["/stop later", "malformed", "REASON must be one of end_turn, max_tokens, max_turn_requests, refusal"],
  ["/form name", "malformed", '"name" is not NAME:TYPE'],
  ["/form a:string a:string", "malformed", "twice"],
  ["/form a:colour", "malformed", '"colour" is none of'],
  ["/form a:string(9..1)", "malformed", "bounds"],
  ["/form a:string(x)", "malformed", "bounds"],
  ["/form a:boolean=maybe", "malformed", "true or false"],
  ["/form a:integer=1.5", "malformed", "number of its type"],
  ["/form a:enum", "malformed", "choices"],
  ["/form a:enum(x,x)", "malformed", "choices"],
  ["/form a:enum(x,y)=z", "malformed", "one of its choices"],
  ["/form a:email(1..2)", "malformed", "brackets"],
];

for (const [line, reason, words] of REFUSED) {
  Deno.test(`a wrong step is refused with a sentence: ${line}`, () => {
    const error = assertThrows(() => parseScript(`/say fine\n${line}`), StepError);
    assertEquals(error.reason, reason);
    assertStringIncludes(error.message, words);
  });
}
