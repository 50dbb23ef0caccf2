/**
 * An agent that obeys: it answers initialize, writes the lines that a `_write` notification holds and exits with the code of
 * an `_exit` one. Tests of the harness itself make it misbehave.
 */
const decoder = new TextDecoder();
let rest = "";

function write(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

for await (const chunk of Deno.stdin.readable) {
  rest += decoder.decode(chunk, { stream: true });
  const lines = rest.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") {
      write(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1, agentCapabilities: {} } }));
    } else if (method === "_write") {
      for (const each of params.lines) write(each);
    } else if (method === "_exit") {
      Deno.exit(params.code);
    }
  }
}
