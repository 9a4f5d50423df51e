import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { agents } from '../../install/agents/agents.ts';
import { agentNames } from '../../install/configFile.ts';
import type { EntryReport } from '../../install/entry.ts';
import { systemFiles } from '../../install/files.ts';
import { install } from '../../install/install.ts';
import type { FileReport, InstallReport, InstallRequest } from '../../install/report.ts';
import { wrapWords } from '../../src/policy/text/face.ts';
import { describeDriver } from '../../reader/describeDriver.ts';
import { installDirectory } from '../../src/store/face.ts';
import { CommandError, knownWord, UsageError } from '../errors.ts';
import { type Io, pause } from '../io.ts';
import { plainText, sanitize, toJson } from '../sanitize.ts';
import { createStyle, type Style } from '../text.ts';
import type { InstallArgs } from './command.ts';
import { agentEnvironment, ownLauncher } from './ownLauncher.ts';
import { told } from '../ownCommand.ts';

/** Does what `unwedge install` was asked to do. Gives the exit code. */
export async function run(args: InstallArgs, io: Io): Promise<number> {
  const request = requestOf(args);
  const { env } = io;
  const uid = process.getuid?.();
  if (uid === 0 && env['SUDO_UID'] !== undefined) {
    throw new CommandError('Run it as yourself, without sudo: these files are yours. Nothing was done.');
  }
  const home = env['HOME'] || homedir();
  const world = {
    files: systemFiles,
    env: agentEnvironment(env),
    home,
    cwd: process.cwd(),
    platform: process.platform,
    uid,
    launcher: ownLauncher(env),
    stateDirectory: installDirectory(env),
    now: io.now,
    pause: (ms: number) => pause(io, ms),
    signal: io.signal,
  };
  const done = await orInterrupted(install(world, request), io);
  const isWrapped = !done.undo && done.files.some(({ status }) => status === 'changed');
  const report = isWrapped ? { ...done, notes: [...done.notes, ...(await storeNotes())] } : done;
  io.stdout.write(args.json ? toJson(report) : installText(report, request, home, io));
  return report.files.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** Warns that wrapped programs work without a store: nobody can look at them then. */
async function storeNotes(): Promise<readonly string[]> {
  const driver = await describeDriver();
  return driver.ok ? [] : [`What happens cannot be recorded: ${driver.reason}. Fix: ${driver.fix}.`];
}

/** @throws UsageError */
function requestOf(args: InstallArgs): InstallRequest {
  const words = args.operands;
  if (args.all && words.length > 0) throw new UsageError(`Expected an agent or \`--all\`, got both`);
  if (!args.all && words.length === 0) {
    throw new UsageError(`Missing AGENT; it is one of ${agentNames.join(', ')}, or --all`);
  }
  const named = [...new Set(words.map((word) => knownWord('agent', word, agentNames)))];
  return {
    agents: args.all ? agentNames : named,
    withProject: args.project,
    withCodexHooks: args['codex-hooks'],
    withGuard: knownWord('value of --guard', args.guard, ['spinning']) !== undefined,
    undo: args.undo,
    dryRun: args['dry-run'],
  };
}

async function orInterrupted(work: Promise<InstallReport>, { signal }: Io): Promise<InstallReport> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandError('Interrupted; each file is whole, as it was or changed. Run it again, or with --undo.', {
      cause: error,
    });
  }
}

/** Wider than this, a sentence is hard to read. */
const widest = 100;
const indent = '  ';

/** Writes the report of `unwedge install` to a person. */
function installText(report: InstallReport, request: InstallRequest, home: string, io: Io): string {
  const style = createStyle(io);
  const width = Math.min(io.columns, widest);
  const paragraphs = [
    ...report.files.map((file) => fileText(file, report, home, width, style)),
    ...(report.dryRun ? report.files.flatMap(({ diff }) => (diff === undefined ? [] : [diffText(diff, style)])) : []),
    [summary(report, request), ...nextSteps(report, request, io)].flatMap((text) => wrapped(text, width)).join('\n'),
  ];
  return `${paragraphs.join('\n\n')}\n`;
}

function fileText(file: FileReport, report: InstallReport, home: string, width: number, style: Style): string {
  const { path, scope, status, why, entries, notes, isExact } = file;
  const short = path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
  const lines = [style.bold(sanitize(short)) + (scope === 'user' ? '' : ` (${scope})`)];
  if (why !== undefined) lines.push(...row(status === 'failed' ? 'not done' : status, why, width, style));
  for (const entry of entries) {
    const about = entry.why === undefined ? entry.name : `${entry.name}: ${entry.why}`;
    const kind = entry.kind === 'setting' ? '' : `${entry.kind} `;
    lines.push(...row(wordOf(entry, report), kind + about, width, style));
  }
  if (report.undo && status === 'changed' && isExact !== undefined) {
    lines.push(...wrapped(exactness(isExact, report), width, indent));
  }
  for (const note of notes) lines.push(...wrapped(note, width, indent));
  return lines.join('\n');
}

function exactness(isExact: boolean, { dryRun }: InstallReport): string {
  if (!isExact) return 'What was edited since stays as it is.';
  return `It ${dryRun ? 'would be' : 'is'} to the byte what it was before.`;
}

const planned = {
  set: 'set',
  wrapped: 'wrap',
  repaired: 'repair',
  restored: 'restore',
  already: 'already',
  left: 'left',
} as const;

function wordOf({ action }: EntryReport, { dryRun }: InstallReport): string {
  return dryRun ? planned[action] : action;
}

function row(word: string, text: string, width: number, style: Style): string[] {
  const paint = word === 'left' || word === 'already' ? style.dim : word === 'not done' ? style.red : style.green;
  const [first = '', ...rest] = wrapped(told(text, style), width - 12);
  return [`${indent}${paint(word.padEnd(8))}  ${first}`, ...rest.map((line) => ' '.repeat(12) + line)];
}

function diffText(diff: string, style: Style): string {
  const paint = (line: string): string => {
    if (line.startsWith('+')) return style.green(line);
    return line.startsWith('-') ? style.red(line) : line;
  };
  return plainText(diff).trimEnd().split('\n').map(paint).join('\n');
}

function summary({ files, undo, dryRun }: InstallReport, request: InstallRequest): string {
  const changed = files.filter(({ status }) => status === 'changed');
  const entries = changed
    .flatMap((file) => file.entries)
    .filter(({ action }) => action !== 'left' && action !== 'already');
  if (changed.length === 0) {
    if (files.some(({ status }) => status === 'failed')) return 'Nothing was changed.';
    if (files.length > 0) return undo ? 'Nothing to undo.' : 'Nothing to do.';
    const who = isAll(request) ? 'any agent' : request.agents.map((name) => agents[name].title).join(' or ');
    return undo
      ? 'Nothing to undo: unwedge stands in front of nothing.'
      : `Nothing to do: no agent, MCP server or hook of ${who} is configured here.`;
  }
  const count = (kind: string) => {
    const { length } = entries.filter((entry) => entry.kind === kind);
    return length === 0 ? [] : [counted(length, kind)];
  };
  // A setting comes along with the servers that need it.
  const what = ['agent', 'server', 'hook'].flatMap(count).join(' and ') || count('setting').join('');
  const done = undo ? 'Restored' : 'Changed';
  const planning = undo ? 'Would restore' : 'Would change';
  const end = dryRun ? '. Nothing was written.' : '.';
  return `${dryRun ? planning : done} ${what || 'nothing else'} in ${counted(changed.length, 'file')}${end}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function nextSteps(report: InstallReport, request: InstallRequest, { own = 'unwedge' }: Io): readonly string[] {
  const { files, next, notes, undo, dryRun } = report;
  if (!files.some(({ status }) => status === 'changed')) return files.length > 0 ? notes : [];
  const words = `${own} ${commandLine(request)}`;
  if (dryRun) return [...notes, `To do it: ${words}${undo ? ' --undo' : ''}`];
  if (undo) return [...next, ...backups(files, ', with any keys in them; delete it once all works')];
  return [
    ...next,
    ...notes,
    ...(isAgentsAlone(files) ? [] : [toolLimit]),
    ...backups(files),
    `What happens from the first call on: ${own} status`,
    `Back again: ${words} --undo (before you remove unwedge: without it, what is wrapped does not start)`,
  ];
}

const toolLimit =
  'A call of a tool may take 6 minutes, unless its server says otherwise: put --call-timeout before the -- for more.';

const isAgentsAlone = (files: readonly FileReport[]): boolean =>
  files.every(({ entries }) => entries.every(({ kind, action }) => kind === 'agent' || action === 'left'));

const isAll = ({ agents: names }: InstallRequest): boolean => names.length === agentNames.length;

function commandLine(request: InstallRequest): string {
  const { withProject, withCodexHooks, withGuard, undo } = request;
  const options = [withProject ? ' --project' : '', withCodexHooks && !undo ? ' --codex-hooks' : ''];
  if (withGuard === true && !undo) options.push(' --guard spinning');
  return `install ${isAll(request) ? '--all' : request.agents.join(' ')}${options.join('')}`;
}

function backups(files: readonly FileReport[], more = ''): readonly string[] {
  const folder = files.flatMap(({ backup }) => (backup === undefined ? [] : [dirname(backup)]))[0];
  return folder === undefined ? [] : [`The files of before: ${folder}${more}`];
}

function wrapped(text: string, width: number, before = ''): readonly string[] {
  return wrapWords(sanitize(text), width - before.length).map((line) => before + line);
}
