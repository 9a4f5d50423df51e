import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { read, type Mutant, type Tried } from './report.ts';
import { isRoom, rooms, type Room } from './rooms.ts';
import { isNoticed, leastScore, scoreOf } from './score.ts';
import { change } from './stryker.ts';
import { explained, flat } from './survivors.ts';

const usage = `Usage: npm run mutate -- ROOM... [options]

  ROOM          ${Object.keys(rooms).join(', ')}, or all
  --share N     of 100 changes, how many are tried (default 5), drawn by the seed
  --all         every change: hours
  --seed N      what is drawn (default 1)
  --files PART  of the room's files those with this in their path; may be repeated
  --json FILE   every change that was tried, and what became of it
  --keep        writes the figures into test/mutation/scores.json

Exits 1 where fewer than ${leastScore} of 100 changes are noticed. What an earlier run has found is taken from .build/mutation where no test has changed since.
`;

function fail(message: string): never {
  process.stderr.write(`mutate: ${message}\n`);
  process.exit(2);
}

function given() {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    share: text('5'),
    all: flag,
    seed: text('1'),
    files: { type: 'string' as const, multiple: true as const, default: ['/'] as string[] },
    json: { type: 'string' as const },
    keep: flag,
    help: flag,
  } satisfies ParseArgsConfig['options'];
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    return fail((error as Error).message);
  }
}

const { values, positionals } = given();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const asked = positionals.includes('all') ? (Object.keys(rooms) as Room[]) : positionals;
const sample = { seed: Number(values.seed), share: values.all ? 100 : Number(values.share) };
if (asked.length === 0) fail(`expected a room, which is one of ${Object.keys(rooms).join(', ')}`);
if (!(sample.share > 0 && sample.share <= 100)) fail(`expected a share up to 100, got ${values.share}`);
if (!Number.isInteger(sample.seed)) fail(`expected a whole number as seed, got ${values.seed}`);
const played: object[] = [];
for (const room of asked) {
  if (!isRoom(room)) fail(`expected a room, which is one of ${Object.keys(rooms).join(', ')}, got "${room}"`);
  await play(room);
}
if (values.json !== undefined) {
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify(played, undefined, 1)}\n`);
}

async function play(room: Room): Promise<void> {
  const files = readdirSync(`src/${room}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${room}/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts') && values.files.some((part) => file.includes(part)))
    .sort();
  if (files.length === 0) fail(`no file of ${room} has ${values.files.join(' or ')} in its path`);
  const from = performance.now();
  const tried: Tried[] = [];
  for (const group of groups(files)) {
    const found = read(await change(room, group, sample), (file) => group.includes(file));
    tried.push(found);
    if (values.all) console.log(`${group.join(' ')}: ${inWords(found.mutants)}`);
  }
  const sum = (key: 'drawable' | 'ignored' | 'refused'): number => tried.reduce((all, each) => all + each[key], 0);
  const mutants = tried.flatMap((each) => each.mutants);
  const survivors = mutants.filter((mutant) => !isNoticed(mutant));
  const unexplained = survivors.filter((mutant) => explained(mutant) === undefined);
  for (const { file, location, code, replacement, status } of unexplained)
    console.log(
      `${file}:${location.start.line}:${location.start.column}  ${flat(code)}  →  ${flat(replacement)}${status === 'uncovered' ? '  (no test runs it)' : ''}`,
    );
  const minutes = ((performance.now() - from) / 60_000).toFixed(1);
  console.log(
    `${room}: ${inWords(mutants)}, of ${sum('drawable')} there are (seed ${sample.seed}); ${sum('refused')} did not compile; ${survivors.length - unexplained.length} of ${survivors.length} survivors are explained; ${minutes} min`,
  );
  played.push({ room, ...sample, mutants });
  if (scoreOf(mutants).score < leastScore) process.exitCode = 1;
  if (!values.keep) return;
  const path = new URL('scores.json', import.meta.url);
  const kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
  const { tried: all, killed } = scoreOf(mutants);
  kept[room] = {
    ...sample,
    mutants: sum('drawable'),
    refused: sum('refused'),
    texts: sum('ignored'),
    tried: all,
    killed,
    ofTheseByTime: mutants.filter(({ status }) => status === 'timeout').length,
    explained: survivors.length - unexplained.length,
  };
  writeFileSync(path, `${JSON.stringify(kept, undefined, 2)}\n`);
}

function inWords(of: readonly Mutant[]): string {
  const { tried: all, killed, score, interval } = scoreOf(of);
  const within = sample.share < 100 ? ` (95 %: ${interval.map((each) => each.toFixed(1)).join(' to ')} %)` : '';
  return `${killed} of ${all} are noticed, ${score.toFixed(1)} %${within}`;
}

/** Several files at a time: a run that is stopped keeps what it has. */
function groups(files: readonly string[]): string[][] {
  if (!values.all) return [[...files]];
  return Array.from({ length: Math.ceil(files.length / 6) }, (_, index) => files.slice(index * 6, index * 6 + 6));
}
