import { type EventQuery, type EventRow, categories, isAbout } from '../src/store/face.ts';
import { nearestId } from '../src/policy/text/face.ts';
import { type ShownName, createShownNames } from '../src/redaction/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import { type Args, defineCommand, count, duration, flag, text } from './command.ts';
import { readDatabase } from './database.ts';
import { unknown, UsageError } from './errors.ts';
import { createOrigins, eventLine, eventTable, type Origins } from './eventText.ts';
import { type Io, pause } from './io.ts';
import { knownIntegrations, noSuchIntegration } from './knownIntegrations.ts';
import { quoted, sanitize, toJson, toJsonLine } from './sanitize.ts';
import { silenceText, unwrittenStores } from './silentRuntimes.ts';
import { runtimesOf } from '../operator/unlisted.ts';
import { wrapLines } from './text.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { told } from './ownCommand.ts';

/** Events that are looked at to find out which names there are. */
const sampleSize = 10_000;
/** Events that are counted where more match than are shown. */
const mostCounted = 10_000;

export const command = defineCommand({
  usage:
    'events [--follow] [--since DURATION] [--category NAME] [--integration NAME] [--session ID] [--failed] [--limit N] [--json] [--db FILE]',
  details: [
    'The newest events that match, oldest first. Where several runtimes record events of one name at a time, it is shown as NAME@PID.',
    'With --follow it goes on with those that come, until Ctrl-C (exit 130); --json gives one',
    'object a line then.',
  ].join('\n'),
  options: {
    since: duration('only events that are younger'),
    category: text('NAME', 'only events of one category, such as integration, session or hook', [...categories]),
    integration: text(
      'NAME',
      'only events of one integration, with those of its children and processes, or of one name under OF; NAME@PID: of one runtime',
      'integrations',
    ),
    session: text('ID', 'only events of one session, its calls and its supervision included', 'sessions'),
    failed: flag('only what went wrong; what was cancelled, as by Ctrl-C, did not'),
    follow: flag('go on with the events that come', 'f'),
    limit: count(1, 100_000, 50, 'at most so many'),
  },
  async run(args, io) {
    const { since, category, failed, limit } = args;
    const shown = createShownNames();
    // Events hold names without their secrets.
    const integration = args.integration === undefined ? undefined : shown(args.integration);
    const session = args.session === undefined ? undefined : shown(args.session);
    const query = {
      ...{ session, category, integration, failed, limit },
      since: since === undefined ? undefined : io.now() - since,
    };
    if (args.follow) return followEvents(query, args, io, (reader) => guess(reader, category, integration, io, shown));
    const { rows, runtimes, hint, matching, isEmpty } = await readDatabase(args.db, io, async (reader) => {
      const rows = await reader.events(query);
      // The answer as data is what was asked for, and no word more.
      const isCut = !args.json && rows.length === limit && limit < mostCounted;
      const matching = isCut ? (await reader.events({ ...query, limit: mostCounted })).length : rows.length;
      const runtimes = await runtimesOf(reader, io.now());
      const isEmpty = rows.length === 0 && (await reader.lastEventId()) === 0;
      const hint =
        rows.length === 0
          ? (await cancelledOnes(reader, query)) ||
            (await guess(reader, category, integration, io, shown)) ||
            (await noSuchSession(reader, session, shown, io.now()))
          : '';
      return { rows, runtimes, matching, isEmpty, hint };
    });
    if (hint instanceof UsageError) throw hint;
    if (args.json) io.stdout.write(toJson(rows));
    else {
      // Events that they have recorded since are in no database.
      io.stderr.write(silenceText(await unwrittenStores(runtimes, io), io));
      if (rows.length > 0) io.stdout.write(eventTable(rows, new Set(runtimes.map(({ pid }) => pid)), io));
    }
    if (rows.length === 0)
      io.stderr.write(wrapLines([told(isEmpty ? nothingYet : `No events match.${hint}`, io)], io.columns));
    if (matching > rows.length)
      io.stderr.write(
        `The last ${rows.length} of ${matching === mostCounted ? `${mostCounted} or more` : matching} events; --limit N shows more.\n`,
      );
    return 0;
  },
});

const nothingYet = 'No events are on record: gateways, proxies and `unwedge run` with this database record them.';

/** Somebody who asks what went wrong may look for what was ended on request. */
async function cancelledOnes(reader: StoreReader, query: EventQuery): Promise<string> {
  if (query.failed !== true) return '';
  const matching = await reader.events({ ...query, failed: false, limit: mostCounted });
  const cancelled = matching.filter(({ metadata }) => metadata['kind'] === 'cancelled').length;
  if (cancelled === 0) return '';
  const were = cancelled === 1 ? '1 event is of what was cancelled' : `${cancelled} events are of what was cancelled`;
  return ` ${were}, which is no failure: leave out --failed to see it.`;
}

/** An id that nobody knows may be a misspelt one. */
async function noSuchSession(
  reader: StoreReader,
  session: string | undefined,
  shown: ShownName,
  now: number,
): Promise<string> {
  if (session === undefined) return '';
  const known = await reader.status(now);
  const ids = [...new Set([...(await reader.sessionIds()).map(shown), ...known.sessions.map((each) => each.session)])];
  if (ids.includes(session)) return '';
  const near = nearestId(session, ids);
  return ` No session ${quoted(session)} is known.${near === undefined ? '' : ` Did you mean ${quoted(near)}?`}`;
}

/** A name that matches nothing may be a misspelt one; a category that neither this version nor the database knows is an error. */
async function guess(
  reader: StoreReader,
  category: string | undefined,
  integration: string | undefined,
  io: Io,
  shown: ShownName,
): Promise<string | UsageError> {
  if (category === undefined && integration === undefined) return '';
  const sample = await reader.events({ limit: sampleSize });
  const known = [...new Set([...categories, ...sample.map((event) => event.category)])].sort();
  if (category !== undefined && !known.includes(category)) return unknown('category', category, known);
  if (integration === undefined || sample.some(({ metadata }) => isAbout(metadata, integration))) return '';
  const told = sample.map((event) => event.metadata['integration']).filter((name) => typeof name === 'string');
  const names = new Set([...told, ...(await knownIntegrations(reader, io, shown))]);
  if (names.has(integration)) return ` ${quoted(integration)} is known: see \`unwedge status\` and \`unwedge report\`.`;
  return ` ${noSuchIntegration(integration, names)}`;
}

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
  if (hint !== '') io.stderr.write(wrapLines([told(`No events match yet.${hint}`, io)], io.errorColumns ?? Infinity));
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
      if (trouble === undefined) io.stderr.write(`unwedge: ${told(message, io)} Waiting for it.\n`);
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
