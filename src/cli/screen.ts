/** The ways in which text can stand out. */
export type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Text for a person on stdout, in colour only on a terminal that wants it. */
export interface Screen {
  /** Columns that a line may take. */
  readonly width: number;
  /** Writes a line. */
  line(text?: string): void;
  /** Makes text stand out where colour is wanted. */
  paint(style: Style, text: string): string;
}

/** Columns where stdout is no terminal, and at most. */
const WIDTH = 100;

/** The terminal, or whatever stdout is. */
export function stdoutScreen(): Screen {
  const terminal = Deno.stdout.isTerminal();
  const coloured = terminal && !Deno.noColor;
  const encoder = new TextEncoder();
  let readers: "there" | "gone" = "there";
  return {
    width: terminal ? Math.min(Deno.consoleSize().columns, WIDTH) : WIDTH,
    line(text = "") {
      if (readers === "gone") return;
      const bytes = encoder.encode(`${text}\n`);
      try {
        for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
      } catch (error) {
        // As in "| head": whoever has read enough is no fault.
        if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
        readers = "gone";
      }
    },
    paint: (style, text) => coloured ? `\x1b[${CODES[style]}m${text}\x1b[0m` : text,
  };
}

/** Breaks text at spaces so that no line is longer than `width`, unless a word is. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length > width && line !== "") {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
