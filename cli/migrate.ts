import { seeWorld } from '../src/actors/process/face.ts';
import { isPostgresUrl, shownSchema } from '../src/policy/text/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { systemClock } from '../src/runtime/face.ts';
import type { Moved } from '../postgres/migrate/moveStore.ts';
import { defineCommand, flag, text } from './command.ts';
import { databasePath } from './databasePath.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { sanitize, toJson } from './sanitize.ts';
import { figure, tableOf } from './table.ts';
import { counted, wrapLines } from './text.ts';

export const command = defineCommand({
  usage: 'migrate --to URL [--from FILE] [--dry-run] [--json]',
  details: [
    'Stop what uses FILE first. Sessions with their messages, tool calls and keys, circuits, limits, alerts, figures and events are copied in one',
    'transaction; then FILE is renamed to FILE.moved. What is left as FILE says where it went: a gateway on that path does not start, until the',
    'file is deleted. Where `migrate` is cut off, run it again: nothing is copied twice. Files of several machines can be moved into one database, if no session is in two of them. URL is as in `store` of a gateway:',
    'postgres://USER@HOST/DATABASE?schema=NAME; give the password by PGPASSWORD rather than where `ps` shows it.',
  ].join('\n'),
  options: {
    to: text('URL', 'the database; its schema is made where it is missing'),
    from: text('FILE', 'the file; else --db, UNWEDGE_DB, or the one of the user'),
    'dry-run': flag('show what would be moved, and change nothing'),
  },
  async run(args, io) {
    const { to, json } = args;
    if (to === undefined)
      throw new UsageError('Expected `--to` with the URL of a database: --to postgres://USER@HOST/DATABASE');
    if (!isPostgresUrl(to)) throw new UsageError(`Expected \`--to\` to be a URL like postgres://USER@HOST/DATABASE`);
    const from = fileOf(args.from ?? args.db, io);
    const { moveStore, retire, MoveError } = await import('../postgres/migrate/moveStore.ts');
    try {
      const moved = await moveStore({
        from,
        to,
        dryRun: args['dry-run'],
        world: await seeWorld(),
        clock: systemClock,
        signal: io.signal,
        progressed: (what, done, of) => {
          if (done < of) io.stderr.write(`unwedge: ${done} of ${of} ${what}\n`);
        },
      });
      await retire(moved, systemClock);
      io.stdout.write(json ? toJson(moved) : movedText(moved, io));
      return 0;
    } catch (error) {
      if (error instanceof RangeError)
        throw new UsageError(messageOf(error).replace('`store`', '`--to`'), { cause: error });
      if (error instanceof MoveError) throw new CommandError(`${sanitize(messageOf(error))}.`, { cause: error });
      throw error;
    }
  },
});

function fileOf(given: string | undefined, { env }: Io): string {
  if (given !== undefined && isPostgresUrl(given))
    throw new UsageError('Expected `--from` to be a file: a database is moved from a file only');
  const path = databasePath(given, env);
  if (path === ':memory:') throw new UsageError('Expected `--from` to be a file, got :memory:');
  return path;
}

function movedText(moved: Moved, { columns: width }: Io): string {
  const { from, to, schema, rows, messages, calls, before, kept } = moved;
  const done = kept === undefined ? 'would be moved' : before ? 'was moved before' : 'is moved';
  const table = tableOf(rows, width, [
    { title: 'WHAT', cell: ({ what }) => what },
    figure('ROWS', ({ rows: count }) => count),
  ]);
  const waiting = `${counted(messages, 'message')} to be processed and ${counted(calls, 'call')} without a result ${
    messages + calls === 1 ? 'goes' : 'go'
  } on with the next gateway that has this database as its \`store\`.`;
  const lines = [
    `${sanitize(from)} ${done} to ${sanitize(shownSchema(to, schema))}.`,
    ...(kept === undefined
      ? ['The database was not asked: the move itself is the first to connect to it.']
      : [`The file is kept as ${sanitize(kept)}.`]),
    ...(messages + calls === 0 ? [] : [waiting]),
  ];
  return `${table}\n${wrapLines(lines, width)}`;
}
