import { assertEquals } from "@std/assert";
import { Faults } from "../../../src/engine/acp/faults.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { KeptLog } from "./stage.ts";
import { type Seat, Seats } from "../../../src/engine/acp/seats.ts";

function hearing(): { readonly heard: JsonObject[]; readonly seat: Seat } {
  const heard: JsonObject[] = [];
  return {
    heard,
    seat: {
      context: { sessionId: "host" },
      update: (update) => void heard.push(update),
      answered: () => {},
      completed: () => false,
      room: () => undefined,
      request: () => Promise.resolve(),
      fallen: () => {},
    },
  };
}

Deno.test("[E2] what comes before a Session is named is bounded for all Sessions together", () => {
  const seats = new Seats(new Faults(new KeptLog()), () => {});
  const opened = seats.open();
  for (let at = 0; at < 1000; at++) {
    seats.update({ sessionId: `s${at % 100}`, update: { at } });
  }
  let kept = 0;
  for (let at = 0; at < 100; at++) {
    const { heard, seat } = hearing();
    seats.take(`s${at}`, seat);
    kept += heard.length;
  }
  assertEquals(kept, 256);
  opened();
});
