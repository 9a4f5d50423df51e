import type { Duration } from './duration.ts';
import { duration, integer, type KeysOf, orOff, section } from './optionKeys.ts';
import { readValue } from './readOptions.ts';

/** Limits on how long records are kept, and how much of them. */
export interface RetentionOptions {
  /** Age at which records are deleted, in ms, above 0. @defaultValue 30 days */
  readonly maxAgeMs?: Duration | undefined;
  /** Bytes in use by a database of our own beyond which the oldest records are deleted, at least 1 MB. @defaultValue 1 GB */
  readonly maxBytes?: number | undefined;
}

export type Retention = Readonly<Record<keyof RetentionOptions, number>>;

/** The option that bounds the records; `false` keeps everything. */
export const retentionKey = orOff(
  section({
    maxAgeMs: duration({ default: 30 * 24 * 60 * 60_000, help: 'Age at which records are deleted.' }),
    maxBytes: integer({
      min: 1_000_000,
      unit: 'bytes',
      default: 1_000_000_000,
      help: 'Size of the database beyond which the oldest records are deleted.',
    }),
  } satisfies KeysOf<RetentionOptions>),
  { default: {}, help: 'How long records are kept, and how much of them; `false` keeps everything.' },
);

/** The bounds with their defaults; undefined for `false`, which keeps everything. @throws TypeError or RangeError that names the option. */
export function checkRetention(name: string, options?: RetentionOptions | false): Retention | undefined {
  return readValue(name, options, retentionKey) || undefined;
}
