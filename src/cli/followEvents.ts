import { statSync } from 'node:fs';
import { type EventQuery, type EventRow, readEvents } from '../store/query.ts';
import type { DatabaseReader } from '../store/reader.ts';
import type { Args } from './command.ts';
import { readDatabase } from './database.ts';
import { createOrigins, eventLine, type Origins } from './eventText.ts';
import { type Io, pause } from './io.ts';
import { sanitize, toJsonLine } from './sanitize.ts';

/** How often new events are looked for, in ms. */
const lookEveryMs = 500;
/** Most events of one look; more are there at once. */
const mostRows = 1_000;

/** Where reading goes on: in a file that was replaced, at its beginning. */
interface Place {
  readonly file: string;
  readonly after: number;
}

/**
 * Prints the newest events of the query, then those that come, until it is told to end. A database that cannot be read meanwhile is said
 * once and waited for.
 * @throws CommandError when there is nothing to read to begin with.
 */
export async function followEvents(
  query: EventQuery,
  { db, json }: Pick<Args, 'db' | 'json'>,
  io: Io,
): Promise<number> {
  let origins: Origins | undefined;
  const print = (rows: readonly EventRow[]): void => {
    origins ??= createOrigins(rows);
    for (const row of rows) io.stdout.write(json ? toJsonLine(row) : eventLine(row, io, origins));
  };
  let place = await readDatabase(db, io, (reader) => {
    const last = lastId(reader);
    const rows = readEvents(reader, query);
    print(rows);
    return { file: identify(reader), after: Math.max(last, rows.at(-1)?.id ?? 0) };
  });
  let trouble: string | undefined;
  while (!io.signal.aborted) {
    await pause(io, lookEveryMs);
    if (io.signal.aborted) break;
    try {
      place = await readDatabase(db, io, (reader) => printNew(reader, query, place, print));
      trouble = undefined;
    } catch (error) {
      const message = sanitize(error instanceof Error ? error.message : String(error));
      if (trouble === undefined) io.stderr.write(`unwedge: ${message} Waiting for it.\n`);
      trouble = message;
    }
  }
  return 0;
}

function printNew(
  reader: DatabaseReader,
  query: EventQuery,
  { file: known, after: read }: Place,
  print: (rows: readonly EventRow[]) => void,
): Place {
  const file = identify(reader);
  const last = lastId(reader);
  // Ids begin anew in another file, and in one that lost all its rows.
  let after = file === known && last >= read ? read : 0;
  for (;;) {
    const rows = readEvents(reader, { ...query, limit: mostRows, after });
    print(rows);
    after = rows.at(-1)?.id ?? after;
    // What came between the look at the last id and here is read now, and not again.
    if (rows.length < mostRows) return { file, after: Math.max(after, last) };
  }
}

/** Also of rows that do not match: they need not be looked at again. */
function lastId({ database, eventTable }: DatabaseReader): number {
  return Number(database.prepare(`SELECT max(rowid) AS id FROM ${eventTable}`).get()?.['id'] ?? 0);
}

function identify({ path }: DatabaseReader): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}
