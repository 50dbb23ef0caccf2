/**
 * Stands for libraries that print: preloaded before the program, it says a word in every voice at SIGUSR1 and a megabyte at
 * SIGUSR2, after which it writes the file that NOISE_DONE names.
 */
const METHODS = ["log", "info", "debug", "warn", "error"] as const;

Deno.addSignalListener("SIGUSR1", () => {
  // deno-lint-ignore no-console
  for (const method of METHODS) console[method](`noise by console.${method}`);
});

Deno.addSignalListener("SIGUSR2", () => {
  // deno-lint-ignore no-console
  for (let line = 0; line < 1024; line++) console.log("x".repeat(1024));
  Deno.writeTextFileSync(Deno.env.get("NOISE_DONE") ?? "", "1");
});
