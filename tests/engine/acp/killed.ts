/** Has an agent start a program, says both pids, and waits to be killed. */
import { Stage } from "./stage.ts";

const stage = new Stage({ stays: true });
const visit = await stage.open();
const { sink } = await visit.run("spawn");
await Deno.stdout.write(new TextEncoder().encode(`${sink.said()}\n`));
await new Promise(() => setInterval(() => {}, 1000));
