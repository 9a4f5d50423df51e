import { channel } from 'node:diagnostics_channel';
import type { AttemptContext } from '../../calls/operation.ts';
import type { TraceContext } from '../../calls/tracing.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failure.ts';
import { failureOf, usualFailureLimits } from './fetchFailure.ts';
import type { KeptConnections } from '../../streams/keptConnections.ts';
import { ownDispatcher } from '../../streams/ownDispatcher.ts';
import { type CheckedHttp, mostRedirects } from './httpOptions.ts';
import type { PreparedRequest } from './httpRequest.ts';
import { dropBody } from '../../streams/readBody.ts';
import { redactorOf } from '../../redaction/requestSecrets.ts';

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
export async function sendRequest(
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
