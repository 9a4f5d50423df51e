import type { EventQuery, EventRow } from '../src/store/events.ts';
import type { StoreReader } from '../src/store/storeReader.ts';
import type { Args } from './command.ts';
import { readDatabase } from './database.ts';
import { createOrigins, eventLine, type Origins } from './eventText.ts';
import { type Io, pause } from './io.ts';
import { UsageError } from './errors.ts';
import { sanitize, toJsonLine } from './sanitize.ts';
import { wrapLines } from './wrap.ts';
import { messageOf } from '../src/policy/thrown.ts';

/** Time between two looks for new events, in ms. */
const lookEveryMs = 500;
/** Most events of one look; more are there at once. */
const mostRows = 1_000;

/** Place at which reading goes on: in a file that was replaced, at its beginning. */
interface Place {
  readonly file: string;
  readonly after: number;
}

/**
 * Prints the newest events of the query, then those that come, until it is told to end. A database that cannot be read meanwhile is said
 * once and waited for.
 * @param guess - what is wrong with a query that nothing matches so far. @defaultValue nothing
 * @throws CommandError when there is nothing to read to begin with.
 */
export async function followEvents(
  query: EventQuery,
  { db, json }: Pick<Args, 'db' | 'json'>,
  io: Io,
  guess: (reader: StoreReader) => Promise<string | UsageError> = () => Promise.resolve(''),
): Promise<number> {
  let origins: Origins | undefined;
  const running = new Set<number>();
  const print = (rows: readonly EventRow[]): void => {
    origins ??= createOrigins(rows, running);
    for (const row of rows) io.stdout.write(json ? toJsonLine(row) : eventLine(row, io, origins));
  };
  const begun = await readDatabase(db, io, async (reader) => {
    const last = await reader.lastEventId();
    for (const { pid } of await reader.runtimes()) running.add(pid);
    // Events that came since, and those not to be gone on from yet, come with the next look.
    const rows = await reader.events({ ...query, before: last + 1 });
    print(rows);
    const hint = rows.length === 0 ? await guess(reader) : '';
    return { file: reader.identity, after: last, hint };
  });
  const { hint } = begun;
  if (hint instanceof UsageError) throw hint;
  if (hint !== '') io.stderr.write(wrapLines([`No events match yet.${hint}`], io.errorColumns ?? Infinity));
  let place: Place = begun;
  let trouble: string | undefined;
  while (!io.signal.aborted) {
    await pause(io, lookEveryMs);
    if (io.signal.aborted) break;
    try {
      place = await readDatabase(db, io, (reader) => printNew(reader, query, place, print));
      trouble = undefined;
    } catch (error) {
      const message = sanitize(messageOf(error));
      if (trouble === undefined) io.stderr.write(`unwedge: ${message} Waiting for it.\n`);
      trouble = message;
    }
  }
  return 0;
}

async function printNew(
  reader: StoreReader,
  query: EventQuery,
  { file: known, after: read }: Place,
  print: (rows: readonly EventRow[]) => void,
): Promise<Place> {
  const file = reader.identity;
  // Also of rows that do not match: they need not be looked at again.
  const last = await reader.lastEventId();
  // Ids begin anew in another file, and in one that lost all its rows.
  let after = file === known && last >= read ? read : 0;
  for (;;) {
    const rows = await reader.events({ ...query, limit: mostRows, after });
    print(rows);
    after = rows.at(-1)?.id ?? after;
    // Events that came between the look at the last id and here are read now, and not again.
    if (rows.length < mostRows) return { file, after: Math.max(after, last) };
  }
}
