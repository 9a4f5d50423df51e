import type { FactMap } from '../policy/facts.ts';
import type { FailureFacts, FailureKind } from '../policy/failure.ts';

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
