/** Has an agent start a program, says both pids, and waits to be killed. */
import { Stage } from "./stage.ts";

const stage = new Stage({ stays: true });
const visit = await stage.open();
const { sink } = await visit.run("spawn");
console.log(sink.said());
await new Promise(() => setInterval(() => {}, 1000));
