import type { Effect } from '../policy/effects.ts';
import type { BudgetAccount } from './rates/budgetAccount.ts';
import type { RatePlace } from './rates/ratePlace.ts';
import type { EffectOutcome, FailureFacts, FailureKind } from '../policy/failures/failure.ts';
import type { CallTrace } from './tracing.ts';
import type { FactMap } from '../policy/facts/facts.ts';

/**
 * Event that a call without an attempt in flight waits for: `suspect` is the answer whether the server lives, `reconciling` the answer what became of a lost
 * call, its own or one that equals it.
 */
export type Waiting = Exclude<FactMap['call.pending']['waitsFor'], 'in_flight'>;

/** A stretch of a call that is over: an attempt, or a wait. Times are monotonic, in ms. */
export interface CallStep {
  readonly state: 'attempt' | Waiting;
  readonly from: number;
  readonly to: number;
  /** Failure of an attempt that failed. */
  readonly failure?: { readonly kind: FailureKind; readonly message: string } | undefined;
}

/** The steps that are told of a call, as seen from now. */
export interface CallStepWhy extends Pick<CallStep, 'state' | 'failure'> {
  readonly tookMs: number;
  readonly endedAgoMs: number;
}

const mostSteps = 40;

/** Steps that a call went through, oldest first: each begins where the one before ended. The last 40 are kept. */
export class CallTrail {
  readonly #steps: CallStep[] = [];
  /** Time at which its present step began. */
  since: number;

  constructor(startedAt: number) {
    this.since = startedAt;
  }

  get steps(): readonly CallStep[] {
    return this.#steps;
  }

  ended(state: CallStep['state'], to: number, facts?: FailureFacts): void {
    const failure = facts && { kind: facts.kind, message: facts.message };
    this.#steps.push({ state, from: this.since, to, failure });
    if (this.#steps.length > mostSteps) this.#steps.shift();
    this.since = to;
  }
}

export function stepsOf(steps: readonly CallStep[], now: number): readonly CallStepWhy[] {
  return steps.map(({ state, from, to, failure }) => ({
    ...{ state, tookMs: to - from, endedAgoMs: now - to },
    ...(failure !== undefined && { failure }),
  }));
}

/**
 * Progress of a call beyond one attempt that succeeds. A call has one of its own only when something of this is to be kept: these fields would make every
 * other call a third larger.
 */
export class CallProgress {
  waiting: Waiting | undefined = undefined;
  waitedMs = 0;
  /** Time that it has beyond its limit, in ms. */
  extendedMs = 0;
  /** End of its wait, in monotonic ms. It may be looked at before that. */
  waitUntil = 0;
  /** It was told that half of its limit has passed. */
  isPendingTold = false;
  /** It was let wait, and so is accepted: it is not refused any more for want of a permit. */
  accepted = false;
  /** An operator lets it go without waiting for its rate limit. */
  passesRate = false;
  /** It is not tried again, whatever its attempt ends with. */
  triesLast = false;
  /** Number of its new tries on the budget of retries. */
  retries = 0;
  /** Time in ms that it may still wait for restarts so as to be repeated; undefined before the first. */
  repeatLeftMs: number | undefined = undefined;
  /** The last attempt's failure, kept as the cause of what ends the call later. */
  lastFailure: FailureFacts | undefined = undefined;
  /** Known effect of all attempts together. */
  effect: EffectOutcome = 'not_started';
  /** An attempt may have acted, and only what goes on in its session may follow it. */
  goesOn = false;
  /** Effect of it as the server said. */
  learned: Effect | undefined = undefined;
  /** Budget of its integration, where that has one. */
  budget: BudgetAccount | undefined = undefined;
  /** Place that it takes of the rate limits of its integration, where that has any. */
  rate: RatePlace | undefined = undefined;
  /** Time of the first attempt of a call with a reconcile rule (wall time), and the incarnation that its last one went to. */
  sentAt: number | undefined = undefined;
  incarnation: number | undefined = undefined;
  /** The key that it was given, and its input without that. */
  keyless: unknown = undefined;
  idempotencyKey: string | undefined = undefined;
  /** Effect that it waits to be known of: whether it took place itself, or a call that equals it. */
  openEffect: unknown = undefined;
  /** It has joined an equal call that is kept, or was given what that came to. */
  joined = false;
  /** That, where it was known already. */
  recalled: unknown = undefined;
  /** Aborts the fallback that runs. */
  fallback: AbortController | undefined = undefined;
  /** Trail of a session's call that waited, or failed an attempt. */
  trail: CallTrail | undefined = undefined;
  /** Follows it, where the host asks for telemetry. */
  trace: CallTrace | undefined = undefined;
}

/** That of all calls without one of their own. */
export const noProgress: Readonly<CallProgress> = new CallProgress();
