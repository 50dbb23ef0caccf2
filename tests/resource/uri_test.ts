import { assertEquals, assertThrows } from "@std/assert";
import { type LinkedUri, parseLinkedUri } from "../../src/resource/uri.ts";
import { LIMITS } from "../../src/limits.ts";
import { ResourceError } from "../../src/session/ports.ts";

const unix = { windows: false };
const windows = { windows: true };

function file(path: string, from?: number, to?: number): LinkedUri {
  return from === undefined
    ? { kind: "file", path }
    : { kind: "file", path, lines: { from, to: to ?? from } };
}

const TAKEN: readonly (readonly [string, LinkedUri])[] = [
  ["file:///w/a.ts", file("/w/a.ts")],
  ["file://localhost/w/a.ts", file("/w/a.ts")],
  ["file://LOCALHOST/w/a.ts", file("/w/a.ts")],
  ["FILE:///w/a.ts", file("/w/a.ts")],
  ["file:/w/a.ts", file("/w/a.ts")],
  ["file:///", file("/")],
  ["file:///w/folder/", file("/w/folder")],
  ["file:///w//x/./a.ts", file("/w/x/a.ts")],
  ["file:///w/x/../a.ts", file("/w/a.ts")],
  ["file:///w/x/%2e%2E/a.ts", file("/w/a.ts")],
  ["file:///../../a.ts", file("/a.ts")],
  // escapes and what clients leave unescaped
  ["file:///w/a%20b.ts", file("/w/a b.ts")],
  ["file:///w/a b.ts", file("/w/a b.ts")],
  ["file:///w/a+b.ts", file("/w/a+b.ts")],
  ["file:///w/a.ts ", file("/w/a.ts ")],
  ["file:///w/%23%3F%25.ts", file("/w/#?%.ts")],
  ["file:///w/a%2520b.ts", file("/w/a%20b.ts")],
  ["file:///w/%C3%A4.ts", file("/w/ä.ts")],
  ["file:///w/ä/猫.ts", file("/w/ä/猫.ts")],
  ["file:///w/a\u0308.ts", file("/w/a\u0308.ts")],
  ["file:///w/%0A.ts", file("/w/\n.ts")],
  ["file:///w/[a]:b.ts", file("/w/[a]:b.ts")],
  // line ranges
  ["file:///w/a.ts#L10:20", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10-L20", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10-20", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10", file("/w/a.ts", 10)],
  ["file:///w/a.ts#l10", file("/w/a.ts", 10)],
  ["file:///w/a.ts#10", file("/w/a.ts", 10)],
  ["file:///w/a.ts#10-20", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10,3", file("/w/a.ts", 10)],
  ["file:///w/a.ts#L10,3-20,1", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10%2C3-20%2C1", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10C3-L20C1", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L10%3A20", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts#L20:10", file("/w/a.ts", 10, 20)],
  // fragments that are no range
  ["file:///w/a.ts#", file("/w/a.ts")],
  ["file:///w/a.md#heading", file("/w/a.md")],
  ["file:///w/a.ts#L0", file("/w/a.ts")],
  ["file:///w/a.ts#L10:", file("/w/a.ts")],
  ["file:///w/a.ts#L9999999999", file("/w/a.ts")],
  // queries
  ["file:///w/a.ts?symbol=main#L1:3", file("/w/a.ts", 1, 3)],
  ["file:///w/a.ts?symbol=a%2Fb%23c#L1:3", file("/w/a.ts", 1, 3)],
  ["file:///w/a.ts?symbol=a/b#L1:3", file("/w/a.ts", 1, 3)],
  ["file:///w/a.ts?column=7#L1:3", file("/w/a.ts", 1, 3)],
  ["file:///w/a.ts?line=10", file("/w/a.ts", 10)],
  ["file:///w/a.ts?lines=10-20", file("/w/a.ts", 10, 20)],
  ["file:///w/a.ts?line=10#L1:3", file("/w/a.ts", 1, 3)],
  ["file:///w/a.ts?version=1", file("/w/a.ts")],
  ["file:///w/a.ts?", file("/w/a.ts")],
  // a bare path is literal
  ["/w/a.ts", file("/w/a.ts")],
  ["/w/C#/100%/a?b\\c.ts", file("/w/C#/100%/a?b\\c.ts")],
  ["/w/a.ts#L1", file("/w/a.ts#L1")],
  ["/w/../x/", file("/x")],
];

Deno.test("[F6] links as editors write them name their file and keep their range", () => {
  for (const [uri, expected] of TAKEN) assertEquals(parseLinkedUri(uri, unix), expected, uri);
});

const REFERENCES: readonly (readonly [string, LinkedUri])[] = [
  ["https://example.com/a?b#c", { kind: "reference" }],
  ["https://example.com/a.ts#L10-L20", { kind: "reference", lines: { from: 10, to: 20 } }],
  ["zed:///agent/untitled-buffer#L1:10", { kind: "reference", lines: { from: 1, to: 10 } }],
  ["zed:///agent/thread/1?name=Some%20thread", { kind: "reference" }],
  ["untitled:Untitled-1", { kind: "reference" }],
  ["data:text/plain,%zz%00", { kind: "reference" }],
  ["vscode-remote://ssh-remote%2Bbox/w/a.ts", { kind: "reference" }],
  ["jar:file:///w/a.jar!/A.class", { kind: "reference" }],
  ["urn:" + "x".repeat(LIMITS.uriBytes), { kind: "reference" }],
];

Deno.test("[F1] schemes that are never read are references", () => {
  for (const system of [unix, windows]) {
    for (const [uri, expected] of REFERENCES) assertEquals(parseLinkedUri(uri, system), expected, uri);
  }
});

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ["file:///w/a%2Fb.ts", /escape %2F/],
  ["file:///w/a%2fb.ts", /escape %2f/],
  ["file:///w%5Ca.ts", /escape %5C/],
  ["file:///w/a.ts%00.png", /escape %00/],
  ["file:///w/100%.ts", /write a % of a name as %25/],
  ["file:///w/%zz.ts", /write a % of a name as %25/],
  ["file:///w/%2", /write a % of a name as %25/],
  ["file:///w/%FF%FE.ts", /not UTF-8/],
  ["file:///w/%C0%AF.ts", /not UTF-8/],
  ["file:///w/%ED%A0%80.ts", /not UTF-8/],
  ["file:///w/\ud800.ts", /surrogate/],
  ["file:///w/a\u0000.ts", /control character/],
  ["file:///w/a\n.ts", /control character/],
  ["file://example.com/w/a.ts", /names the machine "example.com"/],
  ["file://localhost:80/w/a.ts", /names the machine "localhost:80"/],
  ["file://me@localhost/w/a.ts", /names the machine/],
  ["file://w/a.ts", /names the machine "w"/],
  ["file://~/a.ts", /names the machine "~"/],
  ["file://wsl%24/Ubuntu/a.ts", /names the machine/],
  ["file:w/a.ts", /no absolute path/],
  ["file:", /no absolute path/],
  ["file://localhost", /no absolute path/],
  ["file:///w/C#/a.cs", /write it as %23/],
  ["file:///w/what?/a.ts", /write it as %3F/],
  ["file:///w/a\\b.ts", /backslash/],
  ["file:///C:/w/a.ts", /Windows drive/],
  ["file:///c%3A/w/a.ts", /Windows drive/],
  ["file:///C:\\w\\a.ts", /Windows drive/],
  ["file://C:/w/a.ts", /Windows drive/],
  ["file:C:/w/a.ts", /Windows drive/],
  ["C:\\w\\a.ts", /Windows drive/],
  ["c:/w/a.ts", /Windows drive/],
  ["file:////server/share/a.ts", /network share/],
  ["file://localhost//server/share/a.ts", /network share/],
  ["\\\\server\\share\\a.ts", /network share/],
  ["//server/share/a.ts", /network share/],
  ["", /neither a URI nor an absolute path/],
  ["src/a.ts", /neither a URI nor an absolute path/],
  ["file:///" + "x".repeat(LIMITS.uriBytes), /longer than 16384 bytes/],
  ["file:///" + "ä".repeat(LIMITS.uriBytes / 2), /longer than 16384 bytes/],
  ["/" + "x".repeat(LIMITS.uriBytes), /longer than 16384 bytes/],
];

Deno.test("[F6] links that could name another file are refused with a sentence", () => {
  for (const [uri, sentence] of REFUSED) {
    const error = assertThrows(() => parseLinkedUri(uri, unix), ResourceError, undefined, uri);
    assertEquals([error.code, sentence.test(error.message)], ["invalid_uri", true], error.message);
    assertEquals(error.message.length < 400 && !error.message.includes("\n"), true, error.message);
  }
});

Deno.test("[F6] a link of exactly the longest length is taken", () => {
  const name = "x".repeat(LIMITS.uriBytes - "file:///".length);
  assertEquals(parseLinkedUri(`file:///${name}`, unix), file(`/${name}`));
});

const ON_WINDOWS: readonly (readonly [string, LinkedUri | RegExp])[] = [
  ["file:///C:/w/a%20b.ts#L1:3", file("C:\\w\\a b.ts", 1, 3)],
  ["file:///c%3A/w/x/../a.ts", file("C:\\w\\a.ts")],
  ["file:///C:\\w\\a.ts", file("C:\\w\\a.ts")],
  ["file://C:/w/a.ts", file("C:\\w\\a.ts")],
  ["file:///C:", file("C:\\")],
  ["C:\\w\\100%\\a.ts", file("C:\\w\\100%\\a.ts")],
  ["file://server/share/a.ts", file("\\\\server\\share\\a.ts")],
  ["file:////server/share/a.ts", file("\\\\server\\share\\a.ts")],
  ["\\\\server\\share\\a.ts", file("\\\\server\\share\\a.ts")],
  ["file://wsl%24/Ubuntu/a.ts", file("\\\\wsl$\\Ubuntu\\a.ts")],
  ["file:///w/a.ts", /no absolute Windows path/],
  ["/w/a.ts", /no absolute Windows path/],
  ["file://server", /no absolute Windows path/],
  ["\\\\.\\C:\\a.ts", /no absolute Windows path/],
  ["\\\\?\\C:\\a.ts", /no absolute Windows path/],
  ["file:///C:/w/a.ts:stream", /no Windows file name/],
  ["file:///C:/w/a%2Ab", /no Windows file name/],
  ["file:///C:/w%5Ca.ts", /escape %5C/],
];

Deno.test("[F6] drives and shares are paths on Windows", () => {
  for (const [uri, expected] of ON_WINDOWS) {
    if (expected instanceof RegExp) {
      const error = assertThrows(() => parseLinkedUri(uri, windows), ResourceError, undefined, uri);
      assertEquals([error.code, expected.test(error.message)], ["invalid_uri", true], error.message);
    } else assertEquals(parseLinkedUri(uri, windows), expected, uri);
  }
});
