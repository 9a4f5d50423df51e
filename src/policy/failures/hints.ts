/** Hint of the other side about calling again. */
export interface RetryHint {
  /** Not before this many ms from now; 0 means now. */
  readonly retryAfterMs?: number | undefined;
  /** `x-should-retry`: wins over what the status says. */
  readonly shouldRetry?: boolean | undefined;
}

/** Headers as fetch, Node and the SDKs give them: with a `get`, or as a record whose names may be in any case. */
export type HeaderSource =
  | { readonly get: (name: string) => string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Longest hint that is believed: 7 days, in ms. */
const longestHintMs = 7 * 24 * 3_600_000;

/**
 * The hint in the headers of a response: `retry-after-ms`, then `retry-after` (decimal seconds, or a date that is read against
 * the response's own `date`), and `x-should-retry`. What is negative, no number or no date is no hint. Never throws.
 * @param wallNow - wall time in ms, for dates where the response has none of its own.
 */
export function headerHint(headers: HeaderSource, wallNow: number): RetryHint {
  const should = header(headers, 'x-should-retry');
  const retryAfterMs =
    decimal(header(headers, 'retry-after-ms'), 1) ??
    decimal(header(headers, 'retry-after'), 1000) ??
    fromDate(header(headers, 'retry-after'), dateOf(header(headers, 'date')) ?? wallNow);
  return { retryAfterMs, shouldRetry: should === 'true' ? true : should === 'false' ? false : undefined };
}

/** The value of a header, trimmed; of several the first. Never throws. @param name - in lower case. */
export function header(headers: HeaderSource, name: string): string | undefined {
  try {
    const value = typeof headers.get === 'function' ? headers.get(name) : ofRecord(headers, name);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'string' || typeof first === 'number' ? String(first).trim() : undefined;
  } catch {
    // A response of somebody else's that cannot be read gives no hint.
    return undefined;
  }
}

function ofRecord(headers: HeaderSource, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function decimal(text: string | undefined, unitMs: number): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? clampHint(Number(text) * unitMs) : undefined;
}

/** The three forms of RFC 9110 and ISO 8601, by shape: `Date.parse` alone takes `0` for the year 2000 and `soon 5` for May. */
const dates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/,
];

/** The wall time in ms of a date in a header; undefined where it is none. */
export function dateOf(text: string | undefined): number | undefined {
  if (text === undefined || !dates.some((shape) => shape.test(text))) return undefined;
  // Only asctime ends with its year; it has no zone, and means UTC.
  const time = Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(time) ? undefined : time;
}

function fromDate(text: string | undefined, now: number): number | undefined {
  const time = dateOf(text);
  return time === undefined ? undefined : clampHint(time - now);
}

/** A hint in the past means now. */
export function clampHint(ms: number): number {
  return Math.min(Math.max(0, ms), longestHintMs);
}

/**
 * Tells when a limit that is used up is full again, by the header that says so (`x-ratelimit-reset`, `ratelimit-reset`, `x-ratelimit-reset-after`): the
 * second of the epoch, its ms, or seconds from now. Undefined where some is left, or that time has passed.
 */
export function resetHint(headers: HeaderSource, wallNow: number): number | undefined {
  const left = header(headers, 'x-ratelimit-remaining') ?? header(headers, 'ratelimit-remaining');
  if (left !== undefined && Number(left) > 0) return undefined;
  const after = decimal(header(headers, 'x-ratelimit-reset-after'), 1000);
  if (after !== undefined) return after;
  const reset = header(headers, 'x-ratelimit-reset') ?? header(headers, 'ratelimit-reset') ?? '';
  const now = dateOf(header(headers, 'date')) ?? wallNow;
  const date = dateOf(reset);
  const waitMs =
    date === undefined && /^\d{1,16}(?:\.\d+)?$/.test(reset)
      ? waitUntilReset(Number(reset), now)
      : (date ?? Number.NaN) - now;
  return waitMs > 0 ? clampHint(waitMs) : undefined;
}

/** The wait that a number of seconds from now, a second of the epoch or a millisecond of it stands for, in ms. */
export function waitUntilReset(value: number, now: number): number {
  if (value > 1e12) return value - now;
  return value > 1e9 ? value * 1000 - now : value * 1000;
}
