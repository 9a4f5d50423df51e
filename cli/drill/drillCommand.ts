import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentNames } from '../../install/configFile.ts';
import { fitText, formatDuration, wrapWords } from '../../src/policy/text/face.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';
import type { ArgsOf } from '../command.ts';
import { worldOf } from '../doctor/look.ts';
import { CommandError, knownWord, UsageError, valueAmong } from '../errors.ts';
import type { Io } from '../io.ts';
import { sanitize, toJson } from '../sanitize.ts';
import { counted, createStyle, helpWidth, wrapLines } from '../text.ts';
import type { form } from './command.ts';
import { type DrillFinding, judgeDrill } from './judge.ts';
import { rows, type Target } from './rows.ts';
import { bareMs, type Observation, observe, type Place } from './run.ts';
import { readTargets } from './targets.ts';
import { typed } from '../ownCommand.ts';

/** Targets that are drilled at a time, the time for all of them in ms, and characters of an answer that are shown. */
const [atOnce, mostMs, mostShown] = [5, 110_000, 1000];

/** Does what `unwedge drill` was asked to do. Gives the exit code. */
export async function run(args: ArgsOf<typeof form>, io: Io): Promise<number> {
  const clients = args.operands.map((word) => knownWord('client', word, agentNames));
  const looking = worldOf({ ...args, probe: false, all: false }, io);
  const secrets = new KnownSecrets(io.env);
  const redactor = createTextRedactor(secrets);
  const clean = (text: string): string => sanitize(redactor.text(text));
  const tell = (line: string): void => void io.stderr.write(wrapLines([clean(line)], helpWidth(io.columns)));
  const all = await readTargets({ ...args, clients }, looking, io, tell);
  if (all.length > 0) valueAmong('--only', args.only, [...new Set(all.map(({ name }) => name))]);
  const targets = all.filter(({ name }) => args.only === undefined || name === args.only);
  for (const { env } of targets) secrets.learn(env);
  if (targets.length === 0)
    throw new UsageError('Nothing to drill: no client has anything here, and no --config is given');
  const starts = targets.filter(({ kind, words, front }) => (kind === 'hook' ? args.effects : (words[0] ?? front)));
  if (!args.yes && starts.length > 0) {
    tell('This starts, some times each:');
    for (const { name, owner, words, url } of starts) tell(`${name} of ${owner}: ${words.join(' ') || url}`);
    if (io.ask === undefined) throw new UsageError('Nobody is there to be asked: --yes starts them');
    if (!/^y(?:es)?$/i.test((await io.ask('Start them? [y/N] ')).trim())) throw new CommandError('Nothing was started');
  }
  const folder = mkdtempSync(join(tmpdir(), 'unwedge-drill-'));
  const drilled: object[] = [];
  let tries = 0;
  // Of a terminal the last line is written over, elsewhere nobody looks on.
  const progress = (text: string): void => {
    if (io.ask) io.stderr.write(`\r\u001B[K${fitText(clean(text), helpWidth(io.columns) - 1)}`);
  };
  const begins = (name: string, fault: string): void =>
    progress(`${drilled.length} of ${targets.length} done, ${++tries} faults tried; now ${name}: ${fault}`);
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(mostMs)]);
  const place = { folder, env: looking.env, effects: args.effects, signal, begins };
  const longestMs = Math.max(0, ...targets.map(({ kind, limitMs = 0 }) => (kind === 'server' ? limitMs : 0)));
  let broken = 0;
  const waiting = targets.values();
  const work = async (): Promise<void> => {
    for (const target of waiting) {
      const seen = (await observeAll(target, place)).map((each) => ({ ...each, text: clean(each.text) }));
      if (io.signal.aborted) return;
      const findings = judgeDrill(target, seen, longestMs, io.now());
      const { kind, name, owner, file } = target;
      drilled.push({ kind, name, owner, file, seen, findings });
      broken += findings.length;
      progress('');
      if (!args.json) io.stdout.write(drilledText(target, seen, findings, io));
    }
  };
  if (!args.json) tell(`Trying ${counted(targets.length, 'entry', 'entries')}; two minutes at most.`);
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  progress('');
  if (io.signal.aborted) {
    tell('Ended before all was tried; what it started is gone.');
    return 128 + constants.signals.SIGINT;
  }
  if (signal.aborted) tell('Its time was over before all was tried.');
  if (args.json) io.stdout.write(toJson({ schemaVersion: 1, ok: broken === 0, drilled }));
  else {
    const cut = `For the drill limits behind unwedge are cut to seconds, and a call without it is waited for ${bareMs / 1000}s at most.`;
    const ends = broken === 0 ? 'All held.' : `Did not hold: ${broken}.`;
    io.stdout.write(wrapLines(starts.length > 0 ? [cut, ends] : [ends], helpWidth(io.columns)));
  }
  return broken === 0 ? 0 : 1;
}

/** Hears what is tried. */
type Watched = { readonly begins: (name: string, fault: string) => void };

/** Tries one fault after the other: a server may not stand beside itself. */
async function observeAll(target: Target, place: Place & Watched): Promise<readonly Observation[]> {
  const { kind, words, front, url } = target;
  const seen: Observation[] = [];
  for (const row of rows) {
    const isWell = row.fault === 'none';
    // Faults stand before a program alone, and what stands elsewhere is asked through us.
    const isOff = kind === 'hook' ? isWell && !place.effects : words.length === 0 && !(isWell && front && url);
    if (row.on !== kind || isOff || (front?.verb === 'agent' && row.fault === 'killed')) continue;
    place.begins(target.name, row.fault);
    const one = place.signal.aborted ? undefined : await observe(target, row, place);
    if (one === undefined || place.signal.aborted) break;
    seen.push(one);
    if (isWell && kind !== 'hook' && (one.got !== 'answer' || one.asked === 0)) break;
  }
  return seen;
}

function drilledText(target: Target, seen: readonly Observation[], findings: readonly DrillFinding[], io: Io): string {
  const { bold, green, red } = createStyle(io);
  const behind = target.front === undefined ? '' : ', behind unwedge';
  const away = seen.length > 0 && target.url !== undefined ? '; at an address: no fault was put before it' : '';
  const sign = findings.length === 0 ? green('✓') : red('✗');
  const lines: string[] = [];
  const hang = (start: string, text: string): void => {
    const wrapped = wrapWords(sanitize(text), helpWidth(io.columns) - start.length);
    lines.push(...wrapped.map((line, at) => (at === 0 ? start : ' '.repeat(start.length)) + line));
  };
  hang('  ', `${target.name}, ${target.kind} of ${target.owner}${behind}${away}`);
  lines[0] = `${sign} ${bold(lines[0]?.slice(2) ?? '')}`;
  for (const { fault, text, ms, goesOn, left } of seen) {
    const said = (fault === 'none' ? text : text.replace(/; called: .*\)$/, ')')).slice(0, mostShown);
    const passed = fault === '429' && target.kind === 'server' ? '; passed on: it is the result of a tool' : '';
    const rest = left.processes + left.files > 0 ? `; left: ${left.processes} processes, ${left.files} files` : '';
    const start = `    ${fault.padEnd(8)}${formatDuration(ms).padStart(5)}  `;
    hang(start, `${said}${passed}${goesOn ? '' : '; then no more'}${rest}`);
  }
  for (const { id, summary, set } of findings) {
    hang('  ! ', `${id}: ${summary}`);
    hang('    set: ', typed(set, io));
  }
  return `${lines.join('\n')}\n`;
}
