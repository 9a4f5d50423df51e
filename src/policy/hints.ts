/** What the other side said about calling again. */
export interface RetryHint {
  /** Not before this many ms from now; 0 means now. */
  readonly retryAfterMs?: number | undefined;
  /** `x-should-retry`: wins over what the status says. */
  readonly shouldRetry?: boolean | undefined;
}

/** Headers as fetch, Node and the SDKs give them. */
export type HeaderSource =
  | { readonly get: (name: string) => string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Longest hint that is believed: 7 days, in ms. */
const longestMs = 7 * 24 * 3_600_000;

/**
 * The hint in the headers of a response: `retry-after-ms`, then `retry-after` (decimal seconds, or a date that is read against
 * the response's own `date`), and `x-should-retry`.
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

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The hint in the text of an error: `try again in 1.2s`, `retry after 5 seconds`, `reset at …`, `try again at 3:45 PM`. */
export function textHint(text: string, wallNow: number): RetryHint {
  const within = /(?:try again|retry|retrying|reset(?:s)?) (?:in|after) ((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)\b\s*)+)/i.exec(
    text,
  )?.[1];
  if (within !== undefined) return { retryAfterMs: clamp(compound(within)) };
  const counted = /(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(seconds?|minutes?|hours?)/i.exec(text);
  if (counted !== null) {
    const unit = counted[2]?.toLowerCase().charAt(0) ?? 's';
    return { retryAfterMs: clamp(Number(counted[1]) * (units[unit] ?? 1000)) };
  }
  const at = /(?:reset(?:s)?(?: at)?|try again at) (\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)/i.exec(
    text,
  )?.[1];
  if (at !== undefined) return { retryAfterMs: until(Date.parse(at.replace(' ', 'T')), wallNow) };
  const clock =
    /(?:reset(?:s)?(?: at)?|try again at) (?:(\w{3} \d{1,2})(?:st|nd|rd|th)?,? (\d{4}) )?(\d{1,2})(?::(\d\d))? ?(am|pm)\b/i.exec(
      text,
    );
  return clock === null ? {} : { retryAfterMs: until(wallClock(clock, wallNow), wallNow) };
}

function header(headers: HeaderSource, name: string): string | undefined {
  try {
    if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
    for (const [key, value] of Object.entries(headers)) {
      if (key.toLowerCase() !== name) continue;
      return Array.isArray(value) ? String(value[0]) : (value as string | undefined);
    }
  } catch {
    // A response of somebody else's that cannot be read gives no hint.
  }
  return undefined;
}

function decimal(text: string | undefined, unitMs: number): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? clamp(Number(text) * unitMs) : undefined;
}

/** Only the shapes of HTTP dates and ISO times: `Date.parse` alone takes `0` for the year 2000. */
function dateOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:[A-Z][a-z]{2,8},? |\d{4}-\d\d-\d\dT)/.test(text)) return undefined;
  const time = Date.parse(/^\d{4}|GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

function fromDate(text: string | undefined, now: number): number | undefined {
  const time = dateOf(text);
  return time === undefined ? undefined : clamp(time - now);
}

function compound(text: string): number {
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h)/gi)) {
    ms += Number(count) * (units[unit?.toLowerCase() ?? ''] ?? 0);
  }
  return ms;
}

/** A time of day without a zone is local time; one that has passed is meant for tomorrow. */
function wallClock([, day, year, hour, minute, half]: RegExpExecArray, wallNow: number): number {
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0);
  const date = day === undefined ? new Date(wallNow) : new Date(`${day} ${year}`);
  date.setHours(hours, Number(minute ?? 0), 0, 0);
  return day === undefined && date.getTime() < wallNow ? date.getTime() + 24 * 3_600_000 : date.getTime();
}

function until(time: number, wallNow: number): number | undefined {
  return Number.isNaN(time) ? undefined : clamp(time - wallNow);
}

function clamp(ms: number): number {
  return Math.min(Math.max(0, ms), longestMs);
}
