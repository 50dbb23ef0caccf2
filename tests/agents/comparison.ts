import { isRecord } from "../../src/engine/acp/shape.ts";

/** A difference that is meant. */
export interface Difference {
  /** Members by dots from the recording down; `*` stands for any one. All below it belongs to it. */
  readonly at: string;
  readonly why: string;
  /** It depends on which of two things the agent does first. */
  readonly sometimes?: true;
}

/** Something that is not the same in two recordings. */
export interface Found {
  readonly at: string;
  readonly alone: unknown;
  readonly behind: unknown;
}

/** Everything in which two recordings differ, as deep as they can be told apart. What is null or an empty list is as good as absent. */
export function differences(alone: unknown, behind: unknown, at = ""): Found[] {
  if (Array.isArray(alone) && Array.isArray(behind)) {
    const length = Math.max(alone.length, behind.length);
    return Array.from({ length }, (_, index) => differences(alone[index], behind[index], below(at, index)))
      .flat();
  }
  if (isRecord(alone) && isRecord(behind)) {
    const names = [...new Set([...Object.keys(alone), ...Object.keys(behind)])];
    return names.flatMap((name) => differences(alone[name], behind[name], below(at, name)));
  }
  return nothing(alone) && nothing(behind) || alone === behind ? [] : [{ at, alone, behind }];
}

/** What is not written down, and what is written down but does not happen, as sentences. */
export function judge(found: readonly Found[], written: readonly Difference[]): string[] {
  const unmet = new Set(written.filter(({ sometimes }) => sometimes === undefined));
  const complaints = found.flatMap(({ at, alone, behind }) => {
    const meant = written.filter((difference) => covers(difference.at, at));
    for (const difference of meant) unmet.delete(difference);
    return meant.length > 0 ? [] : [`${at}: alone ${short(alone)}, behind Gangway ${short(behind)}`];
  });
  return [...complaints, ...[...unmet].map(({ at, why }) => `${at} does not differ: ${why}`)];
}

function nothing(value: unknown): boolean {
  return value === undefined || value === null || Array.isArray(value) && value.length === 0;
}

function covers(pattern: string, at: string): boolean {
  const path = at.split(".");
  return pattern.split(".").every((part, index) => part === "*" ? index < path.length : part === path[index]);
}

function below(at: string, name: string | number): string {
  return at === "" ? String(name) : `${at}.${name}`;
}

function short(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 300);
}
