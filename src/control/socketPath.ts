import { lstatSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { makeDirectory } from '../actors/process/makeDirectory.ts';
import { messageOf } from '../policy/failures/thrown.ts';

/** User and place of a runtime, as far as its socket is concerned. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Directory for temporary files, as `os.tmpdir()` gives it. */
  readonly tmp: string;
  /** The user; undefined where the system has none, which then has no control socket. */
  readonly uid: number | undefined;
}

/** Path that a socket may be opened at, or why not and what to do, one line each. */
type SocketPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string; readonly fix: string };

/** Longest path a socket can have, in bytes: that of macOS; Linux takes four more. */
const maxPathBytes = 103;

/**
 * The path for the socket of a run, in a directory that only its user can enter: `unwedge` in `XDG_RUNTIME_DIR`, else `unwedge-UID` among
 * the temporary files. Creates the directory. Refuses an existing one that is not private to the user, as another user with write access
 * could put another socket in place. Never throws.
 *
 * @param id - of the run; its first 12 characters name the file.
 */
export function socketPath(id: string, surroundings: Surroundings): SocketPath {
  const { tmp, uid } = surroundings;
  if (uid === undefined) {
    return { ok: false, reason: 'this system has no Unix users', fix: 'set `control: false`' };
  }
  const paths = socketDirectories(surroundings, uid).map((directory) => ({
    directory,
    path: join(directory, `${id.slice(0, 12)}.sock`),
  }));
  const found = paths.find(({ path }) => Buffer.byteLength(path) <= maxPathBytes);
  if (found === undefined) return { ok: false, reason: `${tmp} is too long for a socket`, fix: 'set a shorter TMPDIR' };
  const problem = claim(found.directory, uid);
  return problem ?? { ok: true, path: found.path };
}

/** Lists the places for sockets of a user, the best place first. */
export function socketDirectories({ env, tmp }: Pick<Surroundings, 'env' | 'tmp'>, uid: number): readonly string[] {
  const runtime = env['XDG_RUNTIME_DIR'];
  return [
    ...(runtime !== undefined && isAbsolute(runtime) && isOwnDirectory(runtime, uid) ? [join(runtime, 'unwedge')] : []),
    join(tmp, `unwedge-${uid}`),
    `/tmp/unwedge-${uid}`,
  ];
}

// Left over from the login of somebody else (`su`), the variable names a directory that is not ours: as good as not set.
function isOwnDirectory(path: string, uid: number): boolean {
  try {
    const stat = statSync(path);
    return stat.isDirectory() && stat.uid === uid;
  } catch {
    return false;
  }
}

/** Makes the directory, or finds what is wrong with it. */
function claim(path: string, uid: number): Extract<SocketPath, { ok: false }> | undefined {
  const other = 'set XDG_RUNTIME_DIR to a directory of this user';
  try {
    makeDirectory(path);
    // Not followed: a link would be as good a trap as a directory of somebody else.
    const stat = lstatSync(path);
    if (!stat.isDirectory()) return { ok: false, reason: `${path} is no directory`, fix: other };
    if (stat.uid !== uid) return { ok: false, reason: `${path} belongs to another user (${stat.uid})`, fix: other };
    if ((stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
      return { ok: false, reason: `${path} is open to others (mode ${mode})`, fix: `run \`chmod 700 ${path}\`` };
    }
    return undefined;
  } catch (error) {
    const message = messageOf(error);
    return { ok: false, reason: message, fix: other };
  }
}
