/** A duration as people write it: `500ms`, `30s`, `5m`, `1.5h`, `7d`. */
export type DurationText = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** A duration as every option takes it: a number of ms, or a text. */
export type Duration = number | DurationText;

/** The word for no limit; JSON has no number for it. */
export const infinity = 'infinity';

/** A limit that can be switched off, with `Infinity` or the word. */
export type DurationLimit = Duration | typeof infinity;

/** Form that a text has to have, bounded so that it stays an exact number of ms. */
export const durationPattern = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/;

export const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The ms that a text says; undefined for one that is no duration. */
export function msIn(text: string): number | undefined {
  const [, count, unit = ''] = durationPattern.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitsMs[unit] ?? Number.NaN);
}

/** A duration for people, `250ms`, `1.5s`, `5m30s`, `2h5m` or, from two days on, `3d4h`: the two largest units at most; below 0 counts as 0. */
export function formatDuration(ms: number): string {
  if (Number.isNaN(ms)) return 'an unknown time';
  if (ms === Number.POSITIVE_INFINITY) return 'for ever';
  // Each bound is where rounding would reach the next unit.
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 59_950) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  if (hours >= 48) return hours % 24 === 0 ? `${hours / 24}d` : `${Math.floor(hours / 24)}d${hours % 24}h`;
  if (hours > 0) return minutes === 0 ? `${hours}h` : `${hours}h${minutes}m`;
  return rest === 0 ? `${minutes}m` : `${minutes}m${rest}s`;
}

/** A duration for people in whole seconds, begun ones as whole: what is left, or how long ago. Below 0 counts as 0. */
export function formatSeconds(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return seconds === 0 ? '0s' : formatDuration(seconds * 1000);
}

/** Writes how long a call took, in two or three digits, as what is right to 6 % deserves: `96ms`, `2.1s`, `12s`. */
export function formatLatency(ms: number): string {
  if (ms < 1) return '<1ms';
  return formatDuration(ms < 10_000 ? (ms < 1000 ? ms : Math.round(ms / 100) * 100) : Math.round(ms / 1000) * 1000);
}

/** A limit as the systems write it whose texts are kept (S-2, W-3): in whole seconds (`300s`), or in ms where it has a fraction of one (`1500ms`). */
export function limitText(ms: number): string {
  return ms >= 1000 && ms % 1000 === 0 ? `${ms / 1000}s` : `${Math.round(ms)}ms`;
}

/** Names of fields that hold a duration or a time in ms. */
const namesMs = /(?:^ms|Ms|_ms)$/;

/** A field as it is written for others: a time in ms is a whole number. Fits `JSON.stringify` as a replacer. */
export function wholeMs(name: string, value: unknown): unknown {
  return typeof value === 'number' && namesMs.test(name) ? Math.round(value) : value;
}

/** Plain data with all times in ms whole, however deep they stand. */
export function inWholeMs<T>(data: T): T {
  const cleaned = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => cleaned(each, ''));
    if (typeof value !== 'object' || value === null) return wholeMs(name, value);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each, key)]));
  };
  return cleaned(data, '') as T;
}

const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A duration as it may be written in a configuration, and exact: `720h`, `90s`, `1500ms`, `infinity`. */
export function durationText(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return infinity;
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
