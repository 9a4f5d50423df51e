import type { RefusedTokens, SignInRecord, TokenReason } from './signInRecord.ts';

const windowMs = 5 * 60_000;
/** Requests within the window, for whatever reason, by all processes. */
const mostRequests = 6;
const firstRestMs = 30_000;
const longestRestMs = 60 * 60_000;
const firstRetryMs = 10_000;
const longestRetryMs = 10 * 60_000;

/**
 * Returns the time a token may be asked for: `now`, or later. Three things stand between a refused token and a storm of requests: how many there were of
 * late, how often the last ones failed, and whether a token that was got because of a refusal is refused as well.
 */
export function nextRequestAt(record: SignInRecord, because: TokenReason, now: number): number {
  const { refusals, notBefore = now } = record;
  const recent = recentRequests(record, now);
  const first = recent.length < mostRequests ? now : (recent.at(-mostRequests) ?? now) + windowMs;
  const rest = because === 'refusal' && refusals !== undefined ? restEnd(refusals) : now;
  return Math.max(now, first, rest, Math.min(notBefore, now + longestRestMs));
}

/** The record with one more request, written before it is made: a process that dies of it has made it. */
export function withRequest(record: SignInRecord, now: number): SignInRecord {
  return { ...record, requests: [...recentRequests(record, now), now] };
}

/** The record after a request that failed and says nothing against the sign-in. @param retryAfterMs - as the other side asked. */
export function withFailure(record: SignInRecord, now: number, retryAfterMs = 0): SignInRecord {
  const failed = record.failed + 1;
  const waitMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failed - 1, 10));
  return { ...record, failed, notBefore: now + Math.max(waitMs, Math.min(retryAfterMs, longestRestMs)) };
}

/** The refusals of a record whose tokens are new. The count begins anew when the last new token served for long enough. */
export function refusalsWith({ refusals }: SignInRecord, because: TokenReason, now: number): RefusedTokens | undefined {
  if (because !== 'refusal') return refusals;
  const isRow = refusals !== undefined && now - refusals.at <= 2 * longestRestMs;
  return { at: now, count: isRow ? refusals.count + 1 : 1 };
}

function restEnd({ at, count }: RefusedTokens): number {
  return at + Math.min(longestRestMs, firstRestMs * 2 ** Math.min(count - 1, 10));
}

/** A wall clock that was set back leaves times to come; they count for nothing. */
function recentRequests({ requests }: SignInRecord, now: number): readonly number[] {
  return requests.filter((at) => at <= now && at > now - windowMs);
}
