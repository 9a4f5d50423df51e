import { checkBoolean, checkKeys, checkName } from '../policy/options.ts';

/** A database that is named with what it is worth. */
export interface StoreLocation {
  /** SQLite file, or `':memory:'`. */
  readonly path: string;
  /**
   * Whether it is an error of `start()` when it cannot be had: no SQLite driver works, or the file cannot be used. `false`: what cannot be
   * kept is kept in memory, up to 10,000 rows, and that is told. A lock, and what happens after the start, never is an error. @defaultValue true
   */
  readonly required?: boolean | undefined;
}

interface CheckedStore {
  readonly path: string;
  readonly required: boolean;
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkStore(name: string, given: string | StoreLocation): CheckedStore {
  if (typeof given !== 'object' || given === null)
    return { path: checkName(name, given), required: given !== ':memory:' };
  checkKeys(name, given, ['path', 'required']);
  const path = checkName(`${name}.path`, given.path);
  return { path, required: checkBoolean(`${name}.required`, given.required ?? true) && path !== ':memory:' };
}

/** A store that was named and cannot be had. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'UNWEDGE_STORE_UNAVAILABLE';

  constructor(reason: string, fix: string, cause?: unknown) {
    super(
      `The \`store\` cannot be had: ${reason}. Fix: ${fix}. Or start without what it keeps: \`store: { path, required: false }\``,
      { cause },
    );
  }
}
