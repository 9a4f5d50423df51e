import { existsSync } from 'node:fs';
import { messageOf } from '../src/policy/failures/face.ts';
import { isPostgresUrl } from '../src/policy/text/face.ts';
import { mattersOf } from './attention.ts';
import { databasePlace } from './databasePath.ts';
import { shortened } from './doctor/doctorCommand.ts';
import type { ToldFinding } from './doctor/finding.ts';
import { ownCommand, typed } from './ownCommand.ts';
import { look, worldOf } from './doctor/look.ts';
import type { Io } from './io.ts';
import { type Look, lookAround } from './lookAround.ts';
import { sanitize } from './sanitize.ts';
import { counted, helpWidth, wrapLines, wrapProse } from './text.ts';

/** Findings that say that there is nothing. */
const nothings: ReadonlySet<string> = new Set(['agents', 'config.none']);

/** Answers `unwedge` alone: what is configured and on record here, and one command to go on with. Nothing is started or changed. */
export async function hereText(io: Io): Promise<string> {
  const width = helpWidth(io.columns);
  const world = worldOf({ db: undefined, config: undefined, probe: false, all: false }, io);
  const findings = await look(['configuration', 'agents'], world, io);
  const own = ownCommand(world);
  const view = await recorded(io).catch((error: unknown) => messageOf(error));
  const found = findings.filter(({ status, id }) => status === 'ok' && !nothings.has(id));
  const bad = findings.filter(({ status }) => status !== 'ok');
  const lines = [
    ...found.map(({ summary }) => summary),
    ...(bad.length === 0 ? [] : [lookText(bad, own)]),
    ...(view === undefined ? [] : [typeof view === 'string' ? view : recordText(view, io.now())]),
  ];
  const { command, why } = nextOf(findings, view);
  const here = lines.length === 0 ? ['no client has servers, hooks or agents, and nothing is on record'] : lines;
  const purpose = 'unwedge keeps agent gateways unstuck: every call ends, the session goes on, nothing is left behind.';
  return wrapLines(
    [
      ...wrapProse(purpose, width),
      '',
      'Here:',
      ...here.map((line) => `  ${shortened(sanitize(line), world.home)}`),
      '',
      `Next: ${typed(command, { own })}`,
      `  ${why}`,
      '',
      `All commands: ${own} --help`,
    ],
    width,
  );
}

/** The look at the record; undefined where there is none. */
async function recorded(io: Io): Promise<Look | undefined> {
  const place = databasePlace(undefined, io.env);
  if (!isPostgresUrl(place) && !existsSync(place)) return undefined;
  return lookAround(undefined, io);
}

function lookText(bad: readonly ToldFinding[], own: string): string {
  const worst = bad.find(({ status }) => status === 'fail') ?? bad[0];
  const [need, shown] = bad.length === 1 ? ['needs a look', 'it'] : ['need a look, the worst', 'all'];
  return `${counted(bad.length, 'thing')} in it ${need}: ${worst?.summary ?? ''} (${own} doctor shows ${shown})`;
}

function recordText({ view, watched }: Look, now: number): string {
  const { database, integrations, sessions, moreSessions, needs, health } = view;
  const [worst] = mattersOf(watched, now, undefined);
  const counts = `${counted(integrations.length, 'integration')}, ${counted(sessions.length + moreSessions, 'session')} of the last 24 hours`;
  const standing =
    health === 'well'
      ? 'all is well'
      : `${counted(needs.length, 'matter')} to look at${worst === undefined ? '' : `, first: ${worst.what}`}`;
  return `On record in ${database}: ${counts}; ${standing}`;
}

interface Next {
  readonly command: string;
  readonly why: string;
}

/** The command that is most worth it. */
function nextOf(findings: readonly ToldFinding[], view: Look | string | undefined): Next {
  if (typeof view === 'object' && view.view.health !== 'well')
    return { command: 'unwedge status', why: 'what needs a look, the worst first' };
  if (typeof view === 'string' || findings.some(({ status }) => status === 'fail'))
    return { command: 'unwedge doctor', why: 'what is broken, and the command that mends it' };
  const unwrapped = findings.find(({ id, next }) => id === 'agent' && next !== undefined)?.next;
  if (unwrapped !== undefined)
    return { command: unwrapped, why: 'shows what it would put behind unwedge; nothing is written' };
  if (view !== undefined)
    return { command: 'unwedge status', why: 'each integration with its circuit, failures and last error' };
  return {
    command: 'unwedge demo',
    why: 'crashes, hangs and throttles servers of its own: every call ends',
  };
}
