import type { Effect } from '../effects.ts';
import type { EffectOutcome, Failure, FailureKind } from './failure.ts';
import { formatDuration } from '../text/duration.ts';
import { mayGetThrough } from './repetition.ts';

/** Stands for an answer that never came: what is known, for programs and in one plain sentence for the agent. */
interface SyntheticResult {
  readonly status: 'error';
  readonly synthetic: true;
  /** A plain sentence: what happened, what is known of the effect, whether and when to try again. */
  readonly error: string;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  /** Words on how that is known, where a reconcile rule was asked. */
  readonly how?: string | undefined;
  /** From the call to this result, in ms. */
  readonly elapsedMs: number;
  /** Attempts made; 0 when it was refused before dispatch. */
  readonly attempts: number;
  /** True where the same call may be made again without finding out first whether it took effect, and may get through then. */
  readonly retryable: boolean;
  /** Earliest time to try again, in ms from now. */
  readonly retryAfterMs?: number | undefined;
  /** Wall time in ms since the epoch until which the same call made again gets the answer of the work, which goes on. @defaultValue it does not */
  readonly keptUntil?: number | undefined;
}

/**
 * The result that stands for an answer, from the failure that kept it away.
 * @param elapsedMs - time from the call to this result, in ms; the result has it in whole ms, as a model reads it.
 */
export function syntheticResult(failure: Failure, elapsedMs: number): SyntheticResult {
  const { kind, reason, outcome, how, attempts, retryAfterMs, kept } = failure;
  return {
    status: 'error',
    synthetic: true,
    error: `${plain(failure.message)}${ofSeveral(failure, elapsedMs)}: ${reason === 'reader_left' ? left(failure) : `${known(failure)}${advice(failure)}`}.`,
    kind,
    outcome,
    ...(how !== undefined && { how }),
    elapsedMs: Math.round(elapsedMs),
    attempts,
    retryable: againOf(failure) === 'as it is',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(kept !== undefined && { keptUntil: kept.until }),
  };
}

const ends: Readonly<Record<EffectOutcome, string>> = {
  not_started: 'it was not started',
  failed: 'it failed',
  unknown: 'outcome unknown',
  cancelled: 'it was ended before an answer came',
  done: 'it was done',
  not_done: 'it did not happen',
};

/** Risks of repeating it, where the outcome is open. */
export const risks: Readonly<Record<Effect, string>> = {
  readOnly: 'it changes nothing',
  idempotent: 'it may have taken effect, which repeating does not do twice',
  mutating: 'it may have taken effect, check before repeating',
};

/** Answer to whether the same call may be made again: the sentence and `retryable` both say this. */
type Again = 'as it is' | 'after a look' | 'no';

function againOf(failure: Failure): Again {
  const { outcome, effect, retryable, kept } = failure;
  if (kept !== undefined) return 'as it is';
  if (outcome === 'done') return 'no';
  // Somebody has said that it does something each time: an agent that repeats it unseen may pay twice.
  if (isOpen(outcome) && effect === 'mutating') return 'after a look';
  if (retryable) return 'as it is';
  return isOpen(outcome) && effect === undefined && mayGetThrough(failure) ? 'after a look' : 'no';
}

function known(failure: Failure): string {
  const { outcome, effect = 'mutating', how, lastOutcome, kept } = failure;
  if (kept !== undefined) return 'no answer came yet, and its work goes on';
  if (outcome === 'done' || outcome === 'not_done')
    return how === undefined ? ends[outcome] : `${ends[outcome]} (${plain(how)})`;
  if (!isOpen(outcome)) return ends[outcome];
  // No outcome is of interest of what changes nothing.
  if (effect === 'readOnly' && outcome === 'unknown') return `no answer came; ${risks.readOnly}`;
  const risk =
    lastOutcome === undefined ? riskOf(failure) : riskOf(failure).replace(/^it may/, 'an earlier attempt may');
  return `${ends[outcome]}; ${risk}`;
}

/** Says the risk. The advice says what to do first, of what somebody declared mutating; nobody does, of what may be repeated unseen. */
function riskOf(failure: Failure): string {
  const { effect } = failure;
  const isSaid = effect === 'mutating' || (effect === undefined && againOf(failure) === 'as it is');
  return isSaid ? 'it may have taken effect' : risks[effect ?? 'mutating'];
}

/** Says that the reader of a stream has what it wanted. */
function left({ effect = 'mutating' }: Failure): string {
  return `nothing failed; ${risks[effect]}`;
}

/** A limit on one attempt of several says little of how long all of it took. */
function ofSeveral({ kind, reason, attempts }: Failure, elapsedMs: number): string {
  if (kind !== 'timeout' || reason === 'overall_timeout' || attempts < 2) return '';
  return ` (the last of ${attempts} attempts, ${formatDuration(elapsedMs)} in all)`;
}

function plain(message: string): string {
  const line = message.slice(0, 500).replaceAll(/\s+/g, ' ').trim();
  return line.replace(/[.:;]+$/, '');
}

function advice(failure: Failure): string {
  const { outcome, effect, retryAfterMs = 0, kept } = failure;
  if (kept !== undefined) {
    const until = new Date(kept.until).toISOString().slice(11, 19);
    const again = `; make the same call again within ${formatDuration(kept.forMs)} (until ${until} UTC) to get its answer`;
    // What changes nothing is joined alone.
    if (effect === 'readOnly') return `${again} while its work goes on; once that has ended it is made anew`;
    return `${again}: it is not done a second time${kept.onRecord === false ? ', unless unwedge ends before' : ''}`;
  }
  const again = againOf(failure);
  const isUndeclared = isOpen(outcome) && effect === undefined;
  if (outcome === 'done') return '; do not repeat it';
  if (again === 'after a look' && effect === 'mutating') return declared(failure);
  if (again === 'no') return '; trying the same again is not expected to help';
  const when = retryAfterMs > 0 ? `try again in ${formatDuration(retryAfterMs)}` : 'it may be tried again';
  // A call that may have taken effect is not offered for repeating without its condition.
  if (again === 'after a look') return `; after that ${when}`;
  if (isUndeclared) return `; its policy allows to repeat it: ${when}`;
  return isOpen(outcome) && effect === 'readOnly' ? `, so ${when}` : `; ${when}`;
}

function declared({ attempts, retryAfterMs = 0 }: Failure): string {
  const what = attempts > 1 ? 'it is declared mutating' : 'it is declared mutating and was not repeated';
  const when = retryAfterMs > 0 ? ` in ${formatDuration(retryAfterMs)}` : '';
  return `; ${what}: find out whether it happened before you call it again${when}`;
}

const isOpen = (outcome: EffectOutcome): boolean => outcome === 'unknown' || outcome === 'cancelled';
