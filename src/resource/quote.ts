/** Units of a quoted text; a person recognises a path by less. */
const SHOWN = 200;

/** A text that a Client gave, for a message: on one line, in quotes, its middle left out when it is long. */
export function quote(text: string): string {
  if (text.length <= SHOWN) return JSON.stringify(text);
  const half = SHOWN / 2;
  return JSON.stringify(`${text.slice(0, half)}…${text.slice(-half)}`);
}
