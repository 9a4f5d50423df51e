import { dirname, isAbsolute, join, resolve } from 'node:path';
import { checkName } from '../policy/options/options.ts';
import { isPostgresUrl, shownUrl } from '../policy/text/postgresUrl.ts';

/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Gives the path of the database: the option, else `UNWEDGE_DB`, else `unwedge/unwedge.sqlite` in the XDG state directory. Absolute, or `:memory:`.
 * @throws TypeError or RangeError when the option is no non-empty string, or the URL of a PostgreSQL database.
 */
export function storePath(option: string | undefined, env: Environment): string {
  const chosen = chosenPlace(option, env);
  if (chosen !== undefined && isPostgresUrl(chosen)) {
    throw new RangeError(
      `${shownUrl(chosen)} is a PostgreSQL database, for gateways and for what reads of them alone. Name a file`,
    );
  }
  if (chosen === ':memory:') return chosen;
  return chosen === undefined ? join(stateDirectory(env), 'unwedge', 'unwedge.sqlite') : resolve(chosen);
}

/** The same, or the URL of a PostgreSQL database as it was given. @throws TypeError or RangeError when the option is no non-empty string. */
export function storePlace(option: string | undefined, env: Environment): string {
  const chosen = chosenPlace(option, env);
  return chosen !== undefined && isPostgresUrl(chosen) ? chosen : storePath(chosen, env);
}

function chosenPlace(option: string | undefined, env: Environment): string | undefined {
  return option === undefined ? env['UNWEDGE_DB'] || undefined : checkName('path', option);
}

/** Names the directory of sign-ins to remote MCP servers: beside the database that `UNWEDGE_DB` names, else in the XDG state directory. */
export function signInDirectory(env: Environment): string {
  const path = storePlace(undefined, env);
  return join(
    path === ':memory:' || isPostgresUrl(path) ? join(stateDirectory(env), 'unwedge') : dirname(path),
    'sign-ins',
  );
}

/** Names the directory of large results: beside a database in a file, else beside the sign-ins. */
export function resultsDirectory(store: string, env: Environment): string {
  const isFile = store !== ':memory:' && !isPostgresUrl(store);
  return join(dirname(isFile ? store : signInDirectory(env)), 'results');
}

/** Gives the place of the record and the backups of `unwedge install`: in the XDG state directory. */
export function installDirectory(env: Environment): string {
  return join(stateDirectory(env), 'unwedge', 'install');
}

// The XDG base directory specification has a relative value ignored.
function stateDirectory(env: Environment): string {
  const state = env['XDG_STATE_HOME'];
  if (state !== undefined && isAbsolute(state)) return state;
  return join(env['HOME'] || process.getBuiltinModule('node:os').homedir(), '.local', 'state');
}
