import { messageOf } from '../policy/thrown.ts';
import { type Environment, storePath } from '../store/paths.ts';
import { UsageError } from './errors.ts';

/** The file that `--db` or the environment names, or the usual one. @throws {@link UsageError} when it is none. */
export function databasePath(db: string | undefined, env: Environment): string {
  try {
    return storePath(db, env);
  } catch (error) {
    throw new UsageError(`${messageOf(error)} with --db FILE or UNWEDGE_DB`, { cause: error });
  }
}
