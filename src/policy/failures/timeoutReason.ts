import { read, readString } from './errorChain.ts';

/** Words by which clients say that a limit of theirs passed. */
const words = /\btim(?:ed?|ing)[ _-]?out\b|deadline exceeded/i;

/** The code of the official SDK for a request that timed out. */
const requestTimeout = -32_001;

/**
 * Tells whether the reason of an abort, or the reason in words of a cancel of a client, is a limit that passed and no word on the work: a `TimeoutError` as that
 * of `AbortSignal.timeout`, the errors of the official SDKs, `timed out` in words. Codex writes the same whatever it was. Never throws.
 */
export function isTimeoutReason(reason: unknown): boolean {
  if (typeof reason === 'string') return reason.length <= 1000 && words.test(reason);
  if (typeof reason !== 'object' || reason === null) return false;
  const code = read(reason, 'code');
  if (readString(reason, 'name') === 'TimeoutError' || code === requestTimeout) return true;
  if (code === 'ETIMEDOUT' || code === 'REQUEST_TIMEOUT') return true;
  return words.test(readString(reason, 'message')?.slice(0, 1000) ?? '');
}
