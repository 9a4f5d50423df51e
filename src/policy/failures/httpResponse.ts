import type { Failure, FailureKind } from './failure.ts';

/** Status and headers of an HTTP response, as `new Response(body, …)` takes them. */
export interface FailureResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Status of a failure behind a host, for the host's own client. A client that cannot do anything about it gets a 5xx. */
const statuses: { readonly [K in FailureKind]: number } = {
  transient: 502,
  overloaded: 503,
  rate_limit: 503,
  quota: 503,
  timeout: 504,
  crash: 502,
  protocol: 502,
  spawn: 500,
  // It is the host whose key was refused, not its client's.
  auth: 502,
  permanent: 422,
  unknown: 500,
  cancelled: 499,
  watchdog: 504,
  circuit_open: 503,
  too_many_requests: 503,
  unavailable: 503,
  // Loop detected: no client repeats it by itself.
  spinning: 508,
};

/** Statuses of a permanent failure that tell the client the same as they told us. */
const passedOn: ReadonlySet<number> = new Set([400, 404, 405, 409, 410, 413, 415, 422]);

/**
 * Tells how an HTTP host answers a request that ended in this failure: 503 where trying again later helps (circuit open, rate limit, overloaded, quota, no
 * place, not there), 504 for what took too long, 502 for what broke behind the host, 4xx for what is wrong with the request, 499 when the caller went away,
 * else 500. With `retry-after`, in whole seconds rounded up, where it is known when.
 *
 * @example
 * const outcome = await search.call(query);
 * return outcome.ok ? Response.json(outcome.value) : new Response(outcome.failure.message, httpResponseOf(outcome.failure));
 */
export function httpResponseOf(failure: Failure): FailureResponse {
  const { retryAfterMs } = failure;
  return {
    status: statusOf(failure),
    headers: retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
  };
}

function statusOf({ kind, reason, status }: Failure): number {
  if (kind === 'permanent' && status !== undefined && passedOn.has(status)) return status;
  // The host ends; its successor will answer.
  return reason === 'stopped' ? 503 : statuses[kind];
}
