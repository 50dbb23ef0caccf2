/** Which way a figure has to go to meet its limit. */
export type Limit =
  | { readonly kind: "most"; readonly value: number }
  | { readonly kind: "least"; readonly value: number }
  | { readonly kind: "report" };

/** One measured figure. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** Gangway's value, and the floor's where the floor can do the same. */
  readonly gangway: number;
  readonly floor?: number;
  /** What the limit is about: the value itself, its ratio to the floor, or what it is above the floor. */
  readonly judged: "value" | "ratio" | "above";
  readonly limit: Limit;
}

/** The number that the limit is about. */
export function judgedValue({ gangway, floor = 0, judged }: Figure): number {
  switch (judged) {
    case "value":
      return gangway;
    case "ratio":
      return gangway / floor;
    case "above":
      return gangway - floor;
  }
}

/** Whether a figure meets its limit. */
export function meets(figure: Figure): boolean {
  const value = judgedValue(figure);
  switch (figure.limit.kind) {
    case "most":
      return value <= figure.limit.value;
    case "least":
      return value >= figure.limit.value;
    case "report":
      return true;
  }
}

/** The value that `share` of all values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Figures as a table for people. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${short(figure.gangway)} ${figure.unit}`,
    figure.floor === undefined ? "" : `${short(figure.floor)} ${figure.unit}`,
    judgement(figure),
    figure.limit.kind === "report" ? "" : meets(figure) ? "ok" : "MISSED",
  ]);
  const all = [["figure", "gangway", "floor", "must reach", ""], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length))) ?? [];
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd())
    .join("\n");
}

function judgement(figure: Figure): string {
  if (figure.limit.kind === "report") return "";
  const sign = figure.limit.kind === "most" ? "≤" : "≥";
  const value = short(judgedValue(figure));
  switch (figure.judged) {
    case "value":
      return `${sign} ${figure.limit.value} ${figure.unit}`;
    case "ratio":
      return `${value} x floor, ${sign} ${figure.limit.value}`;
    case "above":
      return `floor + ${value}, ${sign} + ${figure.limit.value}`;
  }
}

function short(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
