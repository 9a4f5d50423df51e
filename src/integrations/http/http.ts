import { channel } from 'node:diagnostics_channel';
import { lateModule } from '../../actors/process/lateModule.ts';
import type { Call } from '../../calls/call.ts';
import type { CallPath } from '../../calls/callPath.ts';
import { costsSaidBy, ratePartsOf } from '../../calls/rates/integrationRates.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import type { TraceContext } from '../../calls/tracing.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { ownHeaderValues, redactorOf, variablesOf } from '../../redaction/requestSecrets.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';
import { KeptConnections } from '../../streams/keptConnections.ts';
import { ownDispatcher } from '../../streams/ownDispatcher.ts';
import { dropBody, readBody } from '../../streams/readBody.ts';
import { failureOf, usualFailureLimits } from './fetchFailure.ts';
import type { StreamedBy } from './httpIntegration.ts';
import {
  type CheckedHttp,
  checkHttpOptions,
  type HttpAnswer,
  type HttpBodies,
  type HttpOptions,
  type HttpParse,
  mostRedirects,
} from './httpOptions.ts';
import { type HttpRequest, type PreparedRequest, prepareRequest, serverOf } from './httpRequest.ts';

const readStreamModule = lateModule(() => import('./readStream.ts'));

/** An HTTP API: where its calls go, and what answers those whose answer is read as it comes. */
interface SupervisedHttp<P extends HttpParse> {
  readonly path: CallPath<HttpRequest, HttpAnswer<P>>;
  readonly streamedBy: StreamedBy;
}

/**
 * An HTTP API as an integration. Sending ends with the headers of the answer, reading with its body: both within the attempt, so that its
 * limits end either, and with it the connection.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseHttp<P extends HttpParse>(
  runtime: Runtime,
  name: string,
  given: HttpOptions<P>,
): SupervisedHttp<P> {
  const options = checkHttpOptions(name, given);
  const { baseUrl, headers = {} } = options;
  const { spent, ...limits } = options.rate ?? {};
  const rate = ratePartsOf(options.policy, options.rate && limits, {});
  const policy = runtime.policies.policyOf(name, rate.policy, 'sdk');
  const own = Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  // Values of single calls are taken out of their own failures: so many would push those of the environment out.
  for (const variables of variablesOf(baseUrl, own)) runtime.secrets.learn(variables);
  runtime.secrets.learnValues(ownHeaderValues(own));
  const kept = new KeptConnections();
  const sending = { options, clock: runtime.clock, kept };

  const streamedBy: StreamedBy = (reading) => async (request, context) => {
    // The parser of events is loaded with the first stream.
    const { asksForStream, readStream } = await readStreamModule();
    const prepared = prepareRequest(name, request, options);
    asksForStream(prepared, reading);
    const repeats = (characters: number): void => {
      const { number, settings } = context.call as Call<HttpRequest, unknown>;
      const { label, session } = settings;
      const about = { integration: name, call: `${name}-${number}`, label, session };
      runtime.bus.tell({ type: 'call.repeats_itself', ...about, characters });
    };
    return readStream(
      await sendRequest(prepared, sending, context),
      prepared,
      reading,
      { ...sending, repeats },
      context,
    );
  };

  const path = superviseIntegration(runtime, {
    name,
    about: { type: 'http', server: serverOf(baseUrl) },
    policy,
    shares: 'circuit',
    rate: { ...rate.functions, settles: spent !== undefined || options.events?.spent !== undefined },
    operation: async (request: HttpRequest, context) => {
      const prepared = prepareRequest(name, request, options);
      const response = await sendRequest(prepared, sending, context);
      const answer = (await readAnswer(response, prepared.method, options, context)) as HttpAnswer<P>;
      if (spent !== undefined) context.spent(costsSaidBy(() => spent(answer as never)));
      return answer;
    },
    streamed: streamedBy({}),
    onStop: () => kept.close(),
  });
  return { path, streamedBy };
}

/**
 * Reads an answer to its end; each chunk is a sign of life.
 * @param method - of the request; the answer to a `HEAD` has no body.
 * @throws {@link AttemptError} when the body is too long or no JSON; what its connection broke with.
 */
async function readAnswer(
  response: Response,
  method: string,
  { parse, maxBodyBytes }: Pick<CheckedHttp, 'parse' | 'maxBodyBytes'>,
  { signal, touch }: Pick<AttemptContext, 'signal' | 'touch'>,
): Promise<HttpAnswer<HttpParse>> {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  if (parse === 'response') return { status, headers, body: response };
  const isEncoded = response.headers.has('content-encoding');
  if (!isEncoded && method !== 'HEAD' && Number(response.headers.get('content-length')) > maxBodyBytes) {
    dropBody(response);
    throw tooLong(status, maxBodyBytes);
  }
  const { bytes, end, error } = await readBody(response, { maxBytes: maxBodyBytes, signal, heard: touch });
  if (end === 'stopped') throw signal.reason;
  if (end === 'broken') throw error;
  if (end === 'full') throw tooLong(status, maxBodyBytes);
  return { status, headers, body: bodyOf(response, method, parse, bytes) };
}

function bodyOf(
  { status, headers }: Response,
  method: string,
  parse: Exclude<HttpParse, 'response'>,
  bytes: Uint8Array<ArrayBuffer>,
): HttpBodies[HttpParse] {
  if (parse === 'bytes') return bytes;
  const text = new TextDecoder().decode(bytes);
  if (parse === 'text') return text;
  const hasNone = method === 'HEAD' || [204, 205, 304].includes(status) || headers.get('content-length') === '0';
  if (text === '' && hasNone) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Errors of JSON.parse quote the body, which is not ours to show.
    const type = headers.get('content-type')?.slice(0, 100) ?? 'no content-type';
    const message = `HTTP ${status}: expected JSON, got ${bytes.byteLength} bytes that are none (${type})`;
    throw new AttemptError({ kind: 'protocol', message, outcome: 'unknown', status });
  }
}

/** It was carried out; what came of it is not known. */
function tooLong(status: number, maxBodyBytes: number): AttemptError {
  const message = `HTTP ${status}: the body is longer than ${maxBodyBytes} bytes`;
  return new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown', status });
}

/** Settings for sending requests of one integration. */
interface Sending {
  readonly options: Pick<CheckedHttp, 'fetch' | 'redirect'>;
  readonly clock: Clock;
  readonly kept: KeptConnections;
}

/**
 * Sends a request; the answer comes with its headers, its body unread. Redirects are followed within the origin.
 * @throws {@link HttpError} when the answer is a failure (400 and above), whose body is not left open; an AttemptError for a redirect that is not
 * followed; what `fetch` rejects with, without the secrets of the request.
 */
async function sendRequest(
  request: PreparedRequest,
  { options, clock, kept }: Sending,
  { signal, touch, rateLimit, traceContext }: Pick<AttemptContext, 'signal' | 'touch' | 'rateLimit' | 'traceContext'>,
): Promise<Response> {
  const { fetch: send = globalThis.fetch, redirect } = options;
  // A caller who gives a `fetch` of his own decides on its limits too.
  const limits = options.fetch === undefined ? ownDispatcher(kept) : {};
  carryTrace(request.headers, traceContext, options.fetch === undefined);
  let next = request;
  for (let redirects = 0; ; redirects++) {
    const { url, method, headers, body } = next;
    const init = { method, headers, body: body ?? null, signal, redirect: 'manual' as const, ...limits };
    let response: Response;
    try {
      response = await send(url, init);
    } catch (error) {
      throw redactorOf(url.href, headers, body)({ error }).error;
    }
    touch();
    rateLimit(response.headers);
    if (response.status >= 400) {
      throw await failureOf(response, {
        ...usualFailureLimits,
        signal,
        clock,
        redact: redactorOf(url.href, headers, body),
      });
    }
    if (signal.aborted) {
      // A `fetch` of somebody else's that does not listen to signals: nobody waits for its answer any more.
      dropBody(response);
      throw signal.reason;
    }
    const location = redirectOf(response);
    if (location === null || redirect === 'manual') return response;
    dropBody(response);
    if (redirect === 'error') throw notFollowed(response, 'redirects are not');
    if (redirects >= mostRedirects) throw notFollowed(response, `there were ${mostRedirects} before it`);
    next = followed(next, response, location);
  }
}

/** Tells where a response sends its reader. */
function redirectOf(response: Response): string | null {
  return [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get('location') : null;
}

/** The request that a redirect asks for. */
function followed(request: PreparedRequest, response: Response, location: string): PreparedRequest {
  const { status } = response;
  const { origin, href } = request.url;
  if (!URL.canParse(location, href)) throw notFollowed(response, 'its address is none');
  const url = new URL(location, href);
  // The headers of the integration are for its API alone; `fetch` would hand most of them on.
  if (url.origin !== origin) throw notFollowed(response, `it leads away from ${origin}, to ${url.origin}`);
  const { method } = request;
  const asksAnew = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  if (!asksAnew) return { ...request, url };
  const headers = new Headers([...request.headers].filter(([name]) => !name.startsWith('content-')));
  return { url, method: 'GET', headers, body: undefined };
}

function notFollowed({ status }: Response, why: string): AttemptError {
  const message = `HTTP ${status}: the redirect was not followed: ${why}`;
  return new AttemptError({ kind: 'permanent', message, outcome: 'failed', status });
}

/** Channel of those who instrument the `fetch` of Node and give each request a trace context of their own: two of them would be none. */
const instrumented = channel('undici:request:create');

/** Keeps what the caller says of the trace itself: it is meant. */
function carryTrace(headers: Headers, traceContext: TraceContext | undefined, isNodes: boolean): void {
  if (traceContext === undefined || (isNodes && instrumented.hasSubscribers)) return;
  for (const [name, value] of Object.entries(traceContext)) if (!headers.has(name)) headers.set(name, value);
}
