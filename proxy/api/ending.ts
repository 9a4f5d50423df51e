import { type Failure, type FailureKind, failureKinds, mayRepeat } from '../../src/policy/failures/face.ts';
import { type ClientKind, clients } from './clients.ts';
import type { Exchange } from './exchange.ts';
import type { Asked } from './forwardedRequest.ts';
import type { FailedAnswer } from './failedAnswer.ts';
import type { Dialect } from './route.ts';
import { lastWords } from './streamEnd.ts';
import type { Bucket } from './upstream.ts';

/** Told to Codex where a 429 says nothing: without it a turn of Codex ends at once, in seconds. */
const codexWaitS = 30;
/** A longer wait Codex is not told, in seconds: it would wait without a word. */
const longestCodexWaitS = 60;
/** A connection is reset so long after its last bytes, in ms: Node 20 to 24 takes a reset that comes with unread bytes for an end. */
const resetAfterMs = 1000;

/** Ends an answer that broke, in the way its client can go on from. */
export function breakOff({ response, route, client }: Asked, exchange: Exchange, failure: Failure): void {
  if (failure.reason === 'reader_left') {
    response.destroy();
    return;
  }
  const { forwarding } = exchange;
  if (forwarding?.isOver === true) {
    response.end(forwarding.lastOf(true));
    return;
  }
  const { hasCall = false, bareCalls = [], isBetweenEvents = false } = forwarding ?? {};
  const how = failure.kind === 'timeout' ? 'silent' : 'cut';
  const { does } = clients[client].cells[hasCall ? (`${how} after a call` as const) : (`${how} in its text` as const)];
  const message = `unwedge: ${failure.message}`;
  const words = isBetweenEvents ? lastWords(route.dialect, does, message, bareCalls) : undefined;
  // On a line of its own: of the event before, the name alone may have been sent.
  if (words !== undefined) response.end(`\n\n${words}`);
  // Asked again from the beginning it would run a tool twice: in the middle of an event it is better closed.
  else if (does === 'reset' && !hasCall)
    exchange.clock.setTimeout(() => response.socket?.resetAndDestroy(), resetAfterMs);
  else response.destroy();
}

/** Answers a request that got nothing: with the last answer of the upstream as it came, else with one of ours. */
export function refuse(asked: Asked, exchange: Exchange | undefined, bucket: Bucket, failure: Failure): void {
  const { response, route } = asked;
  if (response.destroyed) return;
  const now = exchange?.clock.now() ?? 0;
  const last = exchange?.lastAnswer;
  const isLimit = failure.kind === 'quota' || failure.kind === 'rate_limit';
  if (last !== undefined) {
    if (isLimit) bucket.lastRefusal = { ...last, kind: failure.kind };
    pass(asked, last, failure, now - last.at);
    return;
  }
  // The bucket is closed: whoever asks now learns what the one before was told.
  const kept = bucket.lastRefusal;
  if (kept !== undefined && failure.attempts === 0 && (isLimit || failure.kind === 'circuit_open')) {
    pass(asked, kept, { ...failure, kind: kept.kind }, now - kept.at);
    return;
  }
  // Told to another process, or an earlier one: what it said is not known here.
  const { status, headers, body } = ownAnswer(
    failure,
    route.dialect,
    isLimit || bucket.path.openedBy?.kind === 'quota',
    asked.client,
  );
  const isLast = failure.reason === 'stopped' ? { connection: 'close' } : {};
  response.writeHead(status, { ...headers, ...isLast, 'content-length': Buffer.byteLength(body) });
  response.end(asked.request.method === 'HEAD' ? undefined : body);
}

/** Refuses a request that goes on with what has repeated for too long. Its client shows the text, and asks no more. */
export function endTurn({ response, route, client }: Pick<Asked, 'response' | 'route' | 'client'>, text: string): void {
  // After 400 Claude Code asks five times more, each time with fewer features; 402, 403 and 404 it explains in words of its own. Others but 400 Codex asks about six times.
  response.writeHead(client === 'claude' ? 410 : 400, {
    'content-type': 'application/json',
    'x-should-retry': 'false',
  });
  response.end(errorBody(route.dialect, `unwedge: ${text}`, 'ends'));
}

/** @param ageMs - since the answer came. */
function pass(
  { response, request, client }: Asked,
  answer: FailedAnswer,
  { kind, retryAfterMs }: Failure,
  ageMs: number,
): void {
  const { status, statusMessage, headers, body } = answer;
  const as = ageMs > 0 ? aged(headers, ageMs) : headers;
  const isFollowed = clients[client].cells['refused for an hour'].does === 'drops hint';
  const passed = isFollowed ? hintedForCodex(as, status, kind, retryAfterMs) : [...as];
  const names = new Set(headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  if (!names.has('content-length') && request.method !== 'HEAD') passed.push('content-length', String(body.length));
  response.writeHead(status, statusMessage, passed);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/**
 * The headers of a refusal for Codex. It follows whatever `retry-after` says in seconds, without a word, and knows no date; after a 429 without one its turn ends at once.
 */
function hintedForCodex(
  headers: readonly string[],
  status: number,
  kind: FailureKind,
  retryAfterMs: number | undefined,
): string[] {
  const value = headers.find((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'retry-after');
  const isSeconds = value !== undefined && /^\d+$/.test(value.trim());
  const hintS = kind === 'quota' ? Number.POSITIVE_INFINITY : Math.ceil((retryAfterMs ?? codexWaitS * 1000) / 1000);
  const waitS = isSeconds ? Number(value) : hintS;
  const isAsItShouldBe = isSeconds ? waitS <= longestCodexWaitS : status !== 429;
  if (isAsItShouldBe) return [...headers];
  const others = headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== 'retry-after');
  return waitS > longestCodexWaitS ? others : [...others, 'retry-after', String(Math.max(1, waitS))];
}

/** The headers of an answer that is given later: what they say to wait has become less. A date is as true as it was. */
function aged(headers: readonly string[], ageMs: number): string[] {
  return headers.map((value, index) => {
    const unitMs = index % 2 === 1 ? waitUnits.get(headers[index - 1]?.toLowerCase() ?? '') : undefined;
    if (unitMs === undefined || !/^\d+(?:\.\d+)?$/.test(value)) return value;
    return String(Math.max(1, Math.ceil(Number(value) - ageMs / unitMs)));
  });
}

/** Headers that say how long to wait, and ms in a unit of theirs. */
const waitUnits: ReadonlyMap<string, number> = new Map([
  ['retry-after', 1000],
  ['retry-after-ms', 1],
]);

/** Tells whether another upstream may be asked: this one could not answer, and it is not the request that is wrong. */
export function mayFallBack(failure: Failure, { body, route }: Asked): boolean {
  const { kind } = failure;
  if (body.kind !== 'whole' || failure.reason === 'stopped') return false;
  const mayHelp =
    failureKinds[kind].retried ||
    kind === 'quota' ||
    kind === 'circuit_open' ||
    kind === 'too_many_requests' ||
    kind === 'unknown';
  return mayHelp && (failure.attempts === 0 || mayRepeat(failure, route.effect, 'broken'));
}

/** Makes the failure of a request while the proxy ends. */
export function stopping(integration: string): Failure {
  const message = 'The proxy is stopping';
  return {
    integration,
    kind: 'cancelled',
    reason: 'stopped',
    message,
    outcome: 'not_started',
    attempts: 0,
    retryable: true,
  };
}

/** An answer of the proxy's own. */
interface OwnAnswer {
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
    body: errorBody(dialect, `unwedge: ${failure.message}`, isLimit ? 'limit' : 'unavailable'),
  };
}

function isLong({ kind, retryAfterMs = 0 }: Failure): boolean {
  return kind === 'quota' || retryAfterMs > longestWaitS * 1000;
}

/** Names of errors: Gemini's code and status, the type of messages, type and code of OpenAI. After `invalid_prompt` Codex shows the message alone. */
const ownErrors = {
  limit: [429, 'RESOURCE_EXHAUSTED', 'rate_limit_error', 'rate_limit_error', 'rate_limit_exceeded'],
  unavailable: [503, 'UNAVAILABLE', 'api_error', 'server_error', 'upstream_unavailable'],
  ends: [400, 'INVALID_ARGUMENT', 'invalid_request_error', 'invalid_request_error', 'invalid_prompt'],
} as const;

/** An error in the words of a provider. */
function errorBody(dialect: Dialect | undefined, message: string, error: keyof typeof ownErrors): string {
  const [number, status, ofMessages, type, code] = ownErrors[error];
  if (dialect === 'gemini') return JSON.stringify({ error: { code: number, message, status } });
  if (dialect === 'messages') return JSON.stringify({ type: 'error', error: { type: ofMessages, message } });
  return JSON.stringify({ error: { message, type, param: null, code } });
}
