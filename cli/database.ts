import { isPostgresUrl, shellWord, shownUrl } from '../src/policy/text/face.ts';
import { isDamage } from '../reader/examineStore.ts';
import { existsSync, statSync } from 'node:fs';
import type { StoreReader } from '../reader/storeReader.ts';
import { openReader } from '../reader/openReader.ts';
import { openEmptyReader } from '../reader/sqlite/reader.ts';
import { databasePlace } from './databasePath.ts';
import { CommandError } from './errors.ts';
import type { Io } from './io.ts';
import { messageOf } from '../src/policy/failures/face.ts';

/**
 * Reads from the database that `--db` or the environment names, and closes it. The usual one need not be there yet: nothing is recorded then.
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
    const isUsual = db === undefined && !env['UNWEDGE_DB'];
    const isNone = isUsual && !existsSync(path) && (await keptFor(path)) === '';
    reader = await (isNone ? openEmptyReader(path) : openReader(place));
    return await read(reader);
  } catch (error) {
    const message = messageOf(error);
    const named = message.includes(path) ? message : `Cannot read ${path}: ${message}`;
    const next = isDamage(error, path)
      ? `See \`unwedge doctor --db ${shellWord(path)}\``
      : `Name another with --db ${isUrl ? 'URL' : 'FILE'} or UNWEDGE_DB`;
    throw new CommandError(`${named.replace(/\.$/, '')}. ${next}.${await keptFor(path)}`, { cause: error });
  } finally {
    reader?.close();
  }
}

/** What runtimes keep in memory for a database that cannot be read. */
async function keptFor(path: string): Promise<string> {
  // Loaded now: most reads go well.
  const { keptInMemory } = await import('./silentRuntimes.ts');
  return keptInMemory(path);
}
