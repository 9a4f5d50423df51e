import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Surroundings, desertedSockets, socketDirectories } from '../src/control/face.ts';

/** A directory of sockets as it was found. */
type SocketDirectory =
  | { readonly path: string; readonly problem: string; readonly fix: string }
  | { readonly path: string; readonly problem?: undefined; readonly deserted: readonly string[] };

/** The directories of this user's control sockets that are there. Nothing is made or removed; never rejects. */
export async function examineSockets(surroundings: Surroundings): Promise<readonly SocketDirectory[]> {
  const { uid } = surroundings;
  if (uid === undefined) return [];
  const found: SocketDirectory[] = [];
  for (const path of new Set(socketDirectories(surroundings, uid))) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (!stat.isDirectory()) found.push({ path, problem: 'is no directory', fix: `rm ${path}` });
    else if (stat.uid !== uid) {
      const fix = `export XDG_RUNTIME_DIR=${join('/run/user', String(uid))}`;
      found.push({ path, problem: `belongs to another user (${stat.uid})`, fix });
    } else if ((stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
      found.push({ path, problem: `is open to others (mode ${mode})`, fix: `chmod 700 ${path}` });
    } else found.push({ path, deserted: await desertedSockets(path) });
  }
  return found;
}
