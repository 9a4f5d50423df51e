import type { Tally } from '../policy/breaker.ts';
import type { BreakerRule } from '../policy/breakerRule.ts';
import type { FailureKind } from '../policy/failures/failure.ts';

/** Numbers of calls of the integration, by where they are; what tells `idle`, `calling` and `backoff` apart. */
export interface CallFigures {
  /** Attempts in flight. */
  readonly attempts: number;
  /** Accepted calls with no attempt in flight: in backoff, paused, or waiting for a place. */
  readonly waiting: number;
}

/** Times (`at`, `until`) are monotonic ms of the runtime's clock; a generation is the one an attempt was admitted under. */
export type IntegrationEvent =
  | ({ readonly type: 'calls.changed' } & CallFigures)
  | AttemptFailed
  | { readonly type: 'attempt.answered'; readonly generation: number }
  | { readonly type: 'attempt.ignored'; readonly generation: number }
  | { readonly type: 'probe.requested'; readonly at: number }
  | { readonly type: 'breaker.isolate' }
  | { readonly type: 'breaker.release' }
  | { readonly type: 'breaker.reset' }
  | Restored
  | { readonly type: 'breaker.closed_elsewhere' }
  | { readonly type: 'integration.paused'; readonly until: number }
  | { readonly type: 'integration.unpaused' }
  | { readonly type: 'probe.due'; readonly at: number }
  | { readonly type: 'integration.lost' }
  | { readonly type: 'integration.restarted' };

/** The circuit is open as it was kept. */
export interface Restored {
  readonly type: 'breaker.restore';
  readonly openUntil: number;
  readonly openings: number;
  readonly rule?: BreakerRule | undefined;
}

export interface AttemptFailed {
  readonly type: 'attempt.failed';
  readonly generation: number;
  readonly at: number;
  readonly kind: FailureKind;
  /** Counts of the breaker since it last closed, this failure included. */
  readonly tally: Tally;
  /** Time before which the other side asked not to be called, in ms from `at`. */
  readonly hintMs?: number | undefined;
}

export type IntegrationEmitted =
  | {
      readonly type: 'breaker.opened';
      readonly openForMs: number;
      readonly kind: FailureKind | 'isolated';
      readonly rule: BreakerRule | undefined;
    }
  | { readonly type: 'breaker.half_opened' }
  | { readonly type: 'breaker.closed' };
