import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runBuilt } from '../startCli.ts';

const fixture = fileURLToPath(new URL('../../fixtures/gateway.mjs', import.meta.url));
const idleFixture = fileURLToPath(new URL('../../fixtures/idleGateway.mjs', import.meta.url));

interface Home {
  readonly db: string;
  readonly runtime: string;
}

function makeHome(): Home {
  const home = temporaryDirectory();
  return { db: join(home, 'events.sqlite'), runtime: home };
}

/** A gateway in a process of its own, ready. */
async function startGateway({ db, runtime }: Home): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fixture, db], {
    env: { ...process.env, XDG_RUNTIME_DIR: runtime },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await once(child.stdout, 'data');
  return child;
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

interface Shown {
  readonly integrations: readonly { readonly integration: string; readonly circuit: string; readonly live: unknown }[];
  readonly runtimes: readonly {
    readonly pid: number;
    readonly liveness: string;
    readonly tree?: { readonly children: readonly object[] };
  }[];
}

const json = async (...words: string[]): Promise<Shown> =>
  JSON.parse((await runBuilt([...words, '--json'])).stdout) as Shown;

describe.skipIf(!hasSqlite)('the command line beside a running gateway', () => {
  it('[L-5] [V-9] shows its supervision tree, as text and as data', async () => {
    const home = makeHome();
    const gateway = await startGateway(home);
    const { code, stdout, stderr } = await runBuilt(['status', '--tree', '--db', home.db]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^gateway.mjs \\(pid ${gateway.pid}, started .*\\)\\nNAME +STATE`));
    expect(stdout).toMatch(/^├─ integration:flaky +running +open/m);
    // One that nothing was for yet has no actor.
    expect(stdout).toMatch(/^└─ session:agent:main +asleep +0$/m);
    expect((await json('status', '--tree', '--db', home.db)).runtimes).toMatchObject([
      { pid: gateway.pid, liveness: 'alive', tree: { type: 'supervisor', children: expect.any(Array) as unknown } },
    ]);
  });

  it('[L-5] shows every integration, with its circuit and its calls', async () => {
    const home = makeHome();
    await startGateway(home);
    const { stdout, stderr } = await runBuilt(['status', '--db', home.db]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^INTEGRATION +CIRCUIT +IN FLIGHT +WAITING +FAILED 10M +24H +CRASHED 10M +24H/m);
    expect(stdout).toMatch(/^flaky +open, probe in \S+ +0 +0 +1 +1 +0 +0 {2}.*boom/m);
    expect(stdout).toMatch(/^search +closed +0 +0 +0 +0 +0 +0$/m);
    expect(stdout).toMatch(/^slow +closed +1 +0 +0 +0 +0 +0$/m);
    expect((await json('status', '--db', home.db)).integrations).toMatchObject([
      { integration: 'flaky', circuit: 'open', live: [{ state: 'open' }] },
      { integration: 'limited', circuit: 'closed', live: [{ waiting: 1 }] },
      { integration: 'search', circuit: 'closed', live: [{ state: 'idle' }] },
      { integration: 'slow', circuit: 'closed', live: [{ state: 'calling', inFlight: 1 }] },
    ]);
  });

  it('[R-15] [L-5] shows the rate limit that calls wait for', async () => {
    const home = makeHome();
    await startGateway(home);
    const { stdout } = await runBuilt(['status', '--db', home.db]);
    expect(stdout).toMatch(/^limited waits for its rate limit: \S+ left \(requests 1\/day\)$/m);
    expect((await json('status', '--db', home.db)).integrations[1]).toMatchObject({
      integration: 'limited',
      live: [{ waiting: 1, rate: { of: 'requests', limit: 1, perMs: 86_400_000 } }],
    });
  });

  it('[L-5] [V-9] restarts what it is told to', async () => {
    const home = makeHome();
    const gateway = await startGateway(home);
    const { code, stdout } = await runBuilt(['restart', 'flaky', '--db', home.db]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^gateway.mjs \\(pid ${gateway.pid}, .*\\) was asked to restart "flaky"\\.\\n$`));
    expect((await json('status', '--db', home.db)).integrations[0]?.circuit).toBe('closed');
    expect((await runBuilt(['restart', 'agent:main', '--db', home.db])).code).toBe(0);
    const [runtime] = (await json('status', '--tree', '--db', home.db)).runtimes;
    // It slept: that is its first actor.
    expect(runtime?.tree?.children.at(-1)).toMatchObject({ id: 'session:agent:main', incarnation: 1 });
  });

  it('[L-5] tells several gateways that have an integration apart, and restarts all of them or one', async () => {
    const home = makeHome();
    const pids = [await startGateway(home), await startGateway(home)].map(({ pid }) => pid);
    const shown = (await runBuilt(['status', '--db', home.db])).stdout;
    expect(
      shown
        .match(/^slow\S* +closed +\d/gm)
        ?.map((line) => line.replace(/ +/g, ' '))
        .toSorted(),
    ).toEqual(['slow closed 2', ...pids.map((pid) => `slow@${pid} closed 1`)].toSorted());
    const one = await runBuilt(['restart', `slow@${pids[1]}`, '--db', home.db]);
    expect([one.code, one.stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^gateway.mjs \\(pid ${pids[1]}, .*\\) was asked to restart "slow"\\.\\n$`),
      ) as unknown,
    ]);
    const all = (await runBuilt(['restart', 'flaky', '--db', home.db])).stdout;
    expect(all.trimEnd().split('\n')).toHaveLength(3);
    expect(all).toMatch(/\n2 of that name were asked to\.\n$/);
    const none = await runBuilt(['restart', 'slow@1', '--db', home.db]);
    expect([none.code, none.stdout]).toEqual([1, '']);
    expect(none.stderr).toMatch(
      /^unwedge: No running gateway or proxy of pid 1 has "slow"; known: slow@\d+, slow@\d+\n$/,
    );
    const events = (await runBuilt(['events', '--category', 'operator', '--db', home.db])).stdout;
    expect(events.match(/flaky@\d+/g)?.toSorted()).toEqual(pids.map((pid) => `flaky@${pid}`).toSorted());
    expect(events).toMatch(/operator\/restarted +slow +what=calls calls=1 by=\S+$/m);
  });

  it.skipIf(process.platform === 'win32')(
    '[L-5] says of whom it does not know whether it has what is restarted',
    async () => {
      const home = makeHome();
      await startGateway(home);
      const hung = await startGateway(home);
      hung.kill('SIGSTOP');
      const { code, stdout, stderr } = await runBuilt(['restart', 'flaky', '--db', home.db]);
      hung.kill('SIGCONT');
      expect([code, stdout.split('\n')]).toEqual([0, [expect.stringContaining('was asked to restart "flaky".'), '']]);
      expect(stderr).toMatch(new RegExp(`^gateway.mjs \\(pid ${hung.pid}, .*\\) does not answer: .*\\n$`));
    },
  );

  it('[L-5] restarts nothing that no gateway has', async () => {
    const home = makeHome();
    await startGateway(home);
    const none = await runBuilt(['restart', 'flakey', '--db', home.db]);
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toBe('unwedge: No running gateway or proxy has "flakey"; did you mean "flaky"?\n');
    expect(await runBuilt(['restart', '--db', home.db])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^unwedge: Missing NAME; see `npx unwedge restart --help`\n$/) as string,
    });
  });

  it('[L-5] says after a stop what cannot be shown any more', async () => {
    const home = makeHome();
    await end(await startGateway(home), 'SIGTERM');
    expect(readdirSync(join(home.runtime, 'unwedge'))).toEqual([]);
    const { code, stdout, stderr } = await runBuilt(['status', '--tree', '--db', home.db]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^unwedge: No live runtime answers for .*: its supervision tree, .* cannot be shown; .*\n$/);
    expect((await runBuilt(['status', '--db', home.db])).stdout).toContain('No gateway runs on it');
    expect((await json('status', '--db', home.db)).integrations).toContainEqual(
      expect.objectContaining({ integration: 'flaky', circuit: 'open', live: [] }),
    );
    expect((await runBuilt(['restart', 'flaky', '--db', home.db])).stderr).toMatch(
      /^unwedge: No gateway or proxy that runs on/,
    );
  });

  it('[L-5] shows a killed gateway as dead until the next one starts', async () => {
    const home = makeHome();
    const killed = await startGateway(home);
    await end(killed, 'SIGKILL');
    expect(readdirSync(join(home.runtime, 'unwedge'))).toHaveLength(1);
    const { code, stderr } = await runBuilt(['status', '--tree', '--db', home.db]);
    expect(code).toBe(1);
    expect(stderr).toContain(`(pid ${killed.pid}, started `);
    expect(stderr).toContain('does not answer: its process is gone.');
    expect((await json('status', '--db', home.db)).runtimes).toMatchObject([{ pid: killed.pid, liveness: 'dead' }]);
    const next = await startGateway(home);
    const { runtimes } = await json('status', '--tree', '--db', home.db);
    expect(runtimes).toMatchObject([{ pid: next.pid, liveness: 'alive' }]);
    await end(next, 'SIGTERM');
    expect(readdirSync(join(home.runtime, 'unwedge'))).toEqual([]);
  });
});

describe.skipIf(!hasSqlite)('a gateway that is left alone', () => {
  it('[L-5] is not kept alive by its socket, nor by a client of it', async () => {
    const { db, runtime } = makeHome();
    const { stdout } = await execa(process.execPath, [idleFixture, db], { env: { XDG_RUNTIME_DIR: runtime } });
    expect(stdout).toBe('connected');
  });
});

describe('the command line on a directory', () => {
  it('[O-2] says that it is one, and which option named it', async () => {
    const directory = temporaryDirectory();
    const asked = [
      await runBuilt(['status', '--db', directory]),
      await runBuilt(['events'], { UNWEDGE_DB: directory }),
    ];
    expect(asked.map(({ code, stderr }) => [code, stderr])).toEqual([
      [1, `unwedge: ${directory} is a directory; --db takes the file of a database.\n`],
      [1, `unwedge: ${directory} is a directory; UNWEDGE_DB takes the file of a database.\n`],
    ]);
    const home = join(directory, 'home');
    const path = join(home, '.local', 'state', 'unwedge', 'unwedge.sqlite');
    mkdirSync(path, { recursive: true });
    const { stderr } = await runBuilt(['status'], { HOME: home, XDG_RUNTIME_DIR: home });
    expect(stderr).toBe(`unwedge: ${path} is a directory; name a file with --db FILE or UNWEDGE_DB.\n`);
    expect(existsSync(join(path, 'unwedge.sqlite'))).toBe(false);
  });
});
