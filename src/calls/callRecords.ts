import { causeText, type CountedFailure } from '../policy/breakerCause.ts';
import type { Clock } from '../policy/clock.ts';
import type { CallFact, Fact, Facts } from '../policy/facts.ts';
import type { Failure, FailureFacts, FailureKind } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import type { CallPathParts } from './callPathParts.ts';
import { stackOf } from './errorText.ts';
import { limitThatPassed } from './limits.ts';
import { toolName } from './toolName.ts';

/** Refusals of one cause, which come in floods: the first is told, the others are counted. */
export class RefusalEpisode {
  /** Of the refusals that were told; undefined when the next one is told. */
  kind: FailureKind | undefined = undefined;
  /** Refusals that were not told. */
  untold = 0;
}

/** What records need of a call path. */
type RecordParts<I> = Pick<
  CallPathParts<I, never>,
  'name' | 'policy' | 'clock' | 'facts' | 'toolOf' | 'about' | 'failed'
>;

/**
 * What the outside is told about calls: each retry and each final failure once, refusals once per episode, late ends always; and the
 * counts of all of them.
 */
export class CallRecords<I, O> {
  succeeded = 0;
  failed = 0;
  refused = 0;
  late = 0;
  readonly #parts: RecordParts<I>;
  readonly #integration: string;
  readonly #clock: Clock;
  readonly #facts: Facts;
  readonly #episode = new RefusalEpisode();

  constructor(parts: RecordParts<I>) {
    this.#parts = parts;
    this.#integration = parts.name;
    this.#clock = parts.clock;
    this.#facts = parts.facts;
  }

  /** A call was admitted: the episode of refusals is over. */
  callAdmitted(): void {
    this.#episode.kind = undefined;
  }

  /** Refusals come in floods: the first of an episode is told with the number of those before it that were not. */
  callRefused(call: Call<I, O>, { kind, message, retryAfterMs }: FailureFacts, episode = this.#episode): void {
    this.refused++;
    if (kind === episode.kind) {
      episode.untold++;
      return;
    }
    episode.kind = kind;
    const refused = episode.untold;
    episode.untold = 0;
    this.#facts.tell({ type: 'call.refused', ...this.#about(call), kind, message, retryAfterMs, refused });
  }

  callRetried(call: Call<I, O>, { kind, message }: FailureFacts, delayMs: number | null): void {
    if (!this.#facts.wants('call.retried')) return;
    this.#facts.tell({ type: 'call.retried', ...this.#about(call), attempt: call.attempts, kind, message, delayMs });
  }

  callSucceeded(call: Call<I, O>): void {
    this.succeeded++;
    if (!this.#facts.wants('call.succeeded')) return;
    const elapsedMs = this.#clock.now() - call.startedAt;
    this.#facts.tell({ type: 'call.succeeded', ...this.#about(call), attempts: call.attempts, elapsedMs });
  }

  callFailed(call: Call<I, O>, failure: Failure): void {
    this.failed++;
    const { about, failed, policy } = this.#parts;
    const { input, settings } = call;
    this.#facts.tell({
      type: 'call.failed',
      ...this.#about(call),
      integrationType: about?.type,
      tool: toolName(this.#parts, input),
      provider: about?.provider,
      model: about?.modelOf?.(input),
      failure,
      retryCount: Math.max(0, call.attempts - 1),
      elapsedMs: this.#clock.now() - call.startedAt,
      stack: stackOf(failure.cause),
      limit: limitThatPassed(failure, settings, policy.limits),
    });
    if (call.attempts > 0) failed?.(input, failure);
  }

  callFellBack(call: Call<I, O>, kind: FailureKind): void {
    this.succeeded++;
    this.#facts.tell({ type: 'call.fell_back', ...this.#about(call), kind });
  }

  attemptWasLate({ call, attempt, overstay }: Attempt<I, O>, error: string | undefined): void {
    this.late++;
    const now = this.#clock.now();
    const lateByMs = now - (overstay?.since ?? now);
    this.#facts.tell({ type: 'call.late', ...this.#about(call), attempt, ok: error === undefined, lateByMs, error });
  }

  /** A failed attempt as what opens a circuit is told. */
  countedFailure({ call, attempt }: Attempt<I, O>, { kind, reason, message }: FailureFacts): CountedFailure {
    const { call: id, label, session } = this.#about(call);
    return { kind, reason, message: causeText(message), call: id, attempt, label, session, at: this.#clock.wallNow() };
  }

  attemptAbandoned({ call, attempt }: Attempt<I, O>, abandoned: number): void {
    this.#facts.tell({ type: 'call.abandoned', ...this.#about(call), attempt, abandoned });
  }

  paused(pauseMs: number): void {
    this.#facts.tell({ type: 'integration.paused', integration: this.#integration, pauseMs });
  }

  crashed(message: string): void {
    this.#facts.tell({ type: 'integration.crashed', integration: this.#integration, message });
  }

  restartFailed(message: string): void {
    this.#facts.tell({ type: 'integration.restart_failed', integration: this.#integration, message });
  }

  restarted(downMs: number): void {
    this.#facts.tell({ type: 'integration.restarted', integration: this.#integration, downMs });
  }

  tell(fact: Fact): void {
    this.#facts.tell(fact);
  }

  #about(call: Call<I, O>): CallFact {
    const { label, session } = call.settings;
    return { integration: this.#integration, call: `${this.#integration}-${call.number}`, label, session };
  }
}
