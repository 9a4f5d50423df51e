import { type LiveStatus, readStatusAnswer } from '../control/answers.ts';
import { askRuntime } from '../control/client.ts';
import { nearest } from '../policy/nearest.ts';
import { type JudgedRuntime, readRuntimes } from '../store/runtimes.ts';
import { systemClock } from '../systemClock.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError } from './errors.ts';
import type { Io } from './io.ts';
import { askRuntimes, problemLines, runtimeText } from './liveRuntimes.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';

export const restart = defineCommand({
  name: 'restart',
  summary: 'restart what is behind an integration, or a session, of a running gateway',
  usage: 'restart NAME [--json] [--db FILE]',
  details: [
    'NAME is an integration or the id of a session. A server or session is started anew, also out of quarantine; a function or a command',
    'gets its circuit closed. Exits 1 when no running gateway of the database has it, or more than one.',
  ].join('\n'),
  options: {},
  operands: ['NAME'],
  async run(args, io) {
    const [name = ''] = args.operands;
    const runtime = await findRuntime(name, args.db, io);
    const answer = await askRuntime(runtime.socket ?? '', 'restart', { name }, { clock: systemClock });
    const text = runtimeText(runtime, io.now());
    if (!answer.ok) throw new CommandError(`${text} did not restart ${quoted(name)}: ${sanitize(answer.message)}`);
    io.stdout.write(args.json ? toJson({ restarted: name, runtime }) : `${text} restarts ${quoted(name)}.\n`);
    return 0;
  },
});

/** The one live runtime that has the integration or session. @throws CommandError when there is none, or several. */
async function findRuntime(name: string, db: string | undefined, io: Io): Promise<JudgedRuntime> {
  const { path, rows } = await readDatabase(db, io, (reader) => ({ path: reader.path, rows: readRuntimes(reader) }));
  const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = asked.filter(({ answer }) => answer !== undefined);
  const having = live.filter(({ answer }) => namesIn(answer).includes(name));
  const [found, ...others] = having;
  if (found !== undefined && others.length === 0) return found.runtime;
  if (found !== undefined) {
    const list = having.map(({ runtime }) => runtimeText(runtime, io.now())).join(', ');
    throw new CommandError(`${having.length} live runtimes have ${quoted(name)}: ${list}.`);
  }
  io.stderr.write(problemLines(asked, io.now()));
  if (live.length === 0)
    throw new CommandError(`No live runtime answers for ${sanitize(path)}; nothing was restarted.`);
  const names = [...new Set(live.flatMap(({ answer }) => namesIn(answer)))];
  const near = nearest(name, names);
  const guess = near === undefined ? `known: ${names.map(sanitize).join(', ')}` : `did you mean ${quoted(near)}?`;
  throw new CommandError(`No live runtime has ${quoted(name)}; ${guess}`);
}

function namesIn(answer: LiveStatus | undefined): readonly string[] {
  const { integrations = [], sessions = [] } = answer ?? {};
  return [...integrations.map(({ integration }) => integration), ...sessions.map(({ session }) => session)];
}
