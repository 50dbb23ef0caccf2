import { HostError } from "../host/errors.ts";
import type { RuntimeHost } from "../host/contract.ts";
import { answerOf, dialogOf } from "../interaction/mod.ts";
import { LIMITS } from "../limits.ts";
import type { JsonObject } from "../model/json.ts";
import type { Answer, Interaction } from "../model/question.ts";
import { SessionError } from "./errors.ts";
import { sessionErrorOf } from "./failures.ts";
import { type ClientPort, ClientRefused, type Clock, type Log } from "./ports.ts";
import type { Presentation } from "./presentation.ts";
import type { Step } from "../projection/mod.ts";

interface Dialog {
  readonly turnId: string;
  readonly withdraw: AbortController;
}

/** In place of a response: the question was closed while the Client had it. */
const WITHDRAWN = Symbol("withdrawn");

/** Why a dialog was taken back from the Client. */
class Withdrawn extends Error {
  constructor(reason: string) {
    super(`The question was closed: ${reason}`);
    this.name = "Withdrawn";
  }
}

/**
 * The open questions of one Attachment, each shown once. The Host owns answers; a dialog that is withdrawn never sends one.
 */
export class Dialogs {
  #host: RuntimeHost;
  #client: ClientPort;
  #sessionId: string;
  #clock: Clock;
  #log: Log;
  #show: (presentation: Presentation, step: Step) => void;
  #open = new Map<string, Dialog>();
  /** Questions whose answer the Host has taken, until it says so itself: a snapshot may still list them. */
  #answered = new Set<string>();
  /** Pages that a person went to and that are not done. */
  #pages = new Set<string>();

  /** `show` puts a step of a Turn's projection on the wire. */
  constructor(options: {
    host: RuntimeHost;
    client: ClientPort;
    sessionId: string;
    clock: Clock;
    log: Log;
    show: (presentation: Presentation, step: Step) => void;
  }) {
    this.#host = options.host;
    this.#client = options.client;
    this.#sessionId = options.sessionId;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#show = options.show;
  }

  /** Shows a question; one that is shown already stays as it is. */
  open(interaction: Interaction, presentation: Presentation): void {
    const { interactionId } = interaction;
    if (this.#open.has(interactionId) || this.#answered.has(interactionId)) return;
    if (presentation.unwanted !== undefined) return;
    const dialog = { turnId: interaction.run.turnId, withdraw: new AbortController() };
    this.#open.set(interactionId, dialog);
    this.#run(interaction, presentation, dialog.withdraw.signal)
      .catch((error) => presentation.fail(dialogError(error, this.#sessionId)))
      .finally(() => {
        if (this.#open.get(interactionId) === dialog) this.#open.delete(interactionId);
      });
  }

  /** Closes one that was answered elsewhere or by the Host. */
  close(interactionId: string, reason: string): void {
    this.#open.get(interactionId)?.withdraw.abort(new Withdrawn(reason));
    this.#open.delete(interactionId);
    this.#answered.delete(interactionId);
  }

  /** What a person was sent to a page for is done; who was not sent there from here need not know. */
  completed(elicitationId: string): void {
    if (this.#pages.delete(elicitationId)) this.#client.notify("elicitation/complete", { elicitationId });
  }

  /** Closes all of a Turn, or all there are. */
  closeAll(reason: string, turnId?: string): void {
    for (const [id, dialog] of this.#open) {
      if (turnId === undefined || dialog.turnId === turnId) this.close(id, reason);
    }
  }

  /** Closes those that a new snapshot does not list any more. */
  keep(open: ReadonlySet<string>): void {
    for (const id of this.#open.keys()) {
      if (!open.has(id)) this.close(id, "withdrawn");
    }
    for (const id of this.#answered) if (!open.has(id)) this.#answered.delete(id);
  }

  async #run(interaction: Interaction, presentation: Presentation, signal: AbortSignal): Promise<void> {
    const response = await this.#held(interaction, presentation, (card) => {
      const dialog = dialogOf(interaction, {
        sessionId: this.#sessionId,
        abilities: this.#client.abilities,
        card,
      });
      if ("unsupported" in dialog) {
        throw new SessionError("client_unsupported", dialog.unsupported, { kind: interaction.kind });
      }
      return this.#client.request(dialog.method, dialog.params, signal).catch((error) => {
        if (!signal.aborted) throw error;
        return WITHDRAWN;
      });
    });
    if (response === WITHDRAWN) return;
    const result = answerOf(interaction, response);
    if ("invalid" in result) {
      presentation.fail(new SessionError("client_unsupported", result.invalid, { kind: interaction.kind }));
    } else if (result.answer.kind === "cancel" && interaction.kind !== "form" && interaction.kind !== "url") {
      // A person who closes a permission or a question wants the Turn to stop; the Host closes the question with it.
      presentation.fence("question");
    } else {
      const { page } = interaction;
      if (page !== undefined && result.answer.kind === "values") this.#pages.add(page.elicitationId);
      await this.#answer(interaction.interactionId, result.answer, signal);
    }
  }

  /**
   * While a dialog is open the card that it is about is shown as it was asked about, and left alone. A permission that is about no tool
   * gets a card of its own: the protocol asks about tools only.
   */
  async #held<T>(
    { interactionId, toolCallId, kind, message }: Interaction,
    presentation: Presentation,
    ask: (card: JsonObject | undefined) => Promise<T>,
  ): Promise<T> {
    const elicited = kind === "question" || kind === "form" || kind === "url";
    if (toolCallId === undefined && elicited) return await ask(undefined);
    const { projection } = presentation;
    const cardId = toolCallId ?? interactionId;
    const question = toolCallId === undefined ? message : undefined;
    this.#show(presentation, projection.hold(cardId, this.#clock.now(), question));
    try {
      return await ask(projection.card(cardId));
    } finally {
      // Behind the fence the card stays as it is until the Turn's end closes it: a release would count as shown.
      if (presentation.unwanted === undefined) {
        this.#show(presentation, projection.release(cardId, this.#clock.now()));
      }
    }
  }

  /** Gives the Host an answer. By key: where the Host cannot be reached it is given again, until the question is closed. */
  async #answer(interactionId: string, answer: Answer, signal: AbortSignal): Promise<void> {
    const until = this.#clock.now() + LIMITS.recoveryMs;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await this.#host.interactions.answer({ sessionId: this.#sessionId, interactionId, answer });
        return this.#taken(interactionId, signal);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        if (error.code === "already_resolved" || error.code === "not_found") {
          this.#taken(interactionId, signal);
          return await this.#answeredElsewhere(interactionId);
        }
        const refused = error.dispatch === "answered" && error.code !== "unavailable";
        if (refused || this.#clock.now() >= until) throw error;
        await this.#clock.sleep(Math.min(50 * 2 ** attempt, 1000), signal).catch(() => {});
      }
    }
  }

  #taken(interactionId: string, signal: AbortSignal): void {
    if (!signal.aborted) this.#answered.add(interactionId);
  }

  async #answeredElsewhere(interactionId: string): Promise<void> {
    const state = await this.#host.interactions.query({ sessionId: this.#sessionId, interactionId })
      .catch(() => undefined);
    this.#log.debug("question was resolved elsewhere", {
      reason: state?.kind === "closed" ? state.reason : "unknown",
    });
  }
}

function dialogError(error: unknown, sessionId: string): SessionError {
  if (error instanceof SessionError) return error;
  if (error instanceof HostError) return sessionErrorOf(error, sessionId);
  if (error instanceof ClientRefused) {
    const what = error.code === -32601
      ? "The editor cannot show the question that this Turn asks; allow the action beforehand or use another editor"
      : "The editor answered the question with an error";
    return new SessionError("client_unsupported", what, { clientCode: error.code }, { cause: error });
  }
  return new SessionError("internal", "The answer could not be given to the Host", {}, { cause: error });
}
