import { readStatusAnswer } from '../src/control/face.ts';
import { dbWords } from '../src/policy/text/face.ts';
import { askRuntimes } from '../operator/askRuntimes.ts';
import { systemClock } from '../src/runtime/face.ts';
import { runtimesBySocket } from '../operator/unlisted.ts';
import type { RuntimeRow } from '../src/store/face.ts';
import { attentionText, type Matter, mattersOfRuntimes, mattersOfStores } from './attention.ts';
import type { Io } from './io.ts';
import { createStyle } from './text.ts';

/**
 * Finds the runtimes of a database that are gone or stand still: their records may be old. Takes up to 2 s; never rejects.
 * @param db - what `--db` was given.
 */
export async function silentRuntimes(
  rows: readonly RuntimeRow[],
  io: Io,
  db: string | undefined,
): Promise<readonly Matter[]> {
  const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
  return mattersOfRuntimes(asked, io.now(), undefined, dbWords(db));
}

/** Finds those that keep in memory events for the database, since they cannot write it: nothing else shows that. Takes up to 2 s; never rejects. */
export async function unwrittenStores(
  rows: readonly RuntimeRow[],
  clock: Parameters<typeof askRuntimes>[1],
): Promise<readonly Matter[]> {
  return mattersOfStores(await askRuntimes(rows, clock, 'status', readStatusAnswer));
}

/** The same of a database that cannot be read, as a sentence each; empty where none answers. @param path - see {@link runtimesBySocket}. */
export async function keptInMemory(path: string): Promise<string> {
  const clock = { now: () => systemClock.wallNow() };
  const matters = await unwrittenStores(await runtimesBySocket(path, clock.now()), clock);
  return matters.map(({ what }) => ` ${what.charAt(0).toUpperCase()}${what.slice(1)}.`).join('');
}

/** Matters of runtimes, to lead what is shown from the database; empty where all answer. */
export function silenceText(matters: readonly Matter[], io: Io): string {
  const text = attentionText(matters, { width: io.columns, style: createStyle(io) });
  return text === '' ? '' : `${text}\n`;
}
