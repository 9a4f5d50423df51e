import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notDrawn, type Report } from './report.ts';
import { rooms, type Room } from './rooms.ts';
import type { Sample } from './sample.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const inPackages = (path: string): string =>
  fileURLToPath(new URL(`node_modules/@stryker-mutator/${path}`, import.meta.url));
const kept = join(root, '.build/mutation');

/** Folders that the changed copy of the repository does without. */
const notCopied = [
  '/.build*',
  '/bench',
  '/dist',
  '/docs/pictures',
  '/findings',
  '/plugins',
  '/site',
  '/test/real',
  '/examples',
];

/** Changes files of a room one place after the other, and runs the tests that pass there. What an earlier run has found, and no test since touches, is taken from it. */
export async function change(room: Room, files: readonly string[], sample: Sample): Promise<Report> {
  const name = `${room}-${process.pid}`;
  const report = join(kept, `${name}.report.json`);
  const incremental = join(kept, `${room}.incremental.json`);
  const config = join(kept, `${name}.config.json`);
  mkdirSync(kept, { recursive: true });
  rmSync(report, { force: true });
  const options = {
    testRunner: 'warm',
    plugins: [inPackages('vitest-runner/dist/src/index.js'), fileURLToPath(new URL('plugin.ts', import.meta.url))],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
    mutate: files,
    ignorers: ['texts'],
    checkers: ['sample'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    // The TypeScript of the repository has no interface for programs, which Stryker would rewrite this file with.
    tsconfigFile: 'none',
    tempDirName: join('.build/mutation', `${name}.copy`),
    ignorePatterns: notCopied,
    incremental: true,
    incrementalFile: relative(root, incremental),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: relative(root, report) },
    // On a busy machine a test may take many times what it took at first.
    timeoutMS: 15_000,
    dryRunTimeoutMinutes: 15,
    warnings: { unknownOptions: false },
    allowConsoleColors: false,
  };
  writeFileSync(config, JSON.stringify(options));
  const log = join(kept, `${room}.log`);
  const code = await run([inPackages('core/bin/stryker.js'), 'run', config], log, {
    MUTATION_TESTS: rooms[room].join(' '),
    MUTATION_SAMPLE: JSON.stringify(sample),
  });
  rmSync(config);
  if (code !== 0 || !existsSync(report)) throw new Error(`Stryker ended with ${code}: see ${log}`);
  const found = JSON.parse(readFileSync(report, 'utf8')) as Report;
  rmSync(report);
  forgetNotDrawn(incremental);
  return found;
}

/** Takes out the mutants that were not run: another sample may have them. */
function forgetNotDrawn(path: string): void {
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  const files: unknown = Object.fromEntries(
    Object.entries(report.files).map(([name, file]) => [
      name,
      { ...file, mutants: file.mutants.filter(({ statusReason }) => statusReason !== notDrawn) },
    ]),
  );
  writeFileSync(path, JSON.stringify({ ...report, files }));
}

async function run(words: readonly string[], log: string, env: Readonly<Record<string, string>>): Promise<number> {
  const file = createWriteStream(log, { flags: 'a' });
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, ...env, CI: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(file, { end: false });
  const code = await new Promise<number>((resolve) => child.on('close', (exitCode) => resolve(exitCode ?? 1)));
  file.end();
  return code;
}
