/**
 * The vocabulary that Host, Engine and projection share: Runs, messages, tools, questions, rows and frames.
 *
 * @module
 */
export * from "./artifact.ts";
export * from "./block.ts";
export * from "./clock.ts";
export * from "./compaction.ts";
export * from "./config.ts";
export * from "./digest.ts";
export * from "./extension.ts";
export * from "./frame.ts";
export * from "./json.ts";
export * from "./log.ts";
export * from "./message.ts";
export * from "./metas.ts";
export * from "./plan.ts";
export * from "./prompt.ts";
export * from "./question.ts";
export * from "./row.ts";
export * from "./run.ts";
export * from "./tool.ts";
