import type { Call } from '../calls/call.ts';
import type { CallPath } from '../calls/callPath.ts';
import type { CallSettings } from '../calls/callSettings.ts';
import { AttemptError, type FailureFacts, type Outcome } from '../policy/failure.ts';
import { isOfUpstream } from './failedAnswer.ts';

/** While its circuit is tried by another request, one that is held back looks again after so long, in ms. */
const lookAgainMs = 1000;

/**
 * One attempt's way through the circuit of its upstream, which all keys and models share. It is a call of its own there, told by the request
 * that it is part of.
 */
export class Passage {
  readonly #path: CallPath<Passage, void>;
  readonly #settings: CallSettings<Passage, void>;
  #call: Call<Passage, void> | undefined = undefined;
  #admitted: () => void = () => undefined;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(path: CallPath<Passage, void>, settings: CallSettings<Passage, void>) {
    this.#path = path;
    this.#settings = settings;
  }

  /**
   * Resolves when a request may be sent.
   * @param mayWait - whether the request may be held back until the circuit can be tried.
   * @throws {@link AttemptError} when the circuit is open, with the time after which it is tried.
   */
  enter(mayWait: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#admitted = resolve;
      this.#call = this.#path.start(this, this.#settings, (outcome) => {
        if (!outcome.ok) reject(this.#refusal(outcome, mayWait));
      });
    });
  }

  /** The work of the call: it ends with the attempt. */
  work(): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#admitted();
    return ended;
  }

  /** The first of the answer has come: a circuit that was tried with it closes now, not at the end of a stream of minutes. */
  answered(): void {
    if (!this.#path.link.closed) this.#resolve();
  }

  /** The attempt has ended. @param facts - of what, unless it went well. */
  ended(facts: FailureFacts | undefined): void {
    const call = this.#call;
    if (facts === undefined) this.#resolve();
    else if (facts.kind === 'cancelled') {
      if (call !== undefined && !call.settled) this.#path.end(call, facts);
      this.#resolve();
    } else if (!isOfUpstream(facts)) this.#resolve();
    else if (call?.settled === true) this.#report(facts);
    else this.#reject(new AttemptError({ ...facts, breaker: undefined }));
  }

  /** The circuit was closed with the first of this answer, which broke after that. */
  #report(facts: FailureFacts): void {
    const report = new Passage(this.#path, this.#settings);
    report.enter(false).then(
      () => report.ended(facts),
      () => undefined,
    );
  }

  #refusal(outcome: Extract<Outcome<void>, { ok: false }>, mayWait: boolean): AttemptError {
    const { kind, reason, message, retryAfterMs } = outcome.failure;
    const { lastState } = this.#path.link;
    const waitMs = lastState === 'half-open' ? Math.min(lookAgainMs, retryAfterMs ?? lookAgainMs) : retryAfterMs;
    const isHeld = mayWait && kind === 'circuit_open' && reason !== 'isolated';
    return new AttemptError({
      kind,
      reason,
      message,
      outcome: 'not_started',
      breaker: 'ignored',
      retryAfterMs: waitMs,
      shouldRetry: isHeld,
    });
  }
}
