import type { ClientAbilities } from "./ports.ts";
import type { ClientServices } from "../host/contract.ts";

/** What of a Client's abilities its Host needs to know. */
export function servicesOf(abilities: ClientAbilities): ClientServices {
  const { forms, hello, readTextFile, terminal, urls = false, writeTextFile } = abilities;
  return { readTextFile, writeTextFile, terminal, forms, urls, ...(hello !== undefined && { hello }) };
}
