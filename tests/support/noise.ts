/** Stands for libraries that print: preloaded before the program, it speaks up at SIGUSR1. */
const METHODS = ["log", "info", "debug", "warn", "error"] as const;

Deno.addSignalListener("SIGUSR1", () => {
  // deno-lint-ignore no-console
  for (const method of METHODS) console[method](`noise by console.${method}`);
});
