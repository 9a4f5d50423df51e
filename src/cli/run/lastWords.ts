import { formatDuration } from '../../policy/duration.ts';
import type { Failure, FailureKind } from '../../policy/failure.ts';
import { sanitize } from '../sanitize.ts';
import type { RunPlan } from './request.ts';
import type { RunEnd } from './supervisedRun.ts';

/** What is to be done about a failure of a kind that says no time. */
const advice: { readonly [K in FailureKind]?: string } = {
  transient: 'trying again may help',
  overloaded: 'try again later',
  rate_limit: 'try again later',
  quota: 'try again later',
  timeout: 'trying again may help',
  crash: 'trying again may help',
  protocol: 'trying again will hardly help',
  spawn: 'trying again does not help',
  auth: 'trying again does not help before the credentials are right',
  permanent: 'trying again does not help',
};

/**
 * What is said on stderr at the end of a run: what happened, and whether and when to try again. A plain exit code is an answer of the
 * command's own, which speaks for itself.
 */
export function lastWords(
  { name }: Pick<RunPlan, 'name'>,
  end: Pick<RunEnd, 'outcome' | 'notRepeated'>,
): readonly string[] {
  const { outcome, notRepeated } = end;
  if (outcome.ok) return [];
  const { failure } = outcome;
  const again =
    notRepeated === undefined ? [] : [`not tried again: ${sanitize(notRepeated)}; --retry always begins anew`];
  // By Ctrl-C: the user who pressed it knows.
  if (failure.kind === 'cancelled') return [];
  if (failure.kind === 'circuit_open') return [circuitLine(name, failure)];
  const isPlainExit = failure.kind === 'unknown' && failure.reason !== 'empty_response';
  return isPlainExit ? again : [failureLine(failure), ...again];
}

/** One line about a failure: its kind, what happened, and whether and when to try again. */
export function failureLine(failure: Failure): string {
  return `${failure.kind}: ${sanitize(failure.message).replace(/\.$/, '')}${later(failure)}`;
}

function circuitLine(name: string, failure: Failure): string {
  if (failure.attempts === 0) return `${sanitize(failure.message).replace(/^The /, 'the ')}; the command was not run`;
  return `the circuit of ${sanitize(name)} is open after this failure${later(failure)}`;
}

function later({ kind, reason, retryAfterMs }: Failure): string {
  if (reason === 'empty_response') return '; trying again may help';
  if (retryAfterMs !== undefined) return `; try again in ${formatDuration(Math.ceil(retryAfterMs / 1000) * 1000)}`;
  return advice[kind] === undefined ? '' : `; ${advice[kind]}`;
}
