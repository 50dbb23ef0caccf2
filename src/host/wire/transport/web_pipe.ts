import { HostError } from "../../errors.ts";
import type { WireStream } from "../stream.ts";

/** Bytes that one side may send before the other has said that it took them: what waits in memory at most. */
const WINDOW = 512 * 1024;
/** Bytes of one message. */
const PIECE = 64 * 1024;
/** UTF-16 units of a message that is no data. */
const WORD = 512;
/** Codes that a side closes with where the conversation did not come to its end. */
const REFUSED = 4403;
const BROKEN = 4000;

/** How the other side of a {@linkcode WebPipe} may end the conversation. */
type End = "clean" | "broken";

/**
 * Bytes both ways over an open WebSocket, which by itself never says that its reader is behind. So each side counts: data goes in binary
 * messages, and in text messages each side says how many bytes it has taken in all. Before {@linkcode WebPipe.stream}
 * text messages are words of a handshake.
 */
export class WebPipe {
  readonly #socket: WebSocket;
  readonly #words: string[] = [];
  readonly #pieces: Uint8Array[] = [];
  #phase: "words" | "bytes" = "words";
  #end: End | undefined;
  #arrived = Promise.withResolvers<void>();
  #room = Promise.withResolvers<void>();
  #sent = 0;
  #acknowledged = 0;
  #received = 0;
  #taken = 0;
  #told = 0;

  /** Listens to an open socket, or to one that is being opened. */
  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#hear(data);
    socket.onclose = ({ wasClean, code }) => this.#over(wasClean && code === 1000 ? "clean" : "broken");
    // A close follows.
    socket.onerror = (event) => event.preventDefault();
  }

  /** The next word of the handshake. Rejects when the other side is gone. */
  async word(): Promise<string> {
    for (;;) {
      const word = this.#words.shift();
      if (word !== undefined) return word;
      if (this.#end !== undefined) throw gone();
      await this.#arrived.promise;
    }
  }

  /** Says a word of the handshake. */
  say(word: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(word);
  }

  /** Ends it at once. */
  refuse(): void {
    this.#over("broken");
    this.#shut(REFUSED);
  }

  /** The handshake is over: bytes from now on. */
  stream(): WireStream {
    this.#phase = "bytes";
    return {
      readable: new ReadableStream({
        pull: (controller) => this.#pull(controller),
        cancel: () => this.#shut(),
      }, {
        highWaterMark: 0,
      }),
      writable: new WritableStream({
        write: (bytes) => this.#write(bytes),
        close: () => this.#shut(),
        abort: () => this.#shut(BROKEN),
      }),
      close: () => this.#shut(),
    };
  }

  #hear(data: unknown): void {
    if (this.#end !== undefined) return;
    if (typeof data === "string" && data.length <= WORD) {
      if (this.#phase === "bytes") return this.#acknowledge(Number(data));
      // Both sides wait for each other's words, so there is never a second one.
      if (this.#words.length > 0) return this.refuse();
      this.#words.push(data);
    } else if (data instanceof ArrayBuffer && this.#phase === "bytes") {
      this.#received += data.byteLength;
      if (this.#received - this.#taken > WINDOW) return this.refuse();
      this.#pieces.push(new Uint8Array(data));
    } else return this.refuse();
    this.#wake();
  }

  #acknowledge(taken: number): void {
    if (!Number.isSafeInteger(taken) || taken < this.#acknowledged || taken > this.#sent) {
      return this.refuse();
    }
    this.#acknowledged = taken;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#taken += piece.byteLength;
        if (this.#taken - this.#told >= WINDOW / 4) this.say(String(this.#told = this.#taken));
        return controller.enqueue(piece);
      }
      if (this.#end === "clean") return controller.close();
      if (this.#end === "broken") throw gone();
      await this.#arrived.promise;
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength;) {
      while (this.#end === undefined && this.#sent - this.#acknowledged >= WINDOW) await this.#room.promise;
      if (this.#end !== undefined || this.#socket.readyState !== WebSocket.OPEN) throw gone();
      const room = WINDOW - (this.#sent - this.#acknowledged);
      const piece = bytes.slice(at, at + Math.min(PIECE, room));
      this.#socket.send(piece);
      this.#sent += piece.byteLength;
      at += piece.byteLength;
    }
  }

  #shut(code = 1000): void {
    if (this.#socket.readyState < WebSocket.CLOSING) this.#socket.close(code);
  }

  #over(how: End): void {
    this.#end ??= how;
    this.#wake();
    this.#room.resolve();
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}

function gone(): HostError {
  return new HostError("unavailable", "The connection with the Host has ended", { dispatch: "unknown" });
}
