import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';

/**
 * Removes the sockets of a directory on which nobody listens any more: a runtime that was killed leaves its own behind.
 * Sockets get their name when they listen already, so that a runtime which is just starting is not taken for a dead one.
 * Resolves when all are looked at; never rejects.
 */
export async function removeStaleSockets(directory: string): Promise<void> {
  for (const path of await desertedSockets(directory)) remove(path);
}

/** The sockets of a directory on which nobody listens. Never rejects. */
export async function desertedSockets(directory: string): Promise<readonly string[]> {
  const looked = await Promise.all(
    socketsOf(directory).map(async (path) => ({ path, isStale: await isDeserted(path) })),
  );
  return looked.filter(({ isStale }) => isStale).map(({ path }) => path);
}

/** The sockets in a directory; none where it cannot be read. */
export function socketsOf(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.sock'))
      .map((name) => join(directory, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true);
  } catch {
    return [];
  }
}

function isDeserted(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.unref();
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another runtime was faster.
  }
}
