import { isPostgresUrl } from '../../src/policy/text/face.ts';
import { storePlace } from '../../src/store/face.ts';
import { mattersOf } from '../attention.ts';
import { lookAround } from '../lookAround.ts';
import { examineDatabase } from './database.ts';
import { type Check, type DoctorWorld, type Finding, lookAt, ok } from './finding.ts';

/**
 * Checks what needs attention now, as `unwedge status` leads with it: it is no fault of the installation, and who types `doctor` at night has to hear of it.
 * Processes are told of elsewhere.
 */
export const checkLive: Check = async (world) => {
  if (!(await canBeRead(world))) return [];
  try {
    const io = { env: world.env, now: () => world.now };
    const { now, watched } = await lookAround(world.db, io);
    const matters = mattersOf({ ...watched, runtimes: [] }, now, world.db);
    if (matters.length === 0) return [ok('live', 'nothing needs attention now')];
    return matters.map(({ what, next }): Finding => ({ id: 'live.attention', status: 'warning', summary: what, next }));
  } catch {
    // That the database cannot be read is told with the database.
    return [];
  }
};

async function canBeRead(world: DoctorWorld): Promise<boolean> {
  const path = storePlace(world.db, world.env);
  if (isPostgresUrl(path)) return true;
  if (path === ':memory:' || lookAt(path)?.isFile() !== true) return false;
  const examined = await examineDatabase(path, world);
  return examined.state === 'readable' && examined.version > 0 && examined.version <= examined.known;
}
