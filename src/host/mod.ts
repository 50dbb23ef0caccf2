/**
 * The Runtime Host: its contract, its errors, its vocabulary, the embedded Host with its stores, and the contract over a stream of bytes.
 *
 * @module
 */
export * from "./contract.ts";
export * from "./errors.ts";
export type { SessionActivity } from "./local/activity.ts";
export { LocalHost, type LocalHostOptions } from "./local/host.ts";
export type * from "./store/contract.ts";
export { type FolderStoreOptions, openFolderStore, type StorePoint } from "./store/folder.ts";
export { MemoryStore } from "./store/memory.ts";
export * from "./wire/mod.ts";
export type * from "../model/mod.ts";
