/** The ways in which text can stand out. */
export type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Text for a person on stdout, in colour only on a terminal that wants it. */
export interface Screen {
  /** Writes a line. */
  line(text?: string): void;
  /** Makes text stand out where colour is wanted. */
  paint(style: Style, text: string): string;
}

/** The terminal, or whatever stdout is. */
export function stdoutScreen(): Screen {
  const coloured = !Deno.noColor && Deno.stdout.isTerminal();
  const encoder = new TextEncoder();
  return {
    line(text = "") {
      const bytes = encoder.encode(`${text}\n`);
      for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
    },
    paint: (style, text) => coloured ? `\x1b[${CODES[style]}m${text}\x1b[0m` : text,
  };
}
