import { isPostgresUrl, shellWord, shownUrl } from '../src/policy/text/face.ts';
import { isDamage } from '../reader/examineStore.ts';
import { statSync } from 'node:fs';
import type { StoreReader } from '../reader/storeReader.ts';
import { openReader } from '../reader/openReader.ts';
import { databasePlace } from './databasePath.ts';
import { CommandError } from './errors.ts';
import type { Io } from './io.ts';
import { messageOf } from '../src/policy/failures/face.ts';

/**
 * Reads from the database that `--db` or the environment names, and closes it.
 * @throws {@link CommandError} that names the file or the database, and how to name another, when it is missing or cannot be read.
 */
export async function readDatabase<T>(
  db: string | undefined,
  { env }: Pick<Io, 'env'>,
  read: (reader: StoreReader) => Promise<T>,
): Promise<T> {
  const place = databasePlace(db, env);
  const isUrl = isPostgresUrl(place);
  const path = isUrl ? shownUrl(place) : place;
  if (!isUrl && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    const given = db !== undefined ? '--db' : env['UNWEDGE_DB'] ? 'UNWEDGE_DB' : undefined;
    const fix =
      given === undefined ? 'name a file with --db FILE or UNWEDGE_DB' : `${given} takes the file of a database`;
    throw new CommandError(`${path} is a directory; ${fix}.`);
  }
  let reader: StoreReader | undefined;
  try {
    reader = await openReader(place);
    return await read(reader);
  } catch (error) {
    const message = messageOf(error);
    const named = message.includes(path) ? message : `Cannot read ${path}: ${message}`;
    const next = isDamage(error, path)
      ? `See \`unwedge doctor --db ${shellWord(path)}\``
      : `Name another with --db ${isUrl ? 'URL' : 'FILE'} or UNWEDGE_DB`;
    // Loaded now: most reads go well.
    const { keptInMemory } = await import('./silentRuntimes.ts');
    const kept = await keptInMemory(path);
    throw new CommandError(`${named.replace(/\.$/, '')}. ${next}.${kept}`, { cause: error });
  } finally {
    reader?.close();
  }
}
