import { lstat, open, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../policy/clock.ts';
import { seeWorld } from '../process/processIdentity.ts';
import { judge, type Liveness, type ProcessWorld } from '../process/processWorld.ts';
import { promptPrefix, removePromptDirectory } from './promptFile.ts';

const hourMs = 3_600_000;
/** A prompt whose owner cannot be judged is kept this long: no run lasts so long. */
const dayMs = 24 * hourMs;

/**
 * Removes prompt files that were left behind, now and every hour: those older than an hour whose owner is gone. The timer does not
 * keep the process alive.
 * @param directory - where they are looked for.
 * @returns how to stop.
 */
export function sweepPrompts(clock: Clock, directory: string = tmpdir()): () => void {
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const sweep = (): void => {
    timer = clock.setTimeout(sweep, hourMs);
    void removeLeftPrompts(clock.wallNow(), directory);
  };
  sweep();
  return () => clock.clearTimeout(timer);
}

/**
 * Does one round of {@link sweepPrompts}. Never rejects.
 * @param wallNow - wall time in ms.
 * @returns how many were removed.
 */
export async function removeLeftPrompts(wallNow: number, directory: string = tmpdir()): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const found = names.filter((name) => name.startsWith(promptPrefix)).map((name) => join(directory, name));
  const aged = await Promise.all(found.map(async (path) => ({ path, ageMs: wallNow - (await madeAt(path)) })));
  const old = aged.filter(({ ageMs }) => ageMs > hourMs);
  if (old.length === 0) return 0;
  const world = await seeWorld();
  let removed = 0;
  for (const { path, ageMs } of old) {
    const owner = await ownerState(path, world);
    if (owner === 'alive' || (owner === 'unknown' && ageMs <= dayMs)) continue;
    await removePromptDirectory(path);
    removed++;
  }
  return removed;
}

/** Returns the time a directory of ours was made; for no directory, or somebody else's, there is none. */
async function madeAt(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  const isOurs = stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
  return isOurs ? stats.mtimeMs : Number.POSITIVE_INFINITY;
}

/** Without a readable owner it was left in the middle of being made. */
async function ownerState(path: string, world: ProcessWorld): Promise<Liveness> {
  const text = await readShort(join(path, 'owner'));
  try {
    const owner = JSON.parse(text) as { readonly pid?: unknown; readonly start?: unknown };
    if (typeof owner.pid !== 'number' || typeof owner.start !== 'string') return 'dead';
    return judge(world, { pid: owner.pid, start: owner.start });
  } catch {
    return 'dead';
  }
}

async function readShort(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  try {
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(1024), 0, 1024, 0)) ?? {
      buffer: Buffer.alloc(0),
      bytesRead: 0,
    };
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file?.close().catch(() => undefined);
  }
}
