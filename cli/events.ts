import type { EventQuery } from '../src/store/events.ts';
import { isAbout } from '../src/store/eventSubjects.ts';
import { categories } from '../src/store/record.ts';
import { nearestId } from '../src/policy/nearest.ts';
import { createShownNames, type ShownName } from '../src/redaction/shownNames.ts';
import type { StoreReader } from '../src/store/storeReader.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { unknown, UsageError } from './errors.ts';
import { eventTable } from './eventText.ts';
import type { Io } from './io.ts';
import { knownIntegrations, noSuchIntegration } from './knownIntegrations.ts';
import { quoted, toJson } from './sanitize.ts';
import { silenceText, unwrittenStores } from './silentRuntimes.ts';
import { runtimesOf } from '../operator/unlisted.ts';
import { wrapLines } from './wrap.ts';

/** Events that are looked at to find out which names there are. */
const sampleSize = 10_000;
/** Events that are counted where more match than are shown. */
const mostCounted = 10_000;

export const events = defineCommand({
  name: 'events',
  summary: 'what was recorded: failures, crashes, restarts, sessions',
  usage:
    'events [--follow] [--since DURATION] [--category NAME] [--integration NAME] [--session ID] [--failed] [--limit N] [--json] [--db FILE]',
  details: [
    'The newest events that match, oldest first. Where several runtimes record events of one name at a time, it is shown as NAME@PID.',
    'With --follow it goes on with those that come, until Ctrl-C (exit 130); --json gives one',
    'object a line then.',
  ].join('\n'),
  options: {
    since: { kind: 'duration', help: 'only events that are younger' },
    category: {
      kind: 'text',
      value: 'NAME',
      help: 'only events of one category, such as integration, session or hook',
      choices: [...categories],
    },
    integration: {
      kind: 'text',
      value: 'NAME',
      help: 'only events of one integration, with those of its children and processes, or of one name under OF; NAME@PID: of one runtime',
      choices: 'integrations',
    },
    session: {
      kind: 'text',
      value: 'ID',
      help: 'only events of one session, its calls and its supervision included',
      choices: 'sessions',
    },
    failed: { kind: 'flag', help: 'only what went wrong; what was cancelled, as by Ctrl-C, did not' },
    follow: { kind: 'flag', short: 'f', help: 'go on with the events that come' },
    limit: { kind: 'count', max: 100_000, defaultValue: 50, help: 'at most so many' },
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
    if (args.follow) {
      const { followEvents } = await import('./followEvents.ts');
      return followEvents(query, args, io, (reader) => guess(reader, category, integration, io, shown));
    }
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
    if (rows.length === 0) io.stderr.write(wrapLines([isEmpty ? nothingYet : `No events match.${hint}`], io.columns));
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
