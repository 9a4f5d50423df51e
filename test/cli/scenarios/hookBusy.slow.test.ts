import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { setup } from '../../globalSetup.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const watcher = fileURLToPath(new URL('../../fixtures/exitAge.mjs', import.meta.url));
const atOnce = 8;
/** With the machine for itself, `UNWEDGE_BUSY=1 npm run test:slow -- hookBusy`, it judges how old each guard became, too. */
const isAlone = process.env['UNWEDGE_BUSY'] !== undefined;
const rounds = isAlone ? 4 : 1;
const loopsForEach = 2;
/** Node alone, times this, fits the limit of the host: no guard can be faster than the program that it is written for. */
const timesNode = 3;
const leastHostMs = 2000;

/** Processes that want all processors for themselves. */
function startBusyLoops(count: number): void {
  const loops = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  onTestFinished(() => {
    for (const loop of loops) loop.kill('SIGKILL');
  });
}

describe.runIf(process.platform === 'linux')('guards on a busy machine', () => {
  beforeAll(setup);

  it.each([
    ['on record', (home: string) => ({ UNWEDGE_DB: join(home, 'runs.sqlite') })],
    ['without a record', () => ({ UNWEDGE_DB: ':memory:' })],
  ])('[H-3] eight at once decline before the limit of their host, %s', async (_, envOf) => {
    const home = temporaryDirectory();
    const ages = join(home, 'ages');
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, EXIT_AGES: ages, ...envOf(home) };
    /** @returns exit codes, and how old each process was by the records of the system when it left, in ms. */
    const runAtOnce = async (...words: readonly string[]) => {
      rmSync(ages, { force: true });
      const options = { env, extendEnv: false, reject: false, input: '{}' } as const;
      await Promise.all(
        Array.from({ length: atOnce }, () => execa(process.execPath, ['--import', watcher, ...words], options)),
      );
      const lines = readFileSync(ages, 'utf8').trim().split('\n');
      return lines.map((line) => line.split(' ').map(Number));
    };
    startBusyLoops(loopsForEach * availableParallelism());
    const alone = await runAtOnce('-e', 'process.exit(0)');
    const hostMs = Math.max(leastHostMs, timesNode * Math.max(...alone.map(([, age = 0]) => age)));
    for (let round = 0; round < rounds; round++) {
      const limit = ['--on-failure', 'block', '--host-timeout', `${hostMs}ms`];
      const ended = await runAtOnce(main, 'hook', ...limit, '--', 'sleep', '600');
      expect(ended.map(([code]) => code)).toEqual(Array.from({ length: atOnce }, () => 2));
      // Of the time the system has the last word where others want its processors too.
      expect(ended.filter(([, age = 0]) => isAlone && age >= hostMs)).toEqual([]);
    }
  });
});
