import { readFlightAnswer } from '../src/control/face.ts';
import { gatherIncident } from '../incident/gather.ts';
import { type Incident, isPlayable } from '../incident/incident.ts';
import { contentsOf, incidentName, nothingToPlay, writeIncident } from '../incident/incidentFiles.ts';
import { shellWord } from '../src/policy/text/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { askRuntimes, pidsOfAnswers } from '../operator/askRuntimes.ts';
import { defineCommand, duration, text } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { problemLines } from './liveRuntimes.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { wrapLines } from './text.ts';

export const command = defineCommand({
  usage: 'incident SESSION|CALL|INTEGRATION [--out DIR] [--around DURATION] [--json] [--db FILE]',
  details: [
    'CALL is an id such as `kb-12`, as `unwedge events` shows it (call kb-12). Attempts are held in memory and written when something goes wrong; a gateway',
    'that runs is asked to write what it holds. The folder holds policies, attempts with their times and errors, circuits, turns and events;',
    'no inputs, no answers, and no secrets. Play it on any machine by `unwedge replay DIR`.',
  ].join('\n'),
  options: {
    out: text('DIR', 'the folder, new or empty; else incident-ID-TIME here'),
    around: duration('how long before it the incident begins; else 10m'),
  },
  operands: ['SESSION|CALL|INTEGRATION'],
  choices: 'integrations or sessions',
  async run(args, io) {
    const [id = ''] = args.operands;
    if (args.around === 0) throw new UsageError('Expected `--around` to be a duration above 0, got 0');
    const asked = await askToWrite(id, args.db, io);
    const gathered = await readDatabase(args.db, io, (reader) =>
      gatherIncident(reader, id, { now: io.now(), aroundMs: args.around, asked }).catch((error: unknown) => {
        if (error instanceof RangeError) return `${messageOf(error)} Looked in ${reader.path}.`;
        throw error;
      }),
    );
    if (typeof gathered === 'string') throw new CommandError(sanitize(gathered));
    const folder = write(gathered, args.out ?? incidentName(gathered));
    io.stdout.write(args.json ? toJson({ folder, ...aboutOf(gathered) }) : textOf(gathered, folder, io));
    return 0;
  },
});

/**
 * Live runtimes write what they hold; one that does not answer is told of, and what it wrote before is there.
 * @returns the pids of those that did.
 */
async function askToWrite(session: string, db: string | undefined, io: Io): Promise<readonly number[]> {
  const runtimes = await readDatabase(db, io, (reader) => reader.runtimes());
  const asked = await askRuntimes(runtimes, io, 'flight', readFlightAnswer, { session });
  io.stderr.write(problemLines(asked, io.now()));
  return pidsOfAnswers(asked);
}

function write(incident: Incident, folder: string): string {
  try {
    return writeIncident(incident, folder);
  } catch (error) {
    throw new CommandError(`Cannot write ${quoted(folder)}: ${messageOf(error)}`, { cause: error });
  }
}

function aboutOf({ subject, from, until, pid, missing, integrations, events }: Incident): object {
  const names = integrations.map(({ name }) => name);
  return { subject, from, until, pid, integrations: names, events: events.length, missing };
}

function textOf(incident: Incident, folder: string, io: Io): string {
  const { columns: width, own = 'unwedge' } = io;
  const { subject, from, until, missing } = incident;
  const time = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  const lines = [
    '',
    `The ${subject.kind} ${sanitize(subject.id)}, ${time(from)} to ${time(until)}. It holds`,
    ...contentsOf(incident).map((line) => `  ${sanitize(line)}`),
    'and nothing else. Secrets are redacted; read it before you hand it on.',
    ...missing.map((line) => `Missing: ${sanitize(line)}`),
    '',
    isPlayable(incident) ? 'Play it on any machine:' : nothingToPlay,
  ];
  // Paths and commands stay whole, so that they can be copied.
  const command = isPlayable(incident) ? `  ${own} replay ${shellWord(sanitize(folder))}\n` : '';
  return `${sanitize(folder)}\n${wrapLines(lines, width)}${command}`;
}
