import { assert, assertEquals, assertRejects } from "@std/assert";
import { NEVER, portOf, withPlace } from "./meeting.ts";
import { dialWeb, listenOnWeb } from "../../../../src/host/wire/transport/web.ts";
import { freshNonce, Secret } from "../../../../src/host/wire/transport/proof.ts";
import { HostError } from "../../../../src/host/errors.ts";
import type { Listener } from "../../../../src/host/wire/transport/listener.ts";
import { connect } from "node:net";

/** The status line that the Host's port answers bare bytes with. */
function answerTo(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(String(data).split("\r\n", 1)[0] ?? "");
    });
    socket.once("error", reject);
  });
}

Deno.test("[W4] the port answers nothing but our own upgrade", async (t) => {
  await withPlace(async (place) => {
    const listener = listenOnWeb(place);
    const port = portOf(listener);
    const upgrade = (change: Record<string, string | undefined> = {}) =>
      Object.entries({
        Host: `127.0.0.1:${port}`,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": "gangway",
        ...change,
      }).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}`]);
    const table: readonly (readonly [name: string, lines: readonly string[], status: number])[] = [
      ["ours", ["GET /gangway HTTP/1.1", ...upgrade()], 101],
      ["a page's", ["GET /gangway HTTP/1.1", ...upgrade({ Origin: "https://example.org" })], 403],
      ["a local page's", ["GET /gangway HTTP/1.1", ...upgrade({ Origin: `http://127.0.0.1:${port}` })], 403],
      ["a file's", ["GET /gangway HTTP/1.1", ...upgrade({ Origin: "null" })], 403],
      ["a rebound name", ["GET /gangway HTTP/1.1", ...upgrade({ Host: `evil.example:${port}` })], 403],
      ["localhost by name", ["GET /gangway HTTP/1.1", ...upgrade({ Host: `localhost:${port}` })], 403],
      ["another place", ["GET / HTTP/1.1", ...upgrade()], 404],
      ["another protocol", ["GET /gangway HTTP/1.1", ...upgrade({ "Sec-WebSocket-Protocol": "mqtt" })], 400],
      ["no protocol", ["GET /gangway HTTP/1.1", ...upgrade({ "Sec-WebSocket-Protocol": undefined })], 400],
      ["plain HTTP", ["GET /gangway HTTP/1.1", `Host: 127.0.0.1:${port}`], 426],
    ];
    for (const [name, lines, status] of table) {
      await t.step(name, async () => {
        assertEquals((await answerTo(port, lines)).split(" ")[1], String(status));
      });
    }
    await listener.close();
  });
});

/** Speaks the handshake by hand and returns what the Host says to it until it hangs up. */
function stranger(port: number, words: readonly (string | Uint8Array<ArrayBuffer>)[]): Promise<string[]> {
  const heard: string[] = [];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/gangway`, "gangway");
  return new Promise((resolve) => {
    socket.onopen = () => words.forEach((word) => socket.send(word));
    socket.onmessage = ({ data }) => heard.push(String(data));
    socket.onclose = () => resolve(heard);
  });
}

Deno.test("[W4] who does not know the secret learns nothing and is let go", async (t) => {
  await withPlace(async (place) => {
    const listener = listenOnWeb(place);
    const taken = takenBy(listener);
    const port = portOf(listener);
    const secret = (await Deno.readTextFile(place.secret)).trim();
    const nonce = freshNonce();
    const table: readonly (readonly [name: string, words: readonly (string | Uint8Array<ArrayBuffer>)[]])[] =
      [
        ["no JSON", ["hello"]],
        ["no nonce", ["{}"]],
        ["a short nonce", [JSON.stringify({ nonce: "00" })]],
        ["bytes at once", [new Uint8Array(10)]],
        ["a flood", ["x".repeat(100_000)]],
        ["a guess", [JSON.stringify({ nonce })]],
      ];
    for (const [name, words] of table) {
      await t.step(name, async () => {
        const guess = name === "a guess";
        const heard = guess ? await guessed(port, nonce) : await stranger(port, words);
        assertEquals(heard.length, guess ? 1 : 0);
        assert(!heard.join().includes(secret));
      });
    }
    await listener.close();
    assertEquals(await taken, 0);
  });
});

/** Answers the Host's challenge with its own proof, turned back at it. */
function guessed(port: number, nonce: string): Promise<string[]> {
  const heard: string[] = [];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/gangway`, "gangway");
  return new Promise((resolve) => {
    socket.onopen = () => socket.send(JSON.stringify({ nonce }));
    socket.onmessage = ({ data }) => {
      heard.push(String(data));
      socket.send(JSON.stringify({ proof: JSON.parse(String(data)).proof }));
    };
    socket.onclose = () => resolve(heard);
  });
}

/** How many connections a listener gives out until it closes. */
async function takenBy(listener: Listener): Promise<number> {
  let count = 0;
  for await (const stream of listener.connections) {
    stream.close();
    count++;
  }
  return count;
}

/** Holds a port and answers as it likes. Says what it heard. */
async function withImpostor(
  answer: (word: string, ours: number) => Promise<string | undefined>,
  body: (port: number) => Promise<void>,
): Promise<string[]> {
  const heard: string[] = [];
  const closed: Promise<unknown>[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "gangway" });
    closed.push(new Promise((resolve) => socket.onclose = resolve));
    socket.onmessage = async ({ data }) => {
      heard.push(String(data));
      // It has heard what it should never have been told.
      if (heard.length > 1) return socket.close();
      const word = await answer(String(data), server.addr.port);
      if (word !== undefined && socket.readyState === WebSocket.OPEN) socket.send(word);
    };
    return response;
  });
  try {
    await body(server.addr.port);
  } finally {
    await Promise.all(closed);
    await server.shutdown();
  }
  return heard;
}

Deno.test("[W4] whoever holds the port without the secret is refused and is told no proof", async (t) => {
  const table:
    readonly (readonly [name: string, answer: (nonce: string, port: number) => Promise<string>])[] = [
      ["no proof", () => Promise.resolve("{}")],
      [
        "an invented one",
        () => Promise.resolve(JSON.stringify({ nonce: freshNonce(), proof: freshNonce() })),
      ],
      ["the proof of another secret", async (client, port) => {
        const host = freshNonce();
        return JSON.stringify({
          nonce: host,
          proof: await new Secret(freshNonce()).prove("host", { client, host, port }),
        });
      }],
      [
        "an upper-case one",
        () => Promise.resolve(JSON.stringify({ nonce: freshNonce(), proof: "A".repeat(64) })),
      ],
    ];
  for (const [name, answer] of table) {
    await t.step(name, () =>
      withPlace(async (place) => {
        await Deno.writeTextFile(place.secret, freshNonce(), { mode: 0o600 });
        const heard = await withImpostor(
          (word, port) => answer(JSON.parse(word).nonce, port),
          async (port) => {
            const error = await assertRejects(() => dialWeb(place, port, NEVER), HostError);
            assertEquals(error.code, "unauthorized");
          },
        );
        assertEquals(heard.length, 1);
        assertEquals(Object.keys(JSON.parse(heard[0] ?? "")), ["nonce"]);
      }));
  }
});

Deno.test("[W4] proofs cannot be passed on by who holds another port", async () => {
  await withPlace(async (place) => {
    const listener = listenOnWeb(place);
    const taken = takenBy(listener);
    let relayed: WebSocket | undefined;
    const heard = await withImpostor(
      (word) => {
        relayed ??= new WebSocket(`ws://127.0.0.1:${portOf(listener)}/gangway`, "gangway");
        const behind = relayed;
        return new Promise((resolve) => {
          behind.onmessage = ({ data }) => resolve(String(data));
          if (behind.readyState === WebSocket.OPEN) behind.send(word);
          else behind.onopen = () => behind.send(word);
        });
      },
      async (port) => {
        const error = await assertRejects(() => dialWeb(place, port, NEVER), HostError);
        assertEquals(error.code, "unauthorized");
      },
    );
    assertEquals(heard.length, 1);
    const over = new Promise((resolve) => relayed!.onclose = resolve);
    relayed?.close();
    await over;
    await listener.close();
    assertEquals(await taken, 0);
  });
});

Deno.test("[W4] each start of a Host has a secret of its own", async () => {
  await withPlace(async (place) => {
    const secrets: string[] = [];
    for (let start = 0; start < 2; start++) {
      const listener = listenOnWeb(place);
      secrets.push(await Deno.readTextFile(place.secret));
      assertEquals(((await Deno.lstat(place.secret)).mode ?? 0) & 0o777, 0o600);
      await listener.close();
    }
    assert(secrets[0] !== secrets[1]);
  });
});

Deno.test("[W4] a Client that sends more than was asked for is let go", async () => {
  await withPlace(async (place) => {
    const listener = listenOnWeb(place);
    const port = portOf(listener);
    const secret = new Secret(await Deno.readTextFile(place.secret));
    const client = freshNonce();
    const socket = new WebSocket(`ws://127.0.0.1:${port}/gangway`, "gangway");
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.onopen = () => socket.send(JSON.stringify({ nonce: client }));
    socket.onmessage = async ({ data }) => {
      if (data === "0") {
        for (let at = 0; at < 20; at++) socket.send(new Uint8Array(64 * 1024));
        // Whoever took all of that lets go of it for this: a count that cannot be.
        socket.send("-1");
      } else {
        const { nonce: host } = JSON.parse(data);
        socket.send(JSON.stringify({ proof: await secret.prove("client", { client, host, port }) }));
      }
    };
    const arrival = await listener.connections[Symbol.asyncIterator]().next();
    assert(arrival.done !== true);
    await closed;
    const reader = arrival.value.readable.getReader();
    let taken = 0;
    await assertRejects(async () => {
      for (;;) taken += (await reader.read()).value?.length ?? 0;
    });
    assert(taken <= 512 * 1024, `${taken} bytes were kept`);
    await listener.close();
  });
});
