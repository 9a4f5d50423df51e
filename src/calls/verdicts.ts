import { breakerOutcome } from '../policy/breaker.ts';
import type { FailureFacts } from '../policy/failure.ts';
import type { Admission, Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import type { Stations } from './stations.ts';

/** What the end of an attempt says of the circuit: counted, and told to the machine where that could change its state. */
export class Verdicts<I, O> {
  readonly #on: Stations<I, O>;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** An attempt proved life: it succeeded, or the other side answered with an error. */
  alive(admission: Admission): void {
    const { parts, link, counts } = this.#on;
    if (!link.isCurrent(admission)) return;
    if (link.closed) {
      // Counts only: the machine would ignore an answer while the circuit is closed.
      if (link.isLingering) counts.answeredJustNow();
      else counts.answered(parts.clock.now());
      if (parts.everyEvent !== true) return;
    }
    link.send({ type: 'attempt.answered', generation: admission.generation });
  }

  /**
   * An attempt failed, for any reason.
   * @param isLimit - a limit of its own or of its session passed.
   */
  failed(attempt: Attempt<I, O>, facts: FailureFacts, isLimit: boolean): void {
    const { admission, call } = attempt;
    const { tools } = this.#on;
    switch (breakerOutcome(facts)) {
      case 'failure':
        if (isLimit && this.#isOfToolAlone(attempt)) {
          this.ignored(admission);
          tools.failed(attempt, facts);
          return;
        }
        this.count(attempt, facts);
        break;
      case 'alive':
        this.alive(admission);
        break;
      case 'ignored':
        this.ignored(admission);
        break;
    }
    if (tools.size > 0) this.#ofTool(call, facts);
  }

  /** Whether only the tool of an attempt passed its limit: others were answered meanwhile. Where the other side can be asked, it is. */
  #isOfToolAlone({ call, startedAt }: Attempt<I, O>): boolean {
    const { parts, counts, tools } = this.#on;
    if (parts.onSilence !== undefined || tools.toolOf(call) === undefined) return false;
    return counts.hasAnsweredSince(startedAt, parts.clock.now());
  }

  /** What a failure that is not of the tool alone says of the tool: an error within its limit is an answer of it. */
  #ofTool(call: Call<I, O>, facts: FailureFacts): void {
    const { tools } = this.#on;
    const isEnded = facts.kind === 'crash' || facts.kind === 'cancelled' || breakerOutcome(facts) === 'ignored';
    if (isEnded || facts.kind === 'timeout' || facts.kind === 'watchdog') tools.ignored(call);
    else tools.answered(call);
  }

  /** A failure counts for the circuit, which may open for it. */
  count(attempt: Attempt<I, O>, facts: FailureFacts): void {
    const { link, failures, records } = this.#on;
    if (!link.isCurrent(attempt.admission)) return;
    // First: who hears that the circuit opened is told why.
    failures.note(records.countedFailure(attempt, facts));
    link.recordFailure(attempt.admission, facts.kind, facts.retryAfterMs);
  }

  /** An attempt said nothing of the circuit: it gives back the place of a probe. */
  ignored(admission: Admission): void {
    const { parts, link } = this.#on;
    if ((parts.everyEvent === true || link.lastState === 'half-open') && link.isCurrent(admission)) {
      link.send({ type: 'attempt.ignored', generation: admission.generation });
    }
  }

  /** The other side asked not to be called for now. */
  pause(pauseMs: number): void {
    const { parts, link, records } = this.#on;
    const until = parts.clock.now() + pauseMs;
    if (pauseMs <= 0 || link.lastState === 'crashed' || until <= link.pausedUntil) return;
    link.send({ type: 'integration.paused', until });
    records.paused(pauseMs);
  }
}
