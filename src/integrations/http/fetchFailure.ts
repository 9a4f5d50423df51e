import type { Clock } from '../../policy/clock.ts';
import { read, readString } from '../../policy/failures/errorChain.ts';
import { duration, type Given, integer, signal, test } from '../../policy/options/optionKeys.ts';
import { readOptions, readValue } from '../../policy/options/readOptions.ts';
import { systemClock } from '../../runtime/systemClock.ts';
import type { FactRedactor } from '../../redaction/redactFact.ts';
import { readBody } from '../../streams/readBody.ts';
import { redactorOf } from '../../redaction/requestSecrets.ts';
import { isThenable } from '../../calls/observe.ts';
import type { AttemptContext, Operation } from '../../calls/operation.ts';
import { isResponse } from '../../streams/chunkSource.ts';

/** Limits of reading where nobody says otherwise. */
export const usualFailureLimits = { maxBodyBytes: 4096, bodyMs: 1000 };

const failureKeys = {
  /** Bytes of the body that are kept, from 0 to 20,000; the rest is cancelled. @defaultValue 4096 */
  maxBodyBytes: integer({ min: 0, max: 20_000, unit: 'bytes', default: usualFailureLimits.maxBodyBytes }),
  /** Longest wait for the body, in ms, above 0; what has come by then is kept. @defaultValue 1000 */
  bodyMs: duration({ default: usualFailureLimits.bodyMs }),
  /** Ends the reading of the body; the failure is told without the rest. */
  signal,
};

/** Limits on how much is read of the body of a failed answer, and for how long. */
export interface FetchFailureOptions extends Given<typeof failureKeys> {}

/** Anything with what is read of a response: there may be several copies of `fetch` in a process. */
const responseKey = test<Response>(
  'a Response',
  (value) => typeof read(value, 'status') === 'number' && typeof read(read(value, 'headers'), 'get') === 'function',
  { required: true },
);

/** Headers of an answer that say when to come again, and how to ask its makers about it. */
const keptHeaders = [
  ...['retry-after-ms', 'retry-after', 'x-should-retry', 'date', 'request-id', 'x-request-id'],
  ...[
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'x-ratelimit-reset-after',
    'ratelimit-remaining',
    'ratelimit-reset',
  ],
] as const;

/**
 * An HTTP answer that is a failure. `classify` knows what it means: by its status, the hints in its headers, and what its body says
 * (`overloaded_error`, `insufficient_quota`). It holds no secret that is known by name or by shape.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** Headers that say when to come again (`retry-after`, `retry-after-ms`, `x-should-retry`, `date`), and the ID of the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body: what its JSON holds, or its text; empty when it could not be read. */
  readonly body: unknown;

  constructor(message: string, { status, headers, body }: Pick<HttpError, 'status' | 'headers' | 'body'>) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * Returns what a failed answer of `fetch` says, as an error to throw: its status, its hints (`retry-after` and the like) and the beginning of its body. The
 * rest of the body is cancelled, so that no connection is left open; a body that cannot be read costs nothing but its text. Never rejects.
 * @throws TypeError or RangeError at once when `response` is none or an option is wrong.
 *
 * @example
 * const search = gateway.integration('search', { effect: 'readOnly' }, async (query: string, { signal }) => {
 *   const response = await fetch(`https://search.example/?q=${encodeURIComponent(query)}`, { signal });
 *   if (!response.ok && response.status !== 404) throw await fetchFailure(response);
 *   return response.ok ? response.json() : [];
 * });
 */
export function fetchFailure(response: Response, options: FetchFailureOptions = {}): Promise<HttpError> {
  readValue('response', response, responseKey);
  const limits = readOptions('options', options, failureKeys);
  return failureOf(response, { ...limits, clock: systemClock, redact: redactorOf(response.url) });
}

/**
 * The same response when it is `ok` (200 to 299); else what {@link fetchFailure} makes of it is thrown.
 * @throws {@link HttpError} when the response is not ok. TypeError or RangeError when it is none, or an option is wrong.
 *
 * @example
 * const search = gateway.integration('search', { effect: 'readOnly' }, async (query: string, { signal }) => {
 *   const url = `https://search.example/?q=${encodeURIComponent(query)}`;
 *   const response = await okOrThrow(await fetch(url, { signal }));
 *   return response.json();
 * });
 */
export async function okOrThrow(response: Response, options?: FetchFailureOptions): Promise<Response> {
  readValue('response', response, responseKey);
  if (response.ok) return response;
  throw await fetchFailure(response, options);
}

/** Limits on reading the body of a failed answer, and what is taken out of it. */
export interface FailureLimits {
  readonly maxBodyBytes: number;
  readonly bodyMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly redact: FactRedactor;
}

/** Reads what a failed answer says. Never rejects. */
export async function failureOf(
  response: Response,
  { maxBodyBytes, bodyMs, signal, clock, redact }: FailureLimits,
): Promise<HttpError> {
  // First: whatever becomes of the body, the hints are there.
  const { status, statusText } = response;
  const headers = Object.fromEntries(
    keptHeaders.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const { bytes } = await readBody(response, { maxBytes: maxBodyBytes, signal, limit: { clock, ms: bodyMs } });
  const text = new TextDecoder().decode(bytes).replace(/(?<!\uFFFD)\uFFFD+$/, '');
  const said = redact({ body: parsed(text) ?? text, statusText });
  // Node's servers say this of a status without a name.
  const reason = /^(?:unknown)?$/i.test(said.statusText) ? '' : ` ${said.statusText}`;
  const words = `HTTP ${status}${reason}`;
  const line = lineOf(said.body);
  return new HttpError(line === '' ? words : `${words}: ${line}`, { status, headers, body: said.body });
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // A page of a proxy, or JSON that was cut.
    return undefined;
  }
}

/** Longest text of a body that goes into the message, in characters; hints and reasons stand at its beginning. */
const longestLine = 1000;

/** Returns what a body says for people: the error that it tells of, else its text or its JSON. */
function lineOf(body: unknown): string {
  const text = errorIn(body) ?? (typeof body === 'string' ? body : JSON.stringify(body));
  return oneLine(text === '{}' || text === '[]' ? '' : text);
}

/** The message of the error that a body tells of, in the forms that APIs use. */
export function errorLineOf(body: unknown): string {
  return oneLine(errorIn(body) ?? '');
}

function errorIn(body: unknown): string | undefined {
  const error = read(body, 'error');
  const first: unknown = read(read(body, 'errors'), '0');
  const texts = [
    readString(error, 'message'),
    error,
    readString(body, 'message'),
    readString(body, 'detail'),
    readString(body, 'error_description'),
    readString(first, 'message'),
    readString(body, 'title'),
  ];
  return texts.find((each): each is string => typeof each === 'string' && each !== '');
}

function oneLine(text: string): string {
  return withoutMarkup(text)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longestLine);
}

/** The words of a page, as proxies send them. */
function withoutMarkup(text: string): string {
  return /^\s*<(?:!doctype|html)/i.test(text) ? text.replaceAll(/<(style|script)[\s\S]*?<\/\1>|<[^<>]*>/gi, ' ') : text;
}

/** The same operation for answers that are read as streams: a response that is not ok is thrown, with the beginning of its body. */
export function refusedStream<I>(
  operation: Operation<I, unknown>,
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
): Operation<I, unknown> {
  const judged = async (answer: PromiseLike<unknown>, context: AttemptContext): Promise<unknown> => {
    const response = await answer;
    if (!isResponse(response) || response.ok) return response;
    const { signal } = context;
    throw await failureOf(response, { ...usualFailureLimits, signal, clock, redact: redactorOf(response.url) });
  };
  return (input, context) => {
    const answer = operation(input, context);
    // A value that is no response needs no turn of its own.
    return isThenable(answer) || isResponse(answer) ? judged(Promise.resolve(answer), context) : answer;
  };
}
