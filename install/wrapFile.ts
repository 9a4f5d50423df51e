import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Agent, HookRules, Rules } from './agents/agent.ts';
import { readWrappedLine, unwrapLine, wrapLine } from './agentLine.ts';
import { inFrontOf, wrapArgv } from './argvEdits.ts';
import { type Document, tokenOf } from './document.ts';
import { entryName, type EntryReport, nameOptions, type Program, wordsOf } from './entry.ts';
import { restartedGuard } from './guard.ts';
import { isPlainCommand, readWrappedHook, restartShellHook, splitShell, wrapShellHook } from './hookText.ts';
import { type Launcher, type OwnCommand, readOwnCommand } from './launcher.ts';
import { type Found, findPrograms } from './programs.ts';
import type { EntryRecord } from './record.ts';
import { numberIn, scalarIn, type TextEdit } from './tree.ts';
import type { ConfigFile } from './configFile.ts';

/** Facts that entries of a file are judged by. */
export interface Wrapping {
  readonly agent: Agent;
  readonly rules: Rules | undefined;
  readonly launcher: Launcher;
  /** True where hooks are wrapped that an agent has to be asked for. */
  readonly withRequestedHooks: boolean;
  /** Tells whether the file gets the guard against repetition; then nothing is wrapped. Undefined: it was not asked for. */
  readonly withGuard?: boolean | undefined;
  readonly isThere: (path: string) => boolean;
  readonly isWindows: boolean;
  /** Paths of this program, of now and of before. */
  readonly scripts: ReadonlySet<string>;
  /** Hooks of files that stay as they are, by {@link hookIdentity}. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

/** An entry, what becomes of it, and how. */
interface Judged {
  readonly report: EntryReport;
  readonly edits: readonly TextEdit[];
  /** Record of one that is wrapped now. */
  readonly record?: EntryRecord | undefined;
}

/** By how much the limit of a call that is written along is below that of the agent, in ms: ours ends the call first, and says why. */
const mostAheadMs = 5000;
/** Share of a short limit that it takes. */
const partAhead = 0.1;

/** Judges each server and hook of a file, in its order. */
export function wrapEntries(document: Document, file: ConfigFile, wrapping: Wrapping): readonly Judged[] {
  const found = findPrograms(document, file);
  return found.map((each) => {
    if ('why' in each) return leftAs(each.kind, each.name, each.why);
    const own = ownEntry(document, each.program, wrapping);
    if (own !== undefined) return own;
    return each.program.kind === 'hook'
      ? judgeHook(document, each.program, each.event ?? '', found, wrapping)
      : judgeServer(document, each.program, wrapping);
  });
}

/** Equal hooks of an event run once. */
export function hookIdentity(event: string, program: Program): string {
  return JSON.stringify([event, program.isShell, ...wordsOf(program)]);
}

const leftAs = (kind: EntryReport['kind'], name: string, why: string): Judged => ({
  report: { kind, name, action: 'left', why },
  edits: [],
});

const left = (program: Program, why: string): Judged => leftAs(program.kind, entryName(program), why);

/** Judges an entry that starts unwedge already. */
function ownEntry(document: Document, program: Program, { scripts, isThere, launcher }: Wrapping): Judged | undefined {
  const words = program.isShell ? splitShell(program.command.value) : wordsOf(program);
  const own = readOwnCommand(words ?? [], scripts);
  const { kind } = program;
  const name = entryName(program, originalOf(program, own));
  if (own === undefined) {
    const isOwn = kind === 'hook' && program.isShell && /\bunwedge(?:\.cmd|\.exe)? hook\b/.test(program.command.value);
    return isOwn ? { report: { kind, name, action: 'already' }, edits: [] } : undefined;
  }
  const guard = restartedGuard(program.command.value, launcher);
  if (own.wraps === undefined && guard === undefined) return left(program, 'it is unwedge itself');
  const started = (words ?? []).slice(0, own.launcherWords);
  const isStale =
    // A package runner finds it by itself; files that others have too name no paths.
    started.length <= 2 &&
    launcher.args.length === 1 &&
    !isDeepStrictEqual(started, [launcher.command, ...launcher.args]) &&
    // Node may be gone as well as the script: with an update of it, say.
    started.some((word) => isAbsolute(word) && !isThere(word));
  if (!isStale) return { report: { kind, name, action: 'already' }, edits: [] };
  const edits = repairEdits(document, program, { launcher, scripts, launcherWords: own.launcherWords });
  return { report: { kind, name, action: edits.length === 0 ? 'already' : 'repaired' }, edits };
}

function originalOf({ isShell }: Program, own: OwnCommand | undefined): string | undefined {
  const [command, flag, text] = own?.wraps?.rest ?? [];
  return isShell && /^-l?c$/.test(flag ?? '') ? text : command;
}

/** The paths of now in the place of those that are gone. */
function repairEdits(
  document: Document,
  program: Program,
  { launcher, scripts, launcherWords }: Pick<Wrapping, 'launcher' | 'scripts'> & Pick<OwnCommand, 'launcherWords'>,
): readonly TextEdit[] {
  const [script] = launcher.args;
  if (script === undefined) return [];
  const guard = restartedGuard(program.command.value, launcher);
  if (guard !== undefined) return [{ range: program.command.range, text: tokenOf(guard) }];
  if (program.isShell && program.kind === 'agent') {
    const line = readWrappedLine(program.command.value, scripts);
    return line === undefined ? [] : [unwrapLine(document, program, line, launcher)];
  }
  if (program.isShell) {
    const wrapped = readWrappedHook(program.command.value, scripts);
    return wrapped === undefined ? [] : [restartShellHook(document, program, wrapped, launcher)];
  }
  const { args } = program;
  const [first] = args?.items ?? [];
  if (args === undefined || first === undefined) return [];
  const replaced = { range: program.command.range, text: tokenOf(launcher.command) };
  // Node takes the place of a program of our name that stood alone, and the script comes behind it.
  if (launcherWords === 1) return [replaced, inFrontOf(document, args, [tokenOf(script)])];
  return [replaced, { range: first.range, text: tokenOf(script) }];
}

/** Judges a server, or an agent. */
function judgeServer(document: Document, program: Program, wrapping: Wrapping): Judged {
  const { agent, rules, launcher } = wrapping;
  const { kind, table, command, isShell } = program;
  const type = scalarIn(table, 'type');
  const why =
    (type !== undefined && !(kind === 'agent' ? ['custom'] : (agent.localTypes ?? ['stdio'])).includes(String(type))
      ? `it is of the type ${JSON.stringify(type)}`
      : undefined) ??
    (scalarIn(table, 'enabled') === false || scalarIn(table, 'disabled') === true ? 'it is disabled' : undefined) ??
    (document.format === 'yaml' && document.text.slice(...command.range).includes('\n')
      ? 'its command is written in several lines'
      : undefined) ??
    (command.value.includes('${input:') ? 'its command is asked for when it starts' : undefined) ??
    agent.leavesServer?.(program) ??
    rules?.server(program) ??
    (isShell && splitShell(command.value) === undefined ? 'it is more than plain words' : undefined);
  if (why !== undefined) return left(program, why);
  const limitMs = kind === 'agent' ? undefined : agent.callLimitMs?.(program);
  const options = [
    ...nameOptions(program),
    ...(limitMs === undefined ? [] : ['--call-timeout', durationOf(limitMs - aheadOf(limitMs))]),
    ...(agent.maxResult === undefined || kind !== 'server' ? [] : ['--max-result', agent.maxResult]),
  ];
  const edits = isShell ? [wrapLine(program, launcher, options)] : wrapArgv(document, program, { launcher, options });
  return wrapped(document, program, edits);
}

function judgeHook(
  document: Document,
  program: Program,
  event: string,
  found: readonly Found[],
  wrapping: Wrapping,
): Judged {
  const { agent, rules, launcher, elsewhere, withRequestedHooks, isWindows } = wrapping;
  const { hooks } = agent;
  if (hooks === undefined) return left(program, 'its hooks are not known');
  const identity = hookIdentity(event, program);
  const { shell = '/bin/sh -c' } = hooks;
  const twin = elsewhere.get(identity);
  const why =
    hooks.leaves(program, document) ??
    rules?.hooks ??
    (isWindows && program.isShell ? 'its shell on Windows is not known' : undefined) ??
    (hooks.onRequest !== undefined && !withRequestedHooks ? hooks.onRequest : undefined) ??
    (hooks.shell === undefined && program.isShell && !isPlainCommand(program.command.value)
      ? 'it is more than plain words, and its shell is not known'
      : undefined) ??
    (twin === undefined ? undefined : `${twin} has the same, and stays: both would run`);
  if (why !== undefined) return left(program, why);
  // Equal hooks must stay equal whatever their own limits are.
  const limits = found.flatMap((each) =>
    'program' in each && each.event === event && hookIdentity(event, each.program) === identity
      ? [numberIn(each.program.table, 'timeout')]
      : [],
  );
  const limitMs = shortest(limits, hooks, event);
  const options = [
    '--keep-background',
    ...(limitMs === undefined ? [] : ['--host-timeout', durationOf(limitMs)]),
    ...(hooks.blocks(program) ? ['--on-failure', 'block'] : []),
  ];
  const edits = program.isShell
    ? [wrapShellHook(document, program, launcher, options, shell)]
    : wrapArgv(document, program, { launcher, options });
  return wrapped(document, program, edits);
}

function shortest(limits: readonly (number | undefined)[], hooks: HookRules, event: string): number | undefined {
  const { unitMs = 1000 } = hooks;
  const given = limits.map((limit) => (limit === undefined ? hooks.defaultMs(event) : limit * unitMs));
  const all = given.filter((each) => each !== undefined);
  return all.length === 0 ? undefined : Math.min(...all, hooks.mostMs?.(event) ?? Infinity);
}

function wrapped(document: Document, program: Program, edits: readonly TextEdit[]): Judged {
  const { kind, path, command, commandKey, args } = program;
  const record: EntryRecord = {
    kind,
    path,
    commandKey,
    command: command.value,
    raw: document.text.slice(...command.range),
    hadArgs: args !== undefined,
  };
  return { report: { kind, name: entryName(program), action: 'wrapped' }, edits, record };
}

const aheadOf = (limitMs: number): number => Math.min(mostAheadMs, limitMs * partAhead);

function durationOf(ms: number): string {
  const whole = Math.max(1, Math.floor(ms));
  return whole % 1000 === 0 ? `${whole / 1000}s` : `${whole}ms`;
}
