import { duration, integer, type Given, orOff, section, type Values } from './options/optionKeys.ts';
import { readValue } from './options/readOptions.ts';

const retentionKeys = {
  /** Age at which records are deleted, in ms, above 0. @defaultValue 30 days */
  maxAgeMs: duration({ default: 30 * 24 * 60 * 60_000, help: 'Age at which records are deleted.' }),
  /** Bytes in use by a database of our own beyond which the oldest records are deleted, at least 1 MB. @defaultValue 1 GB */
  maxBytes: integer({
    min: 1_000_000,
    unit: 'bytes',
    default: 1_000_000_000,
    help: 'Size of the database beyond which the oldest records are deleted.',
  }),
};

/** Limits on how long records are kept, and how much of them. */
export interface RetentionOptions extends Given<typeof retentionKeys> {}

export type Retention = Values<typeof retentionKeys>;

/** The option that bounds the records; `false` keeps everything. */
export const retentionKey = orOff(section(retentionKeys, { given: {} as RetentionOptions }), {
  default: {},
  help: 'How long records are kept, and how much of them; `false` keeps everything.',
});

/** The bounds with their defaults; undefined for `false`, which keeps everything. @throws TypeError or RangeError that names the option. */
export function checkRetention(name: string, options?: RetentionOptions | false): Retention | undefined {
  return readValue(name, options, retentionKey) || undefined;
}
