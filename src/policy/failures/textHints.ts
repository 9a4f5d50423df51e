import { clampHint, dateOf, type RetryHint } from './hints.ts';
import { resetMoment, waitUntil } from './resetTime.ts';

const unit = '(?:ms|milliseconds?|millis|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)';
const one = `(?:(?:\\d{1,9}(?:\\.\\d{1,9})? ?|an? |one )${unit}(?![a-z]))`;
const verbs =
  'try|retry(?:ing)?|resets?|wait|available|again|renews?|refresh(?:es)?|back ?off|come back|resumes?|expires?|cool(?:ing)? ?down|blocked';
const between =
  '(?:again|later|your|the|this|request|it|for|in|after|within|until|at least|about|approximately|around|another|please|then|time|window|delay|limit|quota|period|is|of|will|be|reset|up to)';
/** `try again in 6m0s`, `Please wait 43 seconds`, `available in 56s`. */
const waits = new RegExp(
  `\\b(?:${verbs})\\b(?:[ :=~,]{1,2}${between}\\b){0,6}[ :=~(]{1,3}(${one}(?:,? ?(?:and )?${one}){0,5})`,
  'i',
);
const part = new RegExp(`(\\d+(?:\\.\\d+)?|(?:\\ban?|\\bone)(?= )) ?(${unit})(?![a-z])`, 'gi');

/** Fields as they are printed: seconds to wait, milliseconds, and the second of the epoch at which a limit resets. */
const printedSeconds =
  /\b(?:resets?[-_]?(?:after|in)(?:[-_]?seconds)?|retry[-_ ]?after(?:[-_]?(?:seconds|secs?))?|retryDelay|wait[-_]?seconds)["']?(?: header)?(?: ?[:=] ?| of | is | (?=\d{1,6}(?:\.\d+)?["')]*[.,;]?(?:$|\s*\n)))["']?(\d{1,9}(?:\.\d{1,9})?)(?: ?(?:s|secs?|seconds?))?\b(?![:-]\d)/im;
const printedMs = /\b(?:retry[-_]?(?:after|in)[-_]?(?:ms|millis\w*))["']? ?[:=] ?["']?(\d{1,12})\b/i;
const printedEpoch =
  /(?:\b(?:resets?[-_]?at|retry[-_]?at|x-ratelimit-reset)["']? ?[:=] ?["']?|\blimit reached\|)(\d{10}|\d{13})\b/i;

/**
 * The hint in the text of an error: `try again in 1.2s`, `6m0s` or `20ms`, `wait 43 seconds`, `reset at 2026-11-21 10:00:00`,
 * `try again at 3:45 PM PST`, `resets 3pm (America/Bogota)`, `resets Nov 24, 1pm`, `resets Mon 9:00 AM`, `"resets_at": 1795255550`. Never throws.
 * @param wallNow - wall time in ms. A time without a zone is local time.
 */
export function textHint(text: string, wallNow: number): RetryHint {
  const retryAfterMs = waitIn(text) ?? untilIn(text, wallNow);
  return retryAfterMs === undefined || Number.isNaN(retryAfterMs) ? {} : { retryAfterMs: clampHint(retryAfterMs) };
}

function waitIn(text: string): number | undefined {
  const wait = waits.exec(text)?.[1];
  if (wait !== undefined) return durationMs(wait);
  const ms = printedMs.exec(text)?.[1];
  if (ms !== undefined) return Number(ms);
  const seconds = printedSeconds.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** `1h 5m`, `2 minutes and 5 seconds`, `an hour`, in ms. */
function durationMs(text: string): number {
  let ms = 0;
  for (const [, count = '', name = ''] of text.matchAll(part))
    ms += (/^\d/.test(count) ? Number(count) : 1) * unitMs(name);
  return ms;
}

function unitMs(name: string): number {
  if (/^(?:ms|milli)/i.test(name)) return 1;
  const first = name.charAt(0).toLowerCase();
  if (first === 'd') return 86_400_000;
  return first === 's' ? 1000 : first === 'm' ? 60_000 : 3_600_000;
}

function untilIn(text: string, wallNow: number): number | undefined {
  const epoch = printedEpoch.exec(text)?.[1];
  const moment = epoch === undefined ? resetMoment(text, wallNow) : inMs(Number(epoch));
  return moment === undefined ? undefined : waitUntil(moment, wallNow);
}

const inMs = (epoch: number): number => (epoch > 1e11 ? epoch : epoch * 1000);

/** Fields of bodies, by their names without case and separators. */
const msFields = /^(?:retry(?:after|in)(?:ms|millis(?:econds)?)|timetoreset|sublimittimeout)$/;
const secondsFields =
  /^(?:retry(?:after|in|delay)(?:seconds?|secs?|s)?|resets?(?:after|in)(?:seconds?|secs?|s)?|waitseconds)$/;
const momentFields =
  /^(?:resets?at|retryat|(?:x?rate)?limitreset(?:at|time)?|xratelimitreset|resettime|resetdate|reset|availableat)$/;

/**
 * The hint in the fields of a body, beside the message: `resets_in_seconds`, `retry_after`, `resets_at`, the `retryDelay` of Google's RetryInfo. Never
 * throws; what is negative or no time is no hint.
 */
export function fieldHint(fields: readonly (readonly [key: string, value: unknown])[], wallNow: number): RetryHint {
  const keys = fields.map(([key, value]) => [key.toLowerCase().replaceAll(/[^a-z]/g, ''), value] as const);
  // The numbers of discord.js are ms.
  const isInMs = keys.some(([key]) => key === 'sublimittimeout' || key === 'timetoreset');
  const waitMs = keys.map(([key, value]) => {
    if (msFields.test(key)) return key === 'timetoreset' || key === 'sublimittimeout' ? undefined : numberOf(value);
    if (!secondsFields.test(key)) return undefined;
    const count = numberOf(value) ?? ofProto(value);
    if (count !== undefined) return isInMs ? count : count * 1000;
    return typeof value === 'string' && new RegExp(`^${one}(?: ?${one}){0,5}$`, 'i').test(value)
      ? durationMs(value)
      : undefined;
  });
  const until = keys.map(([key, value]) => (momentFields.test(key) ? momentField(value, wallNow) : undefined));
  const resetMs = keys.map(([key, value]) => (key === 'timetoreset' ? numberOf(value) : undefined));
  const retryAfterMs = [...waitMs, ...resetMs, ...until].find((each) => each !== undefined && each >= 0);
  return retryAfterMs === undefined ? {} : { retryAfterMs: clampHint(retryAfterMs) };
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && /^\d{1,12}(?:\.\d{1,9})?$/.test(value) ? Number(value) : undefined;
}

/** A duration of protocol buffers as an object. */
function ofProto(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('seconds' in value)) return undefined;
  const { seconds, nanos = 0 } = value as { seconds: unknown; nanos?: unknown };
  const whole = numberOf(seconds);
  return whole === undefined ? undefined : whole + (numberOf(nanos) ?? 0) / 1e9;
}

function momentField(value: unknown, wallNow: number): number | undefined {
  const count = numberOf(value);
  const moment = count === undefined ? dateOf(String(value)) : count > 1e9 ? inMs(count) : undefined;
  return moment === undefined ? undefined : waitUntil(moment, wallNow);
}
