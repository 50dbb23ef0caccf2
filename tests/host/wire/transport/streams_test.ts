import { assert, assertEquals, assertRejects } from "@std/assert";
import { bytesOf, TRANSPORTS, withPair, withPlace } from "./meeting.ts";

for (const transport of TRANSPORTS) {
  Deno.test(`[W3] ${transport.name}: bytes arrive as they were sent, both ways, to the end`, async () => {
    await withPair(transport, async (near, far) => {
      const sent = crypto.getRandomValues(new Uint8Array(60_000));
      const send = async (to: WritableStream<Uint8Array>) => {
        const writer = to.getWriter();
        for (let round = 0; round < 40; round++) await writer.write(sent.slice(round * 100));
        return writer;
      };
      const total = Array.from({ length: 40 }, (_, round) => sent.length - round * 100).reduce((a, b) =>
        a + b
      );
      const take = async (from: ReadableStream<Uint8Array>) => {
        const reader = from.getReader();
        let taken = 0;
        let sum = 0;
        while (taken < total) {
          const { value, done } = await reader.read();
          assert(!done, "it ended early");
          taken += value.length;
          sum = value.reduce((a, b) => (a + b) >>> 0, sum);
        }
        return sum;
      };
      const wanted = Array.from({ length: 40 }, (_, round) => sent.slice(round * 100))
        .reduce((all, piece) => piece.reduce((a, b) => (a + b) >>> 0, all), 0);
      const [writer, , here, there] = await Promise.all([
        send(near.writable),
        send(far.writable),
        take(near.readable),
        take(far.readable),
      ]);
      assertEquals([here, there], [wanted, wanted]);
      await writer.close();
    });
  });

  Deno.test(`[W3] ${transport.name}: a reader sees the other side's end`, async () => {
    await withPair(transport, async (near, far) => {
      const writer = near.writable.getWriter();
      await writer.write(new TextEncoder().encode("last words"));
      await writer.close();
      near.close();
      assertEquals(new TextDecoder().decode(await bytesOf(far.readable)), "last words");
    });
  });

  Deno.test(`[W4] ${transport.name}: what waits for a reader who stalls is bounded`, async () => {
    await withPair(transport, async (near, far) => {
      const writer = near.writable.getWriter();
      const piece = new Uint8Array(64 * 1024);
      let sent = 0;
      const flood = (async () => {
        // More than any buffer on the way holds.
        while (sent < 64 * 1024 * 1024) {
          await writer.write(piece);
          sent += piece.length;
        }
      })();
      flood.catch(() => {});
      // Bytes the other way get through all the same: they are the barrier.
      const back = far.writable.getWriter();
      const reader = near.readable.getReader();
      for (let at = 0; at < 50; at++) {
        await back.write(new Uint8Array([at]));
        await reader.read();
      }
      assert(sent < 8 * 1024 * 1024, `${sent} bytes went out to a reader who stalls`);
      reader.releaseLock();
      near.close();
      far.close();
      await assertRejects(() => flood);
    });
  });

  Deno.test(`${transport.name}: nobody is dialled after the caller gave up`, async () => {
    await withPlace(async (place) => {
      const listener = transport.listen(place);
      const gone = new AbortController();
      gone.abort(new Error("given up"));
      await assertRejects(() => transport.dial(place, listener, gone.signal), Error, "given up");
      await listener.close();
    });
  });
}
