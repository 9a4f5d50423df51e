import type { Call, CallPath, CallSettings } from '../../src/calls/face.ts';
import type { Clock, Timer } from '../../src/policy/face.ts';
import { AttemptError, type FailureFacts, type Outcome } from '../../src/policy/failures/face.ts';
import { isOfUpstream } from './failedAnswer.ts';

/** Time in ms after which, at the latest, one that is held back looks again: another request may have closed the circuit, or an operator. */
const lookAgainMs = 1000;

/** Decides whether a request may be held back for so many ms. */
type Patience = (waitMs: number) => boolean;

/**
 * Way of one attempt through the circuit of its upstream, which all keys and models share. It is a call of its own there, told by the request that it is part
 * of.
 */
export class Passage {
  readonly #path: CallPath<Passage, void>;
  readonly #settings: CallSettings<Passage, void>;
  readonly #clock: Clock;
  #call: Call<Passage, void> | undefined = undefined;
  /** Timer of a request that is held back. */
  #timer: Timer | undefined = undefined;
  #admitted: () => void = () => undefined;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(path: CallPath<Passage, void>, settings: CallSettings<Passage, void>, clock: Clock) {
    this.#path = path;
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * Resolves when a request may be sent. While the circuit is open the request is held back for as long as `mayWait` allows, or until
   * {@link ended}.
   * @throws {@link AttemptError} when the circuit is open, with the time after which it is tried.
   */
  enter(mayWait: Patience): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#admitted = resolve;
      const look = (): void => {
        this.#timer = undefined;
        this.#reject = reject;
        this.#call = this.#path.start(this, this.#settings, (outcome) => {
          if (outcome.ok) return;
          const refusal = this.#refusal(outcome);
          const { kind, reason, retryAfterMs } = refusal;
          const waitMs = kind === 'circuit_open' && reason !== 'isolated' ? (retryAfterMs ?? lookAgainMs) : undefined;
          if (waitMs === undefined || !mayWait(waitMs)) reject(new AttemptError(refusal));
          else this.#timer = this.#clock.setTimeout(look, Math.min(waitMs, lookAgainMs));
        });
      };
      look();
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
    if (this.#timer !== undefined) {
      this.#clock.clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#reject(new AttemptError(facts ?? gone));
    } else if (facts === undefined) this.#resolve();
    else if (facts.kind === 'cancelled') {
      if (call !== undefined && !call.settled) this.#path.end(call, facts);
      this.#resolve();
    } else if (!isOfUpstream(facts)) this.#resolve();
    else if (call?.settled === true) this.#report(facts);
    else this.#reject(new AttemptError({ ...facts, breaker: undefined }));
  }

  /** The circuit was closed with the first of this answer, which broke after that. */
  #report(facts: FailureFacts): void {
    const report = new Passage(this.#path, this.#settings, this.#clock);
    report
      .enter(() => false)
      .then(
        () => report.ended(facts),
        () => undefined,
      );
  }

  #refusal({ failure }: Extract<Outcome<void>, { ok: false }>): FailureFacts {
    const { kind, reason, message, retryAfterMs } = failure;
    // Another request tries it, of this process or of another one: nobody knows for how long.
    const isTried = this.#path.link.lastState === 'half-open' || retryAfterMs === 0;
    return {
      kind,
      reason,
      message,
      outcome: 'not_started',
      breaker: 'ignored',
      retryAfterMs: isTried ? lookAgainMs : retryAfterMs,
      // Nobody knows for how long an operator holds it open.
      shouldRetry: reason === 'isolated' ? false : undefined,
    };
  }
}

/** End of an attempt that was given up. */
export const gone: FailureFacts = { kind: 'cancelled', message: 'The attempt was given up', outcome: 'cancelled' };
