import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { readSelfAnswer } from '../control/answers.ts';
import { askRuntime } from '../control/client.ts';
import { socketDirectories } from '../control/socketPath.ts';
import { socketsOf } from '../control/staleSockets.ts';
import { identifyNow } from '../actors/process/processIdentity.ts';
import type { RuntimeRow } from '../store/runtimes.ts';
import type { StoreReader } from '../store/storeReader.ts';
import { systemClock } from './systemClock.ts';

/** How long a socket may take to say whose it is, in ms. */
const answerMs = 500;

/**
 * The runtimes of a database: those that it lists, and where none of them has a socket any more, those that could not be entered, as while its
 * disk is full. They are found by their sockets, in the directories of this user. Never rejects.
 */
export async function runtimesOf(
  reader: Pick<StoreReader, 'path' | 'runtimes'>,
  now: number,
): Promise<readonly RuntimeRow[]> {
  return withUnlisted(await reader.runtimes(), reader.path, now);
}

/** The same of runtimes that were read. */
export async function withUnlisted(
  rows: readonly RuntimeRow[],
  path: string,
  now: number,
): Promise<readonly RuntimeRow[]> {
  const uid = process.getuid?.();
  const file = realPathOf(path);
  if (uid === undefined || file === undefined || rows.some(({ socket }) => socket !== undefined && existsSync(socket)))
    return rows;
  const sockets = [...new Set(socketDirectories({ env: process.env, tmp: tmpdir() }, uid))].flatMap(socketsOf);
  const found = await Promise.all(
    sockets.map(async (socket): Promise<readonly RuntimeRow[]> => {
      const said = await askRuntime(socket, 'self', {}, { clock: systemClock, timeoutMs: answerMs });
      const self = said.ok ? readSelfAnswer(said.value) : undefined;
      if (self?.database === undefined || realPathOf(self.database) !== file) return [];
      const { id, pid, name, startedAt } = self;
      const processStart = identifyNow(pid)?.start ?? '';
      return rows.some((row) => row.id === id)
        ? []
        : [{ id, pid, processStart, startedAt, renewedAt: now, name, socket }];
    }),
  );
  return [...rows, ...found.flat()];
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
