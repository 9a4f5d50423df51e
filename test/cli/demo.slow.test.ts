import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listProcesses } from '../../src/actors/process/processTable.ts';
import { descendants } from '../../src/actors/process/processTree.ts';
import { faultNames } from '../../testing/demo/faultNames.ts';
import type { TourReport } from '../../testing/demo/report.ts';
import { hasSqlite } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { runBuilt } from './startCli.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** What a tour has to say on stderr: where there is no SQLite, the one line that says so and names the fix. */
const expectedStderr: unknown = hasSqlite
  ? ''
  : expect.stringMatching(
      /^unwedge: Nothing is stored: .+\. Fix: run `npm (?:rebuild|install) better-sqlite3` .+\.\n$/,
    );

/** Newer versions of Node keep what they have compiled among the temporary files. */
const noCache = { NODE_DISABLE_COMPILE_CACHE: '1' };

/** Runs the tour with a directory of its own for temporary files. */
async function demo(...words: string[]) {
  const directory = temporaryDirectory();
  return { directory, ...(await runBuilt(['demo', ...words], { TMPDIR: directory, ...noCache })) };
}

/** How many times longer this machine takes, busy as it may be, than one on which Node starts in 50 ms. At least 1. */
function slowness(): number {
  const starts = Array.from({ length: 3 }, () => {
    const before = performance.now();
    spawnSync(process.execPath, ['-e', '']);
    return performance.now() - before;
  });
  return Math.max(1, Math.min(...starts) / 50);
}

describe('unwedge demo', () => {
  it('[I-1, I-2, I-3, G-1, G-3, G-4, G-6] sees every call end and every session go on, in under 20 s', async () => {
    const { code, stdout, stderr, directory } = await demo('--json');
    const report = JSON.parse(stdout) as TourReport;
    const problems = [...report.problems, ...report.faults.flatMap((fault) => fault.problems)];
    expect({ problems, code, stderr }).toEqual({ problems: [], code: 0, stderr: expectedStderr });
    expect(report.faults.map(({ fault }) => fault)).toEqual(faultNames);
    expect(report).toMatchObject({ ok: true, interrupted: false, processes: { left: [] } });
    expect(report.messages.duringRetries).toBeGreaterThan(0);
    expect(report.elapsedMs).toBeLessThan(20_000 * slowness());
    expect(readdirSync(directory)).toEqual([]);
  });

  it('[L-2] prints a line for each fault, a table and a verdict, without colour, in 100 columns', async () => {
    const { code, stdout, stderr } = await demo('--only', 'http-401,hook-throws');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expectedStderr });
    expect(stdout).toMatch(/^ {2}✓ http-401 +\S+ {2}error: auth: HTTP 401 Unauthorized$/m);
    expect(stdout).toMatch(/^http-401 +error: auth +\S+ +answered +\d+ +integration\/failure$/m);
    expect(stdout).toMatch(/^✓ 2 faults: every call ended as it should and every session went on, in /m);
    expect(stdout).not.toContain('\u001b');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  it('[L-1] names a fault it does not know with the nearest one it does, exit 2', async () => {
    const { code, stdout, stderr, directory } = await demo('--only', 'http-401,mcp-kiled');
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'unwedge: Unknown fault "mcp-kiled"; did you mean mcp-killed?\n',
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  it.runIf(hasSqlite)('[O-1] leaves a private database with --keep, and says how to look at it', async () => {
    const { stdout, directory } = await demo('--keep', '--only', 'http-401');
    const [home = ''] = readdirSync(directory);
    const path = join(directory, home, 'demo.sqlite');
    expect(stdout).toMatch(/^ +next +npx unwedge events --failed --db \S+\/demo\.sqlite$/m);
    expect(statSync(join(directory, home)).mode & 0o777).toBe(0o700);
    const events = await runBuilt(['events', '--failed', '--db', path]);
    expect(events.stdout).toContain('HTTP 401 Unauthorized');
  });

  it.runIf(hasSqlite)('[O-1] records into the database that --db names', async () => {
    const path = join(temporaryDirectory(), 'mine.sqlite');
    const { code, stdout, directory } = await demo('--json', '--only', 'http-401', '--db', path);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { store: { path, kept: true } }]);
    const left = readdirSync(directory, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => !entry.isDirectory())).toEqual([]);
    expect((await runBuilt(['events', '--failed', '--db', path])).stdout).toContain('HTTP 401 Unauthorized');
  });

  it.skipIf(!hasSqlite)('[L-5, O-6] can be looked at while it records into a database that --db names', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'tour.sqlite');
    const env = { ...process.env, XDG_RUNTIME_DIR: directory };
    const tour = spawn(process.execPath, [main, 'demo', '--only', 'cli-stubborn', '--db', path], {
      env,
      stdio: 'ignore',
    });
    const ended = once(tour, 'exit');
    let shown = 1;
    // It refuses until the gateway of the tour is there.
    while (shown !== 0 && tour.exitCode === null)
      shown = (await runBuilt(['status', '--tree', '--db', path])).code ?? 1;
    expect(shown).toBe(0);
    tour.kill('SIGINT');
    await ended;
  });

  it('[I-3] ends in order on Ctrl-C in the middle, with exit 130 and no child left', async () => {
    const directory = temporaryDirectory();
    const words = ['demo', '--only', 'mcp-stopped,cli-stubborn'];
    const child = spawn(process.execPath, [main, ...words], {
      env: { ...process.env, TMPDIR: directory, ...noCache },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close') as Promise<[number]>;
    // By its line the upstream's fault is over, while the command still runs and the server has been stopped.
    await once(
      child.stdout.setEncoding('utf8').on('data', () => undefined),
      'data',
    );
    let family: number[] = [];
    while (family.length < 3) family = await descendants(child.pid ?? 0);
    child.kill('SIGINT');
    const [code] = await ended;
    // What has ended may still wait for whoever inherited it.
    const left = (await listProcesses()).filter(({ pid, zombie }) => !zombie && family.includes(pid));
    expect([code, left, readdirSync(directory)]).toEqual([130, [], []]);
  });
});
