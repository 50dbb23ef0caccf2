import type { Block } from "../../model/block.ts";
import { blockOf } from "./content.ts";
import type { EngineSink } from "../contract.ts";
import type { Faults } from "./faults.ts";
import type { JsonObject } from "../../model/json.ts";
import { LIMITS } from "../../limits.ts";
import { metaOf } from "./shape.ts";

/** Compactions of one Turn that are remembered for what is added to them. */
const REMEMBERED = 64;

/** How an agent makes room in its context. It says what changed; whoever keeps the end needs the whole summary. */
export class Compactions {
  readonly #sink: EngineSink;
  readonly #faults: Faults;
  /** Summaries as they were put together. */
  readonly #summaries = new Map<string, readonly Block[]>();

  /** Knows of none. */
  constructor(parts: { sink: EngineSink; faults: Faults }) {
    this.#sink = parts.sink;
    this.#faults = parts.faults;
  }

  /** Takes a `compaction_update`. */
  async update({ compactionId: id, status, summary, error, _meta }: JsonObject): Promise<void> {
    if (typeof id !== "string" || !isStatus(status)) return this.#faults.count("malformed");
    if (summary === null) this.#keep(id, []);
    if (Array.isArray(summary)) this.#keep(id, summary.flatMap((each) => blockOf(each) ?? []));
    const told = summary !== undefined || status !== "in_progress" ? this.#summaries.get(id) : undefined;
    const meta = metaOf(_meta);
    await this.#sink.compaction({
      compactionId: id,
      status,
      ...(told !== undefined && { summary: told }),
      ...(typeof error === "string" && { error }),
      ...(meta !== undefined && { meta }),
    });
  }

  /** Takes a `compaction_summary_chunk`. */
  async chunk({ compactionId: id, content, _meta }: JsonObject): Promise<void> {
    const block = blockOf(content);
    if (typeof id !== "string" || block === undefined) return this.#faults.count("malformed");
    this.#keep(id, joined(this.#summaries.get(id) ?? [], block));
    const meta = metaOf(_meta);
    await this.#sink.compaction(
      { compactionId: id, status: "in_progress", ...(meta !== undefined && { meta }) },
      block,
    );
  }

  #keep(id: string, summary: readonly Block[]): void {
    this.#summaries.delete(id);
    this.#summaries.set(id, summary);
    if (this.#summaries.size <= REMEMBERED) return;
    for (const oldest of this.#summaries.keys()) {
      this.#summaries.delete(oldest);
      break;
    }
  }
}

type Status = "in_progress" | "completed" | "failed";

function isStatus(status: unknown): status is Status {
  return status === "in_progress" || status === "completed" || status === "failed";
}

/** With one block more. Plain text goes on where plain text ended; past the bound nothing is added. */
function joined(summary: readonly Block[], block: Block): readonly Block[] {
  const last = summary.at(-1);
  const length = summary.reduce((sum, each) => sum + (each.kind === "text" ? each.text.length : 0), 0);
  if (length > LIMITS.cardLength || summary.length >= REMEMBERED) return summary;
  const plain = (each: Block) => each.meta === undefined && each.annotations === undefined;
  if (last?.kind !== "text" || block.kind !== "text" || !plain(last) || !plain(block)) {
    return [...summary, block];
  }
  return [...summary.slice(0, -1), { ...last, text: last.text + block.text }];
}
