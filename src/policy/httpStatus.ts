import { read, readInteger } from './errorChain.ts';
import type { Finding } from './finding.ts';
import { type HeaderSource, headerHint } from './hints.ts';

/**
 * What an HTTP answer means: its status in `status`, `statusCode`, `response.status` or a numeric `code`, and its headers.
 * @param wallNow - wall time in ms, for hints that are dates.
 */
export function byStatus(error: unknown, wallNow: number): Finding | undefined {
  const response = read(error, 'response');
  // A redirect that nobody followed is no answer either.
  const told = [error, response].flatMap((each) => [readInteger(each, 'status'), readInteger(each, 'statusCode')]);
  const status = told.find((each) => isFailure(each, 300)) ?? codeOf(error);
  if (status === undefined) return undefined;
  const headers = read(error, 'headers') ?? read(response, 'headers');
  const hint =
    typeof headers === 'object' && headers !== null ? headerHint(headers as HeaderSource, wallNow) : undefined;
  return { ...statusMeaning(status), status, hint };
}

function isFailure(status: number | undefined, from: number): boolean {
  return status !== undefined && status >= from && status <= 599;
}

function codeOf(error: unknown): number | undefined {
  const code = readInteger(error, 'code');
  return isFailure(code, 400) ? code : undefined;
}

function statusMeaning(status: number): Finding {
  switch (status) {
    case 401:
    case 403:
    case 407:
    case 511:
      return { kind: 'auth', outcome: 'failed' };
    case 402:
      return { kind: 'quota', outcome: 'failed' };
    case 404:
    case 410:
      return { kind: 'permanent', outcome: 'failed', reason: 'not_found' };
    case 413:
      return { kind: 'permanent', outcome: 'failed', reason: 'message_too_large' };
    case 429:
      return { kind: 'rate_limit', outcome: 'failed' };
    case 529:
      return { kind: 'overloaded', outcome: 'failed' };
    // Refused before they were carried out: too slow to arrive, in conflict with another one, too early, no room.
    case 408:
    case 409:
    case 425:
    case 503:
      return { kind: 'transient', outcome: 'failed' };
    case 501:
    case 505:
      return { kind: 'permanent', outcome: 'failed' };
    default:
      return status < 500 ? { kind: 'permanent', outcome: 'failed' } : { kind: 'transient', outcome: 'unknown' };
  }
}
