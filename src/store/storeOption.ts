import { boolean, either, type Given, section, text, type Values } from '../policy/options/optionKeys.ts';

const locationKeys = {
  /** SQLite file, or `':memory:'`. */
  path: text({ required: true }),
  /**
   * Makes it an error of `start()` when it cannot be had: no SQLite driver works, or the file cannot be used. `false`: what cannot be kept is kept in memory,
   * up to 10,000 rows, and that is told. A lock, and what happens after the start, never is an error. @defaultValue true
   */
  required: boolean({ default: true }),
};

/** A database that is named with what it is worth. */
export interface StoreLocation extends Given<typeof locationKeys> {}

type CheckedStore = Values<typeof locationKeys>;

/** The option of a store: its file, or that with what it is worth. */
export const storeKey = either<string | CheckedStore, { readonly default: ':memory:' }, string | StoreLocation>(
  [text(), section(locationKeys)],
  (value) => (typeof value === 'object' && value !== null ? 1 : 0),
  'a non-empty string',
  {
    default: ':memory:',
  },
);

/** The store that was read: required, unless it was said not to be or keeps nothing anyway. */
export function storeFrom(read: string | CheckedStore): CheckedStore {
  const { path, required } = typeof read === 'string' ? { path: read, required: true } : read;
  return { path, required: required && path !== ':memory:' };
}

const withoutFile = 'start without what it keeps: `store: { path, required: false }`';

/** A store that was named and cannot be had. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'UNWEDGE_STORE_UNAVAILABLE';
  /** Names the store, and what is wrong with it. */
  readonly reason: string;
  readonly fix: string;

  /** @param otherwise - what can be done in place of the fix. */
  constructor(reason: string, fix: string, cause?: unknown, otherwise: string = withoutFile) {
    super(`The \`store\` cannot be had: ${reason}. Fix: ${fix}. Or ${otherwise}`, { cause });
    this.reason = reason;
    this.fix = fix;
  }
}
