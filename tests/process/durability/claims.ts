import type { Entry } from "../../support/wire.ts";
import type { Facts, SessionFacts } from "./facts.ts";
import { fields } from "../../support/rules.ts";
import { screenOf } from "../../support/screen.ts";

/** Something that an editor was told and may rely on. */
export interface Claim {
  readonly what: string;
  readonly holds: (facts: Facts) => boolean;
}

interface Asked {
  readonly index: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly answered: number;
  readonly result: Record<string, unknown> | undefined;
}

/**
 * All that the agent acknowledged in a conversation, however it ended. `others` are conversations beside it or after it on the same
 * Sessions: what they asked for may have taken the place of what was acknowledged here.
 */
export function claimsOf(
  entries: readonly Entry[],
  others: readonly (readonly Entry[])[] = [],
): readonly Claim[] {
  const asked = requestsOf(entries);
  const elsewhere = others.flatMap(requestsOf);
  const claims: Claim[] = [];
  for (const request of asked) {
    const { method, params, result } = request;
    const id = String(method === "session/new" ? result?.sessionId : params.sessionId);
    if (method === "session/prompt") {
      const ends = asked.filter((other) =>
        other.method === method && other.params.sessionId === id && other.answered <= request.answered &&
        other.result !== undefined
      );
      claims.push(...promptClaims(entries, request, id, ends.length));
    }
    if (result === undefined) continue;
    if (method === "session/new") {
      claims.push({
        what: `Session ${id} exists`,
        holds: (facts) => facts.has(id),
      });
    }
    if (method === "session/delete") {
      claims.push({
        what: `Session ${id} is gone`,
        holds: (facts) => !facts.has(id),
      });
    }
    if (method === "session/set_mode") claims.push(modeClaim(asked, elsewhere, request, id));
  }
  return [...claims, ...answerClaims(entries)];
}

/** Which claims the disk does not bear out. */
export function broken(claims: readonly Claim[], facts: Facts): readonly string[] {
  return claims.filter((claim) => !claim.holds(facts)).map((claim) => claim.what);
}

function requestsOf(entries: readonly Entry[]): readonly Asked[] {
  const answers = new Map<
    unknown,
    { readonly index: number; readonly result: Record<string, unknown> | undefined }
  >();
  for (const { from, index, message } of entries) {
    if (from !== "agent" || message === undefined) continue;
    if (message.kind === "result") answers.set(message.id, { index, result: fields(message.result) });
    if (message.kind === "error") answers.set(message.id, { index, result: undefined });
  }
  return entries.flatMap(({ from, index, message }) => {
    if (from !== "client" || message?.kind !== "request") return [];
    const answer = answers.get(message.id);
    return [{
      index,
      method: message.method,
      params: fields(message.params),
      answered: answer?.index ?? Infinity,
      result: answer?.result,
    }];
  });
}

/** The mode is the acknowledged one, or one that was asked for later or elsewhere. */
function modeClaim(asked: readonly Asked[], elsewhere: readonly Asked[], request: Asked, id: string): Claim {
  const later = [...asked.filter(({ index }) => index >= request.index), ...elsewhere];
  const possible = later.flatMap(({ method, params }) =>
    method === "session/set_mode" && params.sessionId === id ? [params.modeId] : []
  );
  return {
    what: `Session ${id} has the mode ${possible.join(" or ")}`,
    holds: (facts) => {
      const option = facts.get(id)?.state.info.config.options.find((each) => each.id === "mode");
      return possible.includes(option?.value);
    },
  };
}

/** A prompt that shows anything was admitted; one that was answered, as the `ends`th, is there with all that it showed. */
function promptClaims(entries: readonly Entry[], request: Asked, id: string, ends: number): readonly Claim[] {
  const within = entries.filter(({ index }) => index > request.index && index < request.answered);
  const { messages, cards } = screenOf(within, id);
  if (messages.length + cards.length === 0 && request.result === undefined) return [];
  const said = fields((request.params.prompt as readonly unknown[])[0]).text;
  const links = (request.params.prompt as readonly unknown[]).map(fields).filter((block) =>
    block.type === "resource_link"
  );
  const session = (facts: Facts, test: (session: SessionFacts) => boolean) => {
    const found = facts.get(id);
    return found !== undefined && test(found);
  };
  const claims: Claim[] = [{
    what: `the prompt "${said}" is in the transcript`,
    holds: (facts) =>
      session(
        facts,
        ({ rows }) =>
          rows.some((row) =>
            row.kind === "user" && row.input.parts.some((part) => part.kind === "text" && part.text === said)
          ),
      ),
  }];
  for (const { name } of links) {
    claims.push({
      what: `the linked "${name}" is kept`,
      holds: (facts) =>
        session(facts, ({ artifacts }) => artifacts.some((artifact) => artifact.name === name)),
    });
  }
  if (request.result === undefined) return claims;
  claims.push({
    what: `the end of "${said}" is in the transcript`,
    holds: (facts) => session(facts, ({ rows }) => rows.filter((row) => row.kind === "end").length >= ends),
  });
  for (const { text } of messages) {
    claims.push({
      what: `the answer "${text.slice(0, 40)}" is in the transcript`,
      holds: (facts) =>
        session(
          facts,
          ({ rows }) =>
            rows.some((row) => (row.kind === "text" || row.kind === "thinking") && row.text === text),
        ),
    });
  }
  for (const { toolCallId, status } of cards) {
    claims.push({
      what: `the tool ${toolCallId} ended as ${status}`,
      holds: (facts) =>
        session(
          facts,
          ({ rows }) =>
            rows.some((row) =>
              row.kind === "tool" && row.tool.toolCallId === toolCallId &&
              (row.tool.result?.status ?? "failed").replace("cancelled", "failed") === status
            ),
        ),
    });
  }
  return claims;
}

/** A lasting answer after which the card went on is kept as a Grant. */
function answerClaims(entries: readonly Entry[]): readonly Claim[] {
  return entries.flatMap(({ from, index, message }) => {
    if (from !== "client" || message?.kind !== "result") return [];
    const { optionId } = fields(fields(message.result).outcome);
    if (optionId !== "allow_always") return [];
    const dialog = entries.find((entry) =>
      entry.from === "agent" && entry.message?.kind === "request" && entry.message.id === message.id
    );
    const { params } = dialog?.message as { readonly params: unknown };
    const { sessionId, toolCall } = fields(params);
    const later = entries.filter((entry) => entry.index > index);
    const moved = screenOf(later, String(sessionId)).cards.some((card) =>
      card.toolCallId === fields(toolCall).toolCallId && card.status !== "pending"
    );
    return moved
      ? [{
        what: `the lasting permission for ${fields(toolCall).toolCallId} is kept`,
        holds: (facts: Facts) => (facts.get(String(sessionId))?.state.grants.length ?? 0) > 0,
      }]
      : [];
  });
}
