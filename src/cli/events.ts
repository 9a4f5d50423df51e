import { nearest } from '../policy/nearest.ts';
import { type EventRow, failureTypes, readEvents } from '../store/query.ts';
import type { DatabaseReader } from '../store/reader.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { quoted, toJson } from './sanitize.ts';
import { createStyle, type Style } from './style.ts';
import { type Cell, renderTable } from './table.ts';
import { localTime } from './timeText.ts';

/** What is looked at to find out which names there are. */
const sampleSize = 10_000;

export const events = defineCommand({
  name: 'events',
  summary: 'what was recorded: failures, crashes, restarts, sessions',
  usage: 'events [--since DURATION] [--category NAME] [--integration NAME] [--failed] [--limit N] [--json] [--db FILE]',
  details: 'The newest events that match, oldest first.',
  options: {
    since: { kind: 'duration', help: 'only events that are younger' },
    category: {
      kind: 'text',
      value: 'NAME',
      help: 'only events of one category, such as integration, session or hook',
    },
    integration: { kind: 'text', value: 'NAME', help: 'only events of one integration' },
    failed: { kind: 'flag', help: 'only what went wrong' },
    limit: { kind: 'count', max: 100_000, defaultValue: 50, help: 'at most so many' },
  },
  async run(args, io) {
    const { since, category, integration, failed, limit } = args;
    const query = { since: since === undefined ? undefined : io.now() - since, category, integration, failed, limit };
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

function eventTable(rows: readonly EventRow[], io: Io): string {
  const style = createStyle(io);
  const columns = [{ title: 'TIME' }, { title: 'EVENT' }, { title: 'OF' }, { title: 'WHAT' }];
  return renderTable(
    columns,
    rows.map((event) => toCells(event, style)),
    io.columns,
  );
}

function toCells(event: EventRow, style: Style): Cell[] {
  const type = `${event.category}/${event.type}`;
  const { subject, rest } = splitSubject(event.metadata);
  return [
    { text: localTime(event.at), paint: style.dim },
    failureTypes.includes(type) ? { text: type, paint: style.red } : type,
    subject,
    describe(rest),
  ];
}

/** The fields that say whose event it is, the most telling first. */
const subjectFields = [
  'hook_name',
  'integration',
  'session',
  'child',
  'process',
  'supervisor',
  'tool_name',
  'to',
] as const;

type Metadata = EventRow['metadata'];

function splitSubject(metadata: Metadata): { subject: string; rest: Metadata } {
  const name = subjectFields.find((field) => typeof metadata[field] === 'string');
  if (name === undefined) return { subject: '', rest: metadata };
  const { [name]: subject, ...rest } = metadata;
  return { subject: String(subject), rest };
}

/** Not for a line: found in `--json`. */
const longFields = new Set(['stack', 'call', 'input']);

/** The error first, then what else is known as `name=value`. */
function describe({ error, ...rest }: Metadata): string {
  const fields = Object.entries(rest)
    .filter(([name, value]) => !longFields.has(name) && value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
  if (typeof error !== 'string') return fields;
  return fields === '' ? error : `${error} (${fields})`;
}
