import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ALL, input, output, progress, projection, result, RUN, texts } from "./frames.ts";
import { redactObject, redactSecrets, TurnProjection } from "../../src/projection/mod.ts";
import { Editor } from "./editor.ts";
import { LIMITS } from "../../src/limits.ts";

const KEY =
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nEFAASCBKcwggSjAgEAAo\n-----END PRIVATE KEY-----";

/** Secrets are put together here so that no scanner takes this file for a leak. */
const SECRETS: readonly { text: string; secret: string }[] = [
  { text: KEY, secret: "MIIEvQIBADANBgkqhkiG9w0BAQ" },
  { text: KEY.slice(0, 60), secret: "MIIEvQIBADANBgkqhkiG9w0BAQ" },
  { text: `\n${KEY.slice(28)}`, secret: "MIIEvQIBADANBgkqhkiG9w0BAQ" },
  { text: `token gh${"p_"}abcdefghijklmnopqrst end`, secret: "abcdefghijklmnopqrst" },
  { text: `sk-${"ant"}-api03-abcdefghij`, secret: "abcdefghij" },
  { text: `key=sk-${"a1".repeat(12)}`, secret: "a1a1" },
  { text: `AK${"IA"}ABCDEFGHIJKLMNOP`, secret: "ABCDEFGHIJKLMNOP" },
  { text: `xox${"b"}-1234567890-abc`, secret: "1234567890" },
  { text: "Authorization: Bearer abc.def", secret: "abc.def" },
  { text: `"authorization": "Basic dXNlcjpwYXNz"`, secret: "dXNlcjpwYXNz" },
  { text: "git clone https://me:hunter2@example.org/x", secret: "hunter2" },
  { text: `ey${"J"}hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl`, secret: "eyJzdWIiOiIxMjM0In0" },
];

Deno.test("[K2] common credentials are taken out, and nothing else", () => {
  for (const { text, secret } of SECRETS) {
    const clean = redactSecrets(text);
    assert(!clean.includes(secret), clean);
    assertStringIncludes(clean, "[redacted]");
  }
  for (
    const plain of [
      "the password is asked for later",
      "sk-short, skip-list, task-force",
      "https://example.org/a:b@c?x=https://y",
      "git@github.com:a/b.git",
      "eyJ is how they begin",
      "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
      "key: value",
    ]
  ) assertEquals(redactSecrets(plain), plain);
});

Deno.test("[K2] no text makes redaction slow", () => {
  const size = LIMITS.cardLength;
  for (
    const piece of [
      "a.",
      "eyJ-",
      "-----BEGIN PRIVATE KEY-----",
      "AAAAAAAAAAAAAAAA\n",
      "a://",
      "authorization: bearer ",
      "x",
      "ghp_",
    ]
  ) {
    const text = piece.repeat(size / piece.length) + "!";
    const begun = performance.now();
    redactSecrets(text);
    const took = performance.now() - begun;
    assert(took < 1500, `${piece}: ${took} ms`);
  }
});

for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
  Deno.test(`[E2] [K2] a raw value that is nested without end (${open}) is shown as far as it can be, without its secrets`, () => {
    const depth = LIMITS.rawBytes / (open.length + close.length) - 20;
    const text = `${open.repeat(depth)}"gh${"p_"}abcdefghijklmnopqrst"${close.repeat(depth)}`;
    const shown = new TurnProjection(RUN.turnId, { abilities: ALL });
    const raw = JSON.parse(text);
    const updates = [
      ...shown.apply(input("t", { raw }), 0).updates,
      ...shown.apply(result("t", { raw }), 1).updates,
    ];
    assert(updates.length > 0);
    assert(!updates.join("").includes("abcdefghijklmnopqrst"));
  });
}

Deno.test("[K2] values under the names of secrets are taken out of raw input", () => {
  assertEquals(
    redactObject(
      { apiKey: "x", nested: [{ password: { deep: 1 }, path: "/w" }], token: null },
      redactSecrets,
    ),
    { apiKey: "[redacted]", nested: [{ password: "[redacted]", path: "/w" }], token: null },
  );
});

Deno.test("[K2] one redaction reaches every form in which a tool shows text", () => {
  const editor = new Editor();
  const shown = new TurnProjection(RUN.turnId, {
    abilities: ALL,
    redact: (text) => text.replaceAll("SECRET", "*"),
  });
  const secret = "a SECRET b";
  editor.take(
    shown.apply(input("t", { title: secret, raw: { command: secret, list: [secret] }, complete: false }), 0),
  );
  editor.take(shown.apply(input("t", { title: secret, raw: { command: secret, list: [secret] } }), 300));
  editor.take(shown.apply(output("t", 0, "a SEC"), 600));
  editor.take(shown.apply(output("t", 1, "RET b"), 900));
  editor.take(shown.apply(progress("t", secret), 1200));
  editor.take(shown.tick(1500));
  const dialog = JSON.stringify(shown.card("t"));
  assert(dialog.includes("a * b") && !dialog.includes("SECRET"), "permission cards too");
  const long = `${secret}${"x".repeat(300_000)}${secret}`;
  editor.take(
    shown.apply(
      result("t", {
        content: texts(secret, long),
        diffs: [
          { path: "/w/a", oldText: secret, newText: `${secret}!` },
          { path: "/w/b", oldText: `${secret}\n${"line\n".repeat(20_000)}`, newText: `${secret}!\n` },
          { path: "/w/c", oldText: "SECRET", newText: "*" },
        ],
        raw: { out: secret },
      }),
      1800,
    ),
  );
  editor.take(
    shown.apply({
      type: "plan",
      run: RUN,
      entries: [{ content: secret, priority: "low", status: "pending" }],
    }, 1),
  );
  editor.take(shown.apply({ type: "notice", run: RUN, severity: "info", title: secret, text: secret }, 1));
  editor.take(
    shown.apply({
      type: "compaction",
      run: RUN,
      compactionId: "c",
      status: "failed",
      summary: [{ kind: "text", text: secret }],
      error: secret,
    }, 1),
  );
  const wire = editor.lines.slice(3).join("\n");
  assert(!wire.includes("SECRET"), wire.slice(Math.max(0, wire.indexOf("SECRET") - 200)).slice(0, 400));
  assertEquals(editor.card("t").rawInput, { command: "a * b", list: ["a * b"] });
  assertEquals(editor.card("t").rawOutput, { out: "a * b" });
  assertStringIncludes(editor.words("t"), "[/w/c: the change is in redacted text]");
});

Deno.test("[K2] secrets are taken out unless another redaction is given", () => {
  const editor = new Editor();
  const shown = new TurnProjection(RUN.turnId, { abilities: ALL });
  editor.take(shown.apply(output("t", 0, "Authorization: Bearer abcdef"), 0));
  assertStringIncludes(editor.words("t"), "Bearer [redacted]");
  editor.take(projection().apply(output("u", 0, "Authorization: Bearer abcdef"), 0));
  assertStringIncludes(editor.words("u"), "abcdef");
});
