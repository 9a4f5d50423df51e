import type { Failure } from '../policy/failure.ts';
import { failureKinds } from '../policy/failure.ts';
import { mayRepeat } from '../policy/repetition.ts';
import type { Asked, Exchange } from './exchange.ts';
import type { FailedAnswer } from './failedAnswer.ts';
import { ownAnswer } from './ownAnswer.ts';
import { lastWords } from './streamEnd.ts';
import type { Bucket } from './upstream.ts';

/** Told to Codex where a 429 says nothing: without it a turn of Codex ends at once, in seconds. */
const codexWaitS = 30;

/** Ends an answer that broke, in the way its client can go on from. */
export function breakOff({ response, route, client }: Asked, exchange: Exchange, failure: Failure): void {
  if (exchange.isOver && failure.reason !== 'reader_left') {
    response.end();
    return;
  }
  const words = exchange.isBetweenEvents ? lastWords(route.dialect, client, `unwedge: ${failure.message}`) : undefined;
  if (words === undefined || failure.reason === 'reader_left') response.destroy();
  // On a line of its own: of the event before, the name alone may have been sent.
  else response.end(`\n\n${words}`);
}

/** Answers a request that got nothing: with the last answer of the upstream as it came, else with one of ours. */
export function refuse(asked: Asked, exchange: Exchange | undefined, bucket: Bucket, failure: Failure): void {
  const { response, route } = asked;
  if (response.destroyed) return;
  const now = exchange?.clock.now() ?? 0;
  const last = exchange?.lastAnswer;
  const isLimit = failure.kind === 'quota' || failure.kind === 'rate_limit';
  if (last !== undefined) {
    if (isLimit) bucket.lastRefusal = last;
    pass(asked, last, failure, now - last.at);
    return;
  }
  // The bucket is closed: whoever asks now learns what the one before was told.
  const kept = bucket.lastRefusal;
  if (kept !== undefined && failure.attempts === 0 && (isLimit || failure.kind === 'circuit_open')) {
    pass(asked, kept, failure, now - kept.at);
    return;
  }
  // Told to another process, or an earlier one: what it said is not known here.
  const { status, headers, body } = ownAnswer(
    failure,
    route.dialect,
    isLimit || bucket.path.openedBy?.kind === 'quota',
  );
  const isLast = failure.reason === 'stopped' ? { connection: 'close' } : {};
  response.writeHead(status, { ...headers, ...isLast, 'content-length': Buffer.byteLength(body) });
  response.end(asked.request.method === 'HEAD' ? undefined : body);
}

/** @param ageMs - since the answer came. */
function pass(
  { response, request, client }: Asked,
  answer: FailedAnswer,
  { retryAfterMs }: Failure,
  ageMs: number,
): void {
  const { status, statusMessage, headers, body } = answer;
  const passed = ageMs > 0 ? aged(headers, ageMs) : [...headers];
  const names = new Set(headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  if (client === 'codex' && status === 429 && !names.has('retry-after')) {
    const waitS = Math.ceil((retryAfterMs ?? codexWaitS * 1000) / 1000);
    passed.push('retry-after', String(Math.min(60, Math.max(1, waitS))));
  }
  if (!names.has('content-length') && request.method !== 'HEAD') passed.push('content-length', String(body.length));
  response.writeHead(status, statusMessage, passed);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** The headers of an answer that is given later: what they say to wait has become less. A date is as true as it was. */
function aged(headers: readonly string[], ageMs: number): string[] {
  return headers.map((value, index) => {
    const unitMs = index % 2 === 1 ? waitUnits[headers[index - 1]?.toLowerCase() ?? ''] : undefined;
    if (unitMs === undefined || !/^\d+(?:\.\d+)?$/.test(value)) return value;
    return String(Math.max(1, Math.ceil(Number(value) - ageMs / unitMs)));
  });
}

/** Headers that say how long to wait, and ms in a unit of theirs. */
const waitUnits: Readonly<Record<string, number | undefined>> = { 'retry-after': 1000, 'retry-after-ms': 1 };

/** Whether another upstream may be asked: this one could not answer, and it is not the request that is wrong. */
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

/** What a request meets while the proxy ends. */
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
