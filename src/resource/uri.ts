import type { LineRange } from "../model/prompt.ts";
import { LIMITS } from "../limits.ts";
import { ResourceError } from "../session/ports.ts";
import { segmentsOf } from "./path.ts";
import { quote } from "./quote.ts";

/** What a linked URI points at, before anything on the disk was looked at. */
export type LinkedUri =
  /** `path` is absolute, decoded, without `.`, `..`, empty segments or a slash at its end. */
  | { readonly kind: "file"; readonly path: string; readonly lines?: LineRange }
  /** Another scheme: handed on as it is and never read. */
  | { readonly kind: "reference"; readonly lines?: LineRange };

/**
 * Reads a linked URI. Pure.
 *
 * Taken: `file:` with no host or `localhost`, with percent-escapes or with raw spaces and letters of any script; a line
 * range as the fragment (`#L10:20`, `#L10-L20`, `#L10C3-L20C1`, `#L10,3-20,1`, `#L10`, `#10`) or as `?line=` and `?lines=`;
 * any other query, such as `?symbol=…`, which is left out. A fragment that is no line range is left out too. A bare absolute
 * path is taken literally, without escapes, query or range, because that is what its sender means. On Windows also drives
 * and network shares.
 *
 * Throws {@linkcode ResourceError} `invalid_uri` for everything that could name another file than the one that was meant.
 */
export function parseLinkedUri(uri: string, system: { readonly windows: boolean }): LinkedUri {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme.length > 1 && scheme !== "file") {
    return { kind: "reference", ...linesIn(uri) };
  }
  checkText(uri);
  if (scheme === "file") return parseFileUri(uri, uri.slice("file:".length), system);
  if (scheme !== undefined || uri.startsWith("\\\\")) {
    return { kind: "file", path: windowsPath(uri, uri.replaceAll("\\", "/"), system) };
  }
  if (!uri.startsWith("/")) {
    throw invalid(uri, "is neither a URI nor an absolute path: link a file as file:///folder/name");
  }
  if (uri.startsWith("//") || system.windows) return { kind: "file", path: windowsPath(uri, uri, system) };
  return { kind: "file", path: "/" + segmentsOf(uri).join("/") };
}

function parseFileUri(uri: string, rest: string, system: { readonly windows: boolean }): LinkedUri {
  const hash = rest.indexOf("#");
  const fragment = hash < 0 ? "" : rest.slice(hash + 1);
  const beforeHash = hash < 0 ? rest : rest.slice(0, hash);
  const mark = beforeHash.indexOf("?");
  const query = mark < 0 ? "" : beforeHash.slice(mark + 1);
  const location = mark < 0 ? beforeHash : beforeHash.slice(0, mark);

  const lines = parseLines(fragment) ?? linesOfQuery(query);
  // Clients that do not escape cut a name in two here; reading the first half would send another file.
  if (parseLines(fragment) === undefined && fragment.includes("/")) {
    throw invalid(uri, "has a # inside its path: write it as %23");
  }
  if (query.includes("/") && !query.includes("=")) {
    throw invalid(uri, "has a ? inside its path: write it as %3F");
  }

  const path = pathOf(uri, decode(uri, location), system);
  return lines === undefined ? { kind: "file", path } : { kind: "file", path, lines };
}

/** The path of a decoded `//host/path` or `/path`. */
function pathOf(uri: string, location: string, system: { readonly windows: boolean }): string {
  const slashed = location.replaceAll("\\", "/");
  // `file://C:/x` and `file://C:\x` come from clients that put `file://` before a Windows path.
  if (/^\/{0,3}[A-Za-z]:(\/|$)/.test(slashed)) return windowsPath(uri, slashed.replace(/^\/+/, ""), system);
  if (slashed.startsWith("////")) return windowsPath(uri, slashed.slice(2), system);
  if (location.includes("\\") && !system.windows) {
    throw invalid(uri, "has a backslash, which may stand for a folder or for itself: it cannot be linked");
  }
  const match = /^\/\/([^/]*)(.*)$/s.exec(slashed);
  const host = match?.[1]?.toLowerCase() ?? "";
  const path = match?.[2] ?? slashed;
  if (host !== "" && host !== "localhost") {
    if (system.windows) return windowsPath(uri, slashed, system);
    throw invalid(
      uri,
      `names the machine ${quote(host)}: only files of this machine are read, as file:///folder/name`,
    );
  }
  if (!path.startsWith("/")) throw invalid(uri, "holds no absolute path: write file:///folder/name");
  if (path.startsWith("//") || system.windows) return windowsPath(uri, path, system);
  return "/" + segmentsOf(path).join("/");
}

/** A path with a drive or a network share, with `/` between its segments. */
function windowsPath(uri: string, path: string, system: { readonly windows: boolean }): string {
  const drive = /^([A-Za-z]):(\/.*|)$/s.exec(path);
  const share = /^\/\/([A-Za-z0-9][A-Za-z0-9.$_-]*)(\/[^/].*)$/s.exec(path);
  if (!system.windows) {
    throw invalid(
      uri,
      drive !== null || /^[A-Za-z]:/.test(path)
        ? "names a Windows drive, and this system has none: link the file as file:///folder/name"
        : "names a network share, which is not read on this system: link the file as file:///folder/name",
    );
  }
  const segments = segmentsOf(drive?.[2] ?? share?.[2] ?? "");
  // A colon opens an alternate stream of a file; the other characters cannot be part of a name.
  if (segments.some((segment) => /[:*?"<>|]/.test(segment))) {
    throw invalid(uri, "holds a character that no Windows file name has");
  }
  if (drive !== null) return `${drive[1]!.toUpperCase()}:\\${segments.join("\\")}`;
  if (share !== null) return `\\\\${share[1]!}\\${segments.join("\\")}`;
  throw invalid(uri, "holds no absolute Windows path: link a file as file:///C:/folder/name");
}

function decode(uri: string, text: string): string {
  if (!text.includes("%")) return text;
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) {
    throw invalid(uri, "has a % that is not followed by two hexadecimal digits: write a % of a name as %25");
  }
  const escape = /%(2F|5C|00)/i.exec(text)?.[0];
  if (escape !== undefined) throw invalid(uri, `has the escape ${escape}, which no file name can hold`);
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw invalid(uri, "has escapes that are not UTF-8: rename the file or link its folder", cause);
  }
}

function checkText(uri: string): void {
  const limit = LIMITS.uriBytes;
  // A UTF-16 unit takes at most three bytes, so most links need no encoding to be measured.
  if (uri.length * 3 > limit && (uri.length > limit || new TextEncoder().encode(uri).length > limit)) {
    throw invalid(uri, `is longer than ${limit} bytes: link a file with a shorter path`);
  }
  if (!uri.isWellFormed()) throw invalid(uri, "holds half of a surrogate pair, which is no text");
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(uri)) throw invalid(uri, "holds a raw control character: write it as an escape");
}

function linesIn(uri: string): { readonly lines?: LineRange } {
  const hash = uri.indexOf("#");
  const lines = hash < 0 ? undefined : parseLines(uri.slice(hash + 1));
  return lines === undefined ? {} : { lines };
}

function linesOfQuery(query: string): LineRange | undefined {
  if (!query.includes("line")) return undefined;
  const values = new URLSearchParams(query);
  return parseLines(values.get("lines") ?? values.get("line") ?? "");
}

/** A range as editors write it, 1-based; columns are left out, a range that was selected backwards is turned round. */
function parseLines(text: string): LineRange | undefined {
  // 40 characters hold two lines with columns, escaped.
  if (text === "" || text.length > 64) return undefined;
  const plain = text.replaceAll(/%3A/gi, ":").replaceAll(/%2C/gi, ",");
  const match = /^L?(\d{1,9})(?:[,C]\d{1,9})?(?:[-:]L?(\d{1,9})(?:[,C]\d{1,9})?)?$/i.exec(plain);
  if (match === null) return undefined;
  const one = Number(match[1]);
  const other = Number(match[2] ?? match[1]);
  if (one < 1 || other < 1) return undefined;
  return { from: Math.min(one, other), to: Math.max(one, other) };
}

function invalid(uri: string, why: string, cause?: unknown): ResourceError {
  return new ResourceError(
    "invalid_uri",
    `The link ${quote(uri)} ${why}`,
    cause === undefined ? undefined : { cause },
  );
}
