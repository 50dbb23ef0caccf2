/** The tests of the embedded Host once more, with every connection over the wire. */
import { reachHosts } from "../local/world.ts";
import { overTheWire } from "./reached.ts";

// Before the tests register.
reachHosts(overTheWire);

await import("../local/calls_test.ts");
await import("../local/failures_test.ts");
await import("../local/questions_test.ts");
await import("../local/sessions_test.ts");
await import("../local/settings_test.ts");
await import("../local/subscription_test.ts");
await import("../local/transcript_test.ts");
await import("../local/turns_test.ts");
await import("../local/uploads_test.ts");
