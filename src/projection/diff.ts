import type { Diff } from "../model/tool.ts";

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/** Edit steps after which the search for the shortest way stops and the whole changed region is shown as replaced. */
const MAX_STEPS = 512;

interface Change {
  /** Lines of the old text, from inclusive to exclusive. */
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/**
 * The changes of a diff as unified hunks with line numbers. Lines are compared with their line ends; a line end is shown (as ␍) only
 * where the change is about it.
 */
export function hunksOf(diff: Diff): string {
  const before = linesOf(diff.oldText ?? "");
  const after = linesOf(diff.newText);
  const hunks = grouped(changesOf(before, after), before.length).map((changes) =>
    hunk(before, after, changes)
  );
  return `--- ${diff.oldText === null ? "/dev/null" : diff.path}\n+++ ${diff.path}\n${hunks.join("")}`;
}

/** Lines with their ends; the last one may have none. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function changesOf(before: readonly string[], after: readonly string[]): Change[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let oldEnd = before.length;
  let newEnd = after.length;
  while (oldEnd > start && newEnd > start && before[oldEnd - 1] === after[newEnd - 1]) oldEnd--, newEnd--;
  if (oldEnd === start && newEnd === start) return [];
  const whole = [{ oldFrom: start, oldTo: oldEnd, newFrom: start, newTo: newEnd }];
  if (oldEnd === start || newEnd === start) return whole;
  return shortest(before.slice(start, oldEnd), after.slice(start, newEnd), start) ?? whole;
}

/** The shortest edit by Myers' greedy search; undefined where it takes more than {@linkcode MAX_STEPS}. */
function shortest(before: readonly string[], after: readonly string[], shift: number): Change[] | undefined {
  const reach = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  const far = (diagonal: number): number => reach.get(diagonal) ?? -1;
  for (let steps = 0; steps <= Math.min(MAX_STEPS, before.length + after.length); steps++) {
    trail.push(new Map(reach));
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const down = diagonal === -steps || (diagonal !== steps && far(diagonal - 1) < far(diagonal + 1));
      let x = down ? far(diagonal + 1) : far(diagonal - 1) + 1;
      let y = x - diagonal;
      while (x < before.length && y < after.length && before[x] === after[y]) x++, y++;
      reach.set(diagonal, x);
      if (x >= before.length && y >= after.length) return traced(trail, before.length, after.length, shift);
    }
  }
  return undefined;
}

/** Walks the trail back and gathers adjacent edits into changes, first one first. */
function traced(
  trail: readonly Map<number, number>[],
  width: number,
  height: number,
  shift: number,
): Change[] {
  const changes: Change[] = [];
  let x = width;
  let y = height;
  for (let steps = trail.length - 1; steps > 0; steps--) {
    const reach = trail[steps];
    const far = (diagonal: number): number => reach?.get(diagonal) ?? -1;
    const diagonal = x - y;
    const down = diagonal === -steps || (diagonal !== steps && far(diagonal - 1) < far(diagonal + 1));
    const fromX = far(down ? diagonal + 1 : diagonal - 1);
    const fromY = fromX - (down ? diagonal + 1 : diagonal - 1);
    const oldTo = down ? fromX : fromX + 1;
    const newTo = down ? fromY + 1 : fromY;
    const last = changes.at(-1);
    if (last !== undefined && last.oldFrom - shift === oldTo && last.newFrom - shift === newTo) {
      changes[changes.length - 1] = { ...last, oldFrom: fromX + shift, newFrom: fromY + shift };
    } else {
      changes.push({
        oldFrom: fromX + shift,
        oldTo: oldTo + shift,
        newFrom: fromY + shift,
        newTo: newTo + shift,
      });
    }
    x = fromX;
    y = fromY;
  }
  return changes.reverse();
}

/** Changes whose context would touch share a hunk. */
function grouped(changes: readonly Change[], length: number): Change[][] {
  const groups: Change[][] = [];
  let end = -Infinity;
  for (const change of changes) {
    if (change.oldFrom - CONTEXT <= end) groups.at(-1)?.push(change);
    else groups.push([change]);
    end = Math.min(length, change.oldTo + CONTEXT);
  }
  return groups;
}

function hunk(before: readonly string[], after: readonly string[], changes: readonly Change[]): string {
  const first = changes[0];
  const last = changes.at(-1);
  if (first === undefined || last === undefined) return "";
  const lead = Math.min(CONTEXT, first.oldFrom);
  const oldFrom = first.oldFrom - lead;
  const oldTo = Math.min(before.length, last.oldTo + CONTEXT);
  const newFrom = first.newFrom - lead;
  const newTo = last.newTo + (oldTo - last.oldTo);
  let text = `@@ -${range(oldFrom, oldTo)} +${range(newFrom, newTo)} @@\n`;
  let at = oldFrom;
  for (const change of changes) {
    const removed = before.slice(change.oldFrom, change.oldTo);
    const added = after.slice(change.newFrom, change.newTo);
    const ends = differInEnds(removed, added);
    text += before.slice(at, change.oldFrom).map((line) => ` ${shown(line, false)}`).join("");
    text += removed.map((line) => `-${shown(line, ends)}`).join("");
    text += added.map((line) => `+${shown(line, ends)}`).join("");
    at = change.oldTo;
  }
  return text + before.slice(at, oldTo).map((line) => ` ${shown(line, false)}`).join("");
}

/** Whether some line only changed how it ends. */
function differInEnds(removed: readonly string[], added: readonly string[]): boolean {
  const ends = new Map(removed.map((line) => [bare(line), line]));
  return added.some((line) => (ends.get(bare(line)) ?? line) !== line);
}

function range(from: number, to: number): string {
  const count = to - from;
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`;
}

function bare(line: string): string {
  return line.replace(/\r?\n$/, "");
}

function shown(line: string, ends: boolean): string {
  const end = line.endsWith("\n") ? "" : "\n\\ No newline at end of file";
  return `${bare(line)}${ends && line.endsWith("\r\n") ? "␍" : ""}${end}\n`;
}
