import { formatDuration } from '../src/policy/duration.ts';

/** Wall time as `2026-11-21 10:29:44.123`, in the time zone of the reader. */
export function localTime(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const digits = (value: number, count = 2) => String(value).padStart(count, '0');
  const day = `${digits(date.getFullYear(), 4)}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
  const time = `${digits(date.getHours())}:${digits(date.getMinutes())}:${digits(date.getSeconds())}`;
  return `${day} ${time}.${digits(date.getMilliseconds(), 3)}`;
}

/** Formats the time since then, in words that stay short: `12s ago`. */
export function ago(at: number, now: number): string {
  return now - at < 1000 ? 'now' : `${formatDuration(Math.floor((now - at) / 1000) * 1000)} ago`;
}
