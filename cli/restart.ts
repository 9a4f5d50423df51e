import { type LiveStatus, readStatusAnswer } from '../src/control/face.ts';
import { askRuntime } from '../operator/client.ts';
import { nearest } from '../src/policy/text/face.ts';
import type { JudgedRuntime } from '../src/store/face.ts';
import { type ShownName, createShownNames, nameAmong } from '../src/redaction/face.ts';
import { systemClock } from '../src/runtime/face.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError } from './errors.ts';
import { instanceName } from '../operator/integrationView.ts';
import type { Io } from './io.ts';
import { askRuntimes } from '../operator/askRuntimes.ts';
import { runtimesOf } from '../operator/unlisted.ts';
import { unansweredText } from '../operator/unknownOrder.ts';
import { problemLines, runtimeText } from './liveRuntimes.ts';
import { noteOf, reasonOption } from './orders.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { wrapLines } from './text.ts';

export const command = defineCommand({
  usage: 'restart NAME[@PID] [--reason TEXT] [--json] [--db FILE]',
  details: [
    'NAME is an integration or the id of a session. A server or session is started anew, also out of quarantine; of a function, an agent or',
    'a command the calls in flight end with an outcome that says so, and the circuit closes. What several running gateways or proxies have',
    'is restarted in all of them; NAME@PID, as `unwedge status` shows it, is the one in that process. Of `unwedge mcp --listen` NAME is all its',
    'servers, NAME-2 the one of a client. It is recorded as operator/restarted, and is no failure. Exits 1 when no running gateway of the database has it, or one that has did not do it.',
  ].join('\n'),
  options: reasonOption,
  operands: ['NAME'],
  choices: 'integrations or sessions',
  async run(args, io) {
    const [given = ''] = args.operands;
    const shown = createShownNames();
    const { name, runtimes } = await find(given, args.db, io, shown);
    const label = shown(name);
    const params = { name, ...noteOf(args.reason) };
    const asked = await Promise.all(
      runtimes.map(async (runtime) => ({
        runtime,
        answer: await askRuntime(runtime.socket ?? '', 'restart', params, { clock: systemClock }),
      })),
    );
    const done = asked.filter(({ answer }) => answer.ok).map(({ runtime }) => runtime);
    const failures = asked.flatMap(({ runtime, answer }) =>
      answer.ok
        ? []
        : [
            unansweredText(answer, { order: 'restart', name: label })?.replace(/\.$/, '') ??
              `${runtimeText(runtime, io.now())} did not restart ${quoted(label)}: ${sanitize(answer.message.replaceAll(name, label))}`,
          ],
    );
    if (args.json) io.stdout.write(toJson({ restarted: label, runtimes: done }));
    else io.stdout.write(doneText(label, done, io));
    if (failures.length > 0) throw new CommandError(failures.join('; '));
    return 0;
  },
});

function doneText(name: string, done: readonly JudgedRuntime[], io: Io): string {
  const lines = done.map((runtime) => `${runtimeText(runtime, io.now())} was asked to restart ${quoted(name)}.`);
  if (done.length > 1) lines.push(`${done.length} of that name were asked to.`);
  return lines.length === 0 ? '' : wrapLines(lines, io.columns);
}

/**
 * The live runtimes that have the integration or session; a name that one of them has as it is written is no NAME@PID.
 * @throws CommandError when there is none.
 */
async function find(
  given: string,
  db: string | undefined,
  io: Io,
  shown: ShownName,
): Promise<{ readonly name: string; readonly runtimes: readonly JudgedRuntime[] }> {
  const { path, rows } = await readDatabase(db, io, async (reader) => ({
    path: reader.path,
    rows: await runtimesOf(reader, io.now()),
  }));
  const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = asked.filter(({ answer }) => answer !== undefined);
  const known = [...new Set(live.flatMap(({ answer }) => namesIn(answer)))];
  const ownName = (name: string): string => nameAmong(known, name, shown) ?? name;
  const having = (name: string) =>
    live.filter(({ answer }) => namesIn(answer).includes(ownName(name))).map(({ runtime }) => runtime);
  const all = having(given);
  if (all.length > 0) {
    // It may have the name too, and goes on as it is.
    const unsure = asked.filter(({ runtime }) => runtime.liveness !== 'dead');
    io.stderr.write(problemLines(unsure, io.now()));
    return { name: ownName(given), runtimes: all };
  }
  const [, name = given, pid] = /^(.+)@(\d+)$/s.exec(given) ?? [];
  const named = pid === undefined ? [] : having(name);
  const one = named.filter((runtime) => runtime.pid === Number(pid));
  if (one.length > 0) return { name: ownName(name), runtimes: one };

  io.stderr.write(problemLines(asked, io.now()));
  if (live.length === 0)
    throw new CommandError(
      `No gateway or proxy that runs on ${sanitize(path)} answers; nothing was restarted. A server starts with its gateway, or with its client.`,
    );
  if (named.length > 0) {
    const there = named.map((runtime) => sanitize(instanceName(shown(name), runtime.pid))).join(', ');
    throw new CommandError(`No running gateway or proxy of pid ${pid} has ${quoted(shown(name))}; known: ${there}`);
  }
  const near = nearest(name, known);
  const guess =
    near === undefined
      ? `known: ${known.map((each) => sanitize(shown(each))).join(', ')}`
      : `did you mean ${quoted(shown(near))}?`;
  throw new CommandError(`No running gateway or proxy has ${quoted(shown(given))}; ${guess}`);
}

function namesIn(answer: LiveStatus | undefined): readonly string[] {
  const { integrations = [], sessions = [], groups = [] } = answer ?? {};
  return [
    ...integrations.map(({ integration }) => integration),
    ...groups.map(({ group }) => group),
    ...sessions.map(({ session }) => session),
  ];
}
