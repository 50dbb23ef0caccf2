/** A field of what an editor answered, whatever that is; undefined where there is none. */
export function fieldOf(answer: unknown, name: string): unknown {
  return typeof answer === "object" && answer !== null
    ? Object.getOwnPropertyDescriptor(answer, name)?.value
    : undefined;
}
