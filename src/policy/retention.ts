import { checkDuration, checkInteger, checkKeys } from './options.ts';

/** How long records are kept, and how much of them. */
export interface RetentionOptions {
  /** Age at which records are deleted, in ms, above 0. @defaultValue 30 days */
  readonly maxAgeMs?: number | undefined;
  /** Bytes in use by a database of our own beyond which the oldest records are deleted, at least 1 MB. @defaultValue 1 GB */
  readonly maxBytes?: number | undefined;
}

export type Retention = Readonly<Record<keyof RetentionOptions, number>>;

const leastBytes = 1_000_000;

/** The bounds with their defaults; undefined for `false`, which keeps everything. @throws TypeError or RangeError that names the option. */
export function checkRetention(name: string, options: RetentionOptions | false = {}): Retention | undefined {
  if (options === false) return undefined;
  checkKeys(name, options, ['maxAgeMs', 'maxBytes']);
  const { maxAgeMs = 30 * 24 * 60 * 60_000, maxBytes = 1_000_000_000 } = options;
  return {
    maxAgeMs: checkDuration(`${name}.maxAgeMs`, maxAgeMs),
    maxBytes: checkInteger(`${name}.maxBytes`, maxBytes, leastBytes),
  };
}
