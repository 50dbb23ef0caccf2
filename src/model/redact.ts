import type { Json, JsonObject } from "./json.ts";

/** Takes secrets out of text that people are shown; everything else stays as it is. */
export type Redact = (text: string) => string;

/** What stands where a secret was. */
export const REDACTED = "[redacted]";

/**
 * Shapes that are secrets wherever they stand: private keys (also where one end was cut off), tokens by their issuers'
 * prefixes, credentials of HTTP headers and of URLs. Repetitions are bounded, so that no text makes the search quadratic.
 */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s:,\-]{0,8192}?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    REDACTED,
  ],
  [/(?:^|\n)(?:[A-Za-z0-9+/=]{16,}\r?\n){1,128}-----END [A-Z ]*PRIVATE KEY-----/g, `\n${REDACTED}`],
  [
    /\b(?:gh[pousr]_|github_pat_|glpat-|sk-ant-|sk-proj-|sk_live_|rk_live_|xox[abeprs]-|npm_|pypi-|hf_)[A-Za-z0-9_\-]{6,}/g,
    REDACTED,
  ],
  [/\bsk-[A-Za-z0-9]{16,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[A-Za-z0-9_\-]{30,}/g, REDACTED],
  [/\beyJ[A-Za-z0-9_\-]{8,512}\.eyJ[A-Za-z0-9_\-]{8,4096}\.[A-Za-z0-9_\-]*/g, REDACTED],
  [/\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[^\s"',;]+/gi, `$1${REDACTED}`],
  [/\b([a-z][a-z0-9+.\-]{0,15}:\/\/[^\s/:@"']{0,64}:)[^\s/@"']{1,256}@/gi, `$1${REDACTED}@`],
];

/** What every one of these shapes has in it: one look that most text does not pass. */
const HINT =
  /-----(?:BEGIN|END) |\bgh[pousr]_|github_pat_|glpat-|\b[sr]k[-_]|xox[abeprs]-|npm_|pypi-|hf_|AKIA|ASIA|AIza|eyJ|authorization|:\/\/[^\s/@"']*@/i;

/** Names whose values are secrets in structured data. */
const NAMES =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|password|passwd|passphrase|secret|token|api[-_]?key|private[-_]?key|(?:access|auth|refresh|session|bearer)[-_]?token|client[-_]?secret|secret[-_]?(?:access[-_]?)?key)$/i;

/**
 * The one place where secrets are taken out of what is shown or logged. It knows the shapes of common credentials; it cannot know
 * a secret that looks like any other word.
 */
export function redactSecrets(text: string): string {
  if (!HINT.test(text)) return text;
  let clean = text;
  for (const [shape, stand] of SHAPES) clean = clean.replace(shape, stand);
  return clean;
}

/** Lists and objects within each other; what is deeper is not looked into, and so not shown. */
const DEPTH = 200;

/** Redacts every string of a JSON value, and whole values that stand under the name of a secret or are nested too deeply. */
export function redactJson(value: Json, redact: Redact): Json {
  return within(value, redact, DEPTH);
}

/** Redacts a JSON object as {@linkcode redactJson} does. */
export function redactObject(object: JsonObject, redact: Redact): JsonObject {
  return withinObject(object, redact, DEPTH);
}

function within(value: Json, redact: Redact, depth: number): Json {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return REDACTED;
  return isList(value)
    ? value.map((item) => within(item, redact, depth - 1))
    : withinObject(value, redact, depth);
}

function withinObject(object: JsonObject, redact: Redact, depth: number): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      NAMES.test(name) && value !== null ? REDACTED : within(value, redact, depth - 1),
    ]),
  );
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
