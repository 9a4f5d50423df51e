import type { Failure } from '../policy/failure.ts';
import { type ClientKind, clients } from './clients.ts';
import type { Dialect } from './route.ts';

/** An answer of the proxy's own. */
export interface OwnAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Claude Code fails at once when it is to wait longer, in seconds. */
const longestWaitS = 60;

/**
 * Makes the answer to a client whose request could not be passed on, in the form of its provider. 503 and `api_error`: of `overloaded_error` Claude Code
 * would have enough after three.
 * @param isLimit - because of a limit of the upstream.
 */
export function ownAnswer(
  failure: Failure,
  dialect: Dialect | undefined,
  isLimit: boolean,
  client: ClientKind,
): OwnAnswer {
  const mayComeAgain = failure.retryable || failure.reason === 'stopped' || isLimit;
  const waitS = Math.min(longestWaitS, Math.max(1, Math.ceil((failure.retryAfterMs ?? 1000) / 1000)));
  // Codex would wait for it again and again without a word.
  const isSilent = isLimit && isLong(failure) && clients[client].cells['refused for an hour'].does === 'drops hint';
  const hints: Readonly<Record<string, string>> = mayComeAgain
    ? { ...(!isSilent && { 'retry-after': String(waitS) }), 'x-should-retry': 'true' }
    : { 'x-should-retry': 'false' };
  return {
    status: isLimit ? 429 : mayComeAgain ? 503 : 502,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...hints },
    body: errorBody(dialect, `unwedge: ${failure.message}`, isLimit),
  };
}

function isLong({ kind, retryAfterMs = 0 }: Failure): boolean {
  return kind === 'quota' || retryAfterMs > longestWaitS * 1000;
}

/** An error in the words of a provider. */
function errorBody(dialect: Dialect | undefined, message: string, isLimit: boolean): string {
  if (dialect === 'gemini') {
    const [code, status] = isLimit ? [429, 'RESOURCE_EXHAUSTED'] : [503, 'UNAVAILABLE'];
    return JSON.stringify({ error: { code, message, status } });
  }
  if (dialect === 'messages')
    return JSON.stringify({ type: 'error', error: { type: isLimit ? 'rate_limit_error' : 'api_error', message } });
  const code = isLimit ? 'rate_limit_exceeded' : 'upstream_unavailable';
  return JSON.stringify({ error: { message, type: isLimit ? 'rate_limit_error' : 'server_error', param: null, code } });
}
