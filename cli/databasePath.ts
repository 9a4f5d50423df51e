import { messageOf } from '../src/policy/failures/face.ts';
import { type Environment, storePath, storePlace } from '../src/store/face.ts';
import { UsageError } from './errors.ts';

/** The file that `--db` or the environment names, or the usual one. @throws {@link UsageError} when it is none. */
export function databasePath(db: string | undefined, env: Environment): string {
  try {
    return storePath(db, env);
  } catch (error) {
    throw new UsageError(`${messageOf(error)} with --db FILE or UNWEDGE_DB`, { cause: error });
  }
}

/** The same, or the URL of a PostgreSQL database, with its password: nothing tells it. @throws {@link UsageError} when it is none. */
export function databasePlace(db: string | undefined, env: Environment): string {
  try {
    return storePlace(db, env);
  } catch (error) {
    throw new UsageError(`${messageOf(error)} with --db or UNWEDGE_DB`, { cause: error });
  }
}
