/** Bytes of a secret and of a nonce. */
const BYTES = 32;

/** Which side proves that it knows the secret. What one side says can never be taken for the other's word. */
export type Side = "host" | "client";

/** What a proof is about: both sides' nonces, and the port that the Client dialled, so that nobody can pass proofs on. */
export interface Challenge {
  readonly client: string;
  readonly host: string;
  readonly port: number;
}

/** A secret that both sides read from a file that only their user can read. It never crosses the connection. */
export class Secret {
  readonly #key: Promise<CryptoKey>;

  /** Takes what {@linkcode freshNonce} made. */
  constructor(text: string) {
    const bytes = new TextEncoder().encode(text.trim());
    this.#key = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
      "verify",
    ]);
  }

  /** Proves that this side knows the secret. */
  async prove(side: Side, challenge: Challenge): Promise<string> {
    const mac = await crypto.subtle.sign("HMAC", await this.#key, message(side, challenge));
    return new Uint8Array(mac).toHex();
  }

  /** Whether the other side's proof is true; in the same time for all wrong ones. */
  async accepts(side: Side, challenge: Challenge, proof: string): Promise<boolean> {
    if (!/^[0-9a-f]{64}$/.test(proof)) return false;
    return await crypto.subtle.verify(
      "HMAC",
      await this.#key,
      Uint8Array.fromHex(proof),
      message(side, challenge),
    );
  }
}

/** Random and never used before, as hex. */
export function freshNonce(): string {
  return crypto.getRandomValues(new Uint8Array(BYTES)).toHex();
}

/** Whether a text is a nonce. */
export function isNonce(text: unknown): text is string {
  return typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
}

function message(side: Side, { client, host, port }: Challenge): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`gangway ${side} ${port} ${client} ${host}`);
}
