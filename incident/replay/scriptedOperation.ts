import type { AttemptContext } from '../../src/calls/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { AttemptError } from '../../src/policy/failures/face.ts';
import { type IntegrationPlan, type PlannedAttempt, type PlannedCall, unknownAttempt } from './plan.ts';

/** Attempts of calls may begin so much later or earlier than they did, and still end when they did, in ms. */
const sameMs = 250;
/** Most signs of life of one attempt. */
const mostTouches = 1000;

/** Does what the operation of an integration did: answers, fails or hangs, after the time it took. */
export class ScriptedOperation {
  /** Attempts that were made in the replay alone: they do what the one before them did. */
  invented = 0;
  readonly #plan: IntegrationPlan;
  readonly #clock: Clock;
  #probes = 0;
  /** Times when its server was asked for a sign of life for a silence that ended no attempt, and when that was over. */
  readonly #inquiries: readonly { readonly from: number; readonly to: number }[];

  constructor(plan: IntegrationPlan, clock: Clock) {
    this.#plan = plan;
    this.#clock = clock;
    this.#inquiries = inquiriesOf(plan);
  }

  readonly operate = (call: PlannedCall, context: AttemptContext): Promise<string> => {
    const planned = call.attempts.get(context.attempt);
    return this.#perform(call, planned ?? this.#invent(call), context);
  };

  /** The harmless probe of the integration: as the next one that is on record. */
  readonly probe = (context: { readonly signal: AbortSignal }): Promise<string> => {
    const call = this.#plan.probes[this.#probes++] ?? this.#plan.probes.at(-1);
    const [planned] = call?.attempts.values() ?? [];
    // The context of a harmless probe is a whole one, though its type says less.
    if (call === undefined || planned === undefined) return hang(context.signal);
    return this.#perform(call, planned, context as AttemptContext);
  };

  #perform(call: PlannedCall, planned: PlannedAttempt, context: AttemptContext): Promise<string> {
    const now = this.#clock.now();
    const endsAt = this.#endOf(call, planned, now);
    this.#touch(call, planned, context, now, endsAt);
    return new Promise((resolve, reject) => {
      const { failure } = planned;
      if (planned.end === 'answered') this.#at(endsAt, () => resolve('answered'));
      else if (planned.end === 'threw' && failure !== undefined)
        this.#at(endsAt, () => reject(new AttemptError(failure)));
      const { workEndedAt } = planned;
      // Whatever ends it: its work ends when it did, or with it where nothing of the kind is on record and it might have ended well.
      const isKnown = planned.end !== 'answered' && planned.end !== 'threw';
      if (isKnown && workEndedAt === undefined) return;
      context.signal.addEventListener('abort', () => {
        const late = workEndedAt === undefined ? 0 : Math.max(0, workEndedAt - this.#clock.now());
        this.#clock.setTimeout(() => reject(new Error('its work has ended')), late);
      });
    });
  }

  /** Finds when it did, if it began then; where that would pass a limit that it had kept, after the time it took. */
  #endOf({ limits }: PlannedCall, { startedAt, endedAt }: PlannedAttempt, now: number): number {
    const tookMs = endedAt - startedAt;
    const limitMs = Math.min(limits.attemptMs, limits.idleMs);
    const isStretched = tookMs < limitMs && endedAt - now >= limitMs;
    if (Math.abs(now - startedAt) > sameMs || isStretched) return now + tookMs;
    return Math.max(now, endedAt);
  }

  /** Signs of life, as far as what is on record would not have lasted so long without. */
  #touch({ limits }: PlannedCall, planned: PlannedAttempt, context: AttemptContext, now: number, endsAt: number): void {
    const { idleMs } = limits;
    const goesOnUntil = planned.end === 'pending' ? this.#plan.until : endsAt;
    // Limits are set in whole ms: one that ended it had passed by the last of them.
    const lastAt = planned.failure?.reason === 'idle_timeout' ? Math.floor(endsAt) - idleMs : goesOnUntil;
    if (!Number.isFinite(idleMs) || !Number.isFinite(lastAt) || lastAt <= now + 0.5 || goesOnUntil - now < idleMs)
      return;
    const everyMs = Math.max(idleMs / 2, (lastAt - now) / mostTouches);
    const silences = this.#inquiries.map(({ from, to }) => ({ from: Math.floor(from) - idleMs, to }));
    const isSilent = (at: number): boolean => silences.some(({ from, to }) => at > from && at < to);
    const touchAt = (at: number): void => void (isSilent(at) || this.#at(at, context.touch));
    for (let at = now + everyMs; at < lastAt; at += everyMs) touchAt(at);
    for (const { from } of silences) if (from > now + 0.5 && from < lastAt) touchAt(from);
    if (planned.failure?.reason === 'idle_timeout') this.#at(lastAt, context.touch);
  }

  #invent({ attempts }: PlannedCall): PlannedAttempt {
    this.invented++;
    const last = [...attempts.values()].at(-1) ?? this.#nearest();
    return last ?? { ...unknownAttempt, startedAt: 0, endedAt: 0, end: 'answered' };
  }

  /** The attempt of any call that ended last before now. */
  #nearest(): PlannedAttempt | undefined {
    const now = this.#clock.now();
    const ended = this.#plan.calls
      .flatMap(({ attempts }) => [...attempts.values()])
      .filter(({ endedAt }) => Number.isFinite(endedAt));
    const before = ended.filter(({ startedAt }) => startedAt <= now);
    return (before.length > 0 ? before : ended).toSorted((one, other) => one.startedAt - other.startedAt).at(-1);
  }

  #at(at: number, run: () => void): void {
    this.#clock.setTimeout(run, Math.max(0, at - this.#clock.now()));
  }
}

/** Takes those that are on record whole: an attempt that was silent went on, and signs of life that are made up would keep them from being made. */
function inquiriesOf({ inputs, traits }: IntegrationPlan): readonly { readonly from: number; readonly to: number }[] {
  if (traits.asks !== 'wait') return [];
  return inputs.flatMap((row) =>
    row.input === 'inquired' && row.forMs !== undefined ? [{ from: row.at - row.forMs, to: row.at }] : [],
  );
}

function hang(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('its work has ended')));
  });
}
