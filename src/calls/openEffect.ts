import type { FailureFacts } from '../policy/failure.ts';
import type { LostAnswer } from '../policy/reconcileRule.ts';
import type { Call } from './call.ts';
import type { Deadline } from './deadlineQueue.ts';
import type { AskingRule } from '../policy/reconciler.ts';

/** Is told when the time of an open effect has come: its probe is late, or it is to be asked again. */
export interface EffectWatcher<I, O> {
  effectDue(effect: OpenEffect<I, O>, now: number): void;
}

/** The loss of one answer. Times are monotonic, in ms. */
export interface Loss {
  readonly attempt: number;
  readonly facts: FailureFacts;
  readonly at: number;
  readonly answer: LostAnswer;
}

/**
 * An effect of which nobody knows whether it took place: the question what became of a call, and the calls that wait for it. It outlives its call.
 */
export class OpenEffect<I, O> implements Deadline {
  due = 0;
  heapIndex = -1;
  /** The call whose answer was lost; after `not_done` and its end, the one that is made in its place. */
  call: Call<I, O>;
  loss: Loss;
  readonly rule: AskingRule;
  /** Key that its input is known by; undefined where that is no JSON. */
  readonly inputKey: string | undefined;
  /** Calls that wait for its end, first come first. */
  readonly held = new Set<Call<I, O>>();
  /**
   * `writing`: the ledger is told. `queued`: its probe waits for its turn. `asking`: that is under way. `waiting`: for the time of the next.
   * `repeating`: it did not happen, and its call is made again. `over`: nothing of it is open.
   */
  phase: 'writing' | 'queued' | 'asking' | 'waiting' | 'repeating' | 'over' = 'writing';
  /** Probes made for this loss. */
  probes = 0;
  /** Number of those that count against the rule's attempts. */
  tries = 0;
  /** True where the other side can act no more, as of the start of the probe under way. */
  isFinal = false;
  /** Ends the probe under way. */
  probe: AbortController | undefined = undefined;
  readonly #watcher: EffectWatcher<I, O>;

  constructor(
    watcher: EffectWatcher<I, O>,
    call: Call<I, O>,
    rule: AskingRule,
    loss: Loss,
    inputKey: string | undefined,
  ) {
    this.#watcher = watcher;
    this.call = call;
    this.rule = rule;
    this.loss = loss;
    this.inputKey = inputKey;
  }

  /** True while it is asked for the fate of the call. */
  get isAsked(): boolean {
    return this.phase !== 'repeating' && this.phase !== 'over';
  }

  /** From when on the rule vouches that the other side acts no more; `Infinity` where it says nothing of it. */
  get finalAt(): number {
    return this.loss.at + (this.rule.notBeforeMs ?? Number.POSITIVE_INFINITY);
  }

  /** Until when a probe that is told to come again later does so without using up an attempt. */
  get patientUntil(): number {
    return this.finalAt === Number.POSITIVE_INFINITY
      ? this.call.overallDue
      : Math.max(this.call.overallDue, this.finalAt);
  }

  /** Tells whether a call waits for it. */
  concerns(call: Call<I, O>): boolean {
    return this.call === call || this.held.has(call);
  }

  expire(now: number): void {
    this.#watcher.effectDue(this, now);
  }
}
