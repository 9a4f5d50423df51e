/** What the other side said about calling again. */
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

const unit = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)';
const duration = `(?:\\d+(?:\\.\\d+)? ?${unit}(?![a-z]))`;
const durations = new RegExp(
  `\\b(?:try again|retry|retrying|resets?) (?:in|after) (${duration}(?:,? ?(?:and )?${duration})*)`,
  'i',
);
const part = new RegExp(`(\\d+(?:\\.\\d+)?) ?(${unit})`, 'gi');

/** Fields of bodies: seconds to wait, or the second of the epoch at which a limit resets. */
const seconds = /\b(?:resets?_(?:after|in)_seconds|retry_after)"? ?[:=] ?(\d{1,9}(?:\.\d+)?)\b/i;
const epoch = /(?:\b(?:resets?_at|resetsAt)"? ?[:=] ?|\blimit reached\|)(\d{10})\b/i;

const at = '\\b(?:resets?(?: at)?|try again at) ';
const isoTime = new RegExp(`${at}(\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d(?::\\d\\d)?(?:Z|[+-]\\d\\d:?\\d\\d)?)`, 'i');
const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const weekday = '(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)';
const timeOfDay = new RegExp(
  `${at}(?:(${weekday})[a-z]*,? (?:at )?|(${month} \\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?(?:,| at)? )?` +
    '(1[0-2]|0?[1-9])(?::([0-5]\\d))? ?(am|pm)\\b',
  'i',
);

/**
 * The hint in the text of an error: `try again in 1.2s`, `6m0s` or `20ms`, `retry after 5 seconds`, `reset at 2026-11-21 10:00:00`,
 * `try again at 3:45 PM`, `resets 3pm`, `resets Nov 24, 1pm`, `resets Mon 9:00 AM`, `"resets_at": 1795255550`. Never throws.
 * @param wallNow - wall time in ms. A time without a zone is local time.
 */
export function textHint(text: string, wallNow: number): RetryHint {
  const retryAfterMs = waitIn(text) ?? momentIn(text, wallNow);
  return retryAfterMs === undefined || Number.isNaN(retryAfterMs) ? {} : { retryAfterMs: clampHint(retryAfterMs) };
}

function waitIn(text: string): number | undefined {
  const wait = durations.exec(text)?.[1];
  if (wait !== undefined) {
    let ms = 0;
    for (const [, count, name = ''] of wait.matchAll(part)) ms += Number(count) * unitMs(name);
    return ms;
  }
  const field = seconds.exec(text)?.[1];
  return field === undefined ? undefined : Number(field) * 1000;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function unitMs(name: string): number {
  if (/^(?:ms|milli)/i.test(name)) return 1;
  const first = name.charAt(0).toLowerCase();
  if (first === 'd') return dayMs;
  return first === 's' ? 1000 : first === 'm' ? 60_000 : hourMs;
}

function momentIn(text: string, wallNow: number): number | undefined {
  const second = epoch.exec(text)?.[1];
  if (second !== undefined) return Number(second) * 1000 - wallNow;
  const iso = isoTime.exec(text)?.[1];
  if (iso !== undefined) return Date.parse(iso.replace(' ', 'T')) - wallNow;
  const clock = timeOfDay.exec(text);
  return clock === null ? undefined : onTheClock(clock, wallNow) - wallNow;
}

function onTheClock([, weekday, day, year, hour, minute, half]: RegExpExecArray, wallNow: number): number {
  const date = new Date(wallNow);
  if (day !== undefined) date.setTime(new Date(`${day} ${year ?? date.getFullYear()}`).getTime());
  date.setHours((Number(hour) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0), Number(minute ?? 0), 0, 0);
  if (weekday !== undefined)
    date.setDate(date.getDate() + ((weekdays.indexOf(weekday.toLowerCase()) - date.getDay() + 7) % 7));
  // A time that passed less than an hour ago is over; one that passed earlier is the next of its kind.
  if (year !== undefined || date.getTime() > wallNow - hourMs) return date.getTime();
  if (day !== undefined) date.setFullYear(date.getFullYear() + 1);
  else date.setDate(date.getDate() + (weekday === undefined ? 1 : 7));
  return date.getTime();
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
