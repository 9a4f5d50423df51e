import { nearest } from '../policy/nearest.ts';
import { readEvents } from '../store/query.ts';
import type { DatabaseReader } from '../store/reader.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { eventTable } from './eventText.ts';
import { quoted, toJson } from './sanitize.ts';

/** What is looked at to find out which names there are. */
const sampleSize = 10_000;

export const events = defineCommand({
  name: 'events',
  summary: 'what was recorded: failures, crashes, restarts, sessions',
  usage:
    'events [--follow] [--since DURATION] [--category NAME] [--integration NAME] [--failed] [--limit N] [--json] [--db FILE]',
  details: [
    'The newest events that match, oldest first. Where several runtimes have recorded events of one name, it is shown as NAME@PID.',
    'With --follow it goes on with those that come, until Ctrl-C (exit 130); --json gives one',
    'object a line then.',
  ].join('\n'),
  options: {
    since: { kind: 'duration', help: 'only events that are younger' },
    category: {
      kind: 'text',
      value: 'NAME',
      help: 'only events of one category, such as integration, session or hook',
    },
    integration: { kind: 'text', value: 'NAME', help: 'only events of one integration; NAME@PID: of one process' },
    failed: { kind: 'flag', help: 'only what went wrong' },
    follow: { kind: 'flag', short: 'f', help: 'go on with the events that come' },
    limit: { kind: 'count', max: 100_000, defaultValue: 50, help: 'at most so many' },
  },
  async run(args, io) {
    const { since, category, integration, failed, limit } = args;
    const query = { since: since === undefined ? undefined : io.now() - since, category, integration, failed, limit };
    if (args.follow) return (await import('./followEvents.ts')).followEvents(query, args, io);
    const { rows, hint } = await readDatabase(args.db, io, (reader) => {
      const rows = readEvents(reader, query);
      return { rows, hint: rows.length === 0 ? guess(reader, category, integration) : '' };
    });
    if (args.json) io.stdout.write(toJson(rows));
    else if (rows.length > 0) io.stdout.write(eventTable(rows, io));
    if (rows.length === 0) io.stderr.write(`No events match.${hint}\n`);
    return 0;
  },
});

/** A name that matches nothing may be a misspelt one. */
function guess(reader: DatabaseReader, category: string | undefined, integration: string | undefined): string {
  if (category === undefined && integration === undefined) return '';
  const sample = readEvents(reader, { limit: sampleSize });
  const hint = (what: string, word: string | undefined, known: readonly string[]) => {
    if (word === undefined || known.includes(word)) return '';
    const near = nearest(word, [...new Set(known)]);
    return ` There is no ${what} ${quoted(word)}${near === undefined ? '' : `; did you mean ${quoted(near)}?`}`;
  };
  const categories = sample.map((event) => event.category);
  const integrations = sample.map((event) => event.metadata['integration']).filter((name) => typeof name === 'string');
  return hint('category', category, categories) + hint('integration', integration, integrations);
}
