import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Fact, Told } from '../../../src/policy/facts/facts.ts';
import { startPostgresProxy } from '../../support/postgresProxy.ts';
import { hasPostgres, postgresServer } from '../../support/postgresServer.ts';
import { renewals } from '../../store/renewals.ts';
import { newSchema } from '../../store/startPostgres.ts';

const program = fileURLToPath(new URL('../../fixtures/keptGateway.mjs', import.meta.url));

/** A gateway in a process of its own that is in the middle of a turn, behind a proxy, and one here that waits for its session. */
async function startTwo({ nodeOptions = '' } = {}) {
  const { url, ask } = await newSchema();
  const { port, crash } = await postgresServer();
  const proxy = await startPostgresProxy(port);
  const child: ChildProcess = spawn(process.execPath, [program, url.replace(`:${port}/`, `:${proxy.port}/`)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: nodeOptions },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => lines.push(line));
  const said = (line: string, timeout = 15_000) => expect.poll(() => lines, { timeout }).toContain(line);
  await said('ready');
  child.stdin?.write('1\n');
  await said('calling 1');
  const seen: unknown[] = [];
  const gateway = createGateway({ store: url, control: false });
  onTestFinished(() => gateway.stop());
  const facts: Told<Fact>[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const session = gateway.session('agent:main', {
    onMessage: ({ data }, turn) => void seen.push([data, turn.delivery, performance.now()]),
  });
  await gateway.start();
  expect(session.heldElsewhere).toBe(true);
  /** How long after `at` the turn was begun again here, in ms. */
  const taken = async (at: number): Promise<number> => {
    await expect.poll(() => seen.length, { timeout: 20_000, interval: 10 }).toBe(1);
    const [[data, delivery, begun]] = seen as [[unknown, number, number]];
    expect([data, delivery]).toEqual([{ n: 1 }, 2]);
    return begun - at;
  };
  const results = (): Promise<unknown> => ask('SELECT state, deliveries FROM uw.message ORDER BY number');
  return { child, said, lines, proxy, crash, gateway, session, facts, taken, results, ask };
}

// What is promised is 3 s; a busy machine is given more.
const inTimeMs = 8_000;

describe.skipIf(!hasPostgres)('a node that is gone', { timeout: 60_000 }, () => {
  it('[N-4] by kill -9 has its session go on elsewhere', async () => {
    const { child, taken, results, ask } = await startTwo();
    // Its presence is what says so early. One who holds it says with each renewal when the next is due.
    const isPresent = 'SELECT due_at < expires_at AS present FROM uw.node n JOIN uw.lease l ON l.owner = n.id';
    await expect.poll(() => ask(isPresent)).toEqual([{ present: true }]);
    const at = performance.now();
    child.kill('SIGKILL');
    const ms = await taken(at);
    console.log(`taken over ${Math.round(ms)} ms after kill -9`);
    expect(ms).toBeLessThan(inTimeMs);
    await expect.poll(results).toEqual([{ state: 'done', deliveries: 2 }]);
  });

  it('[N-4] [N-6] by SIGSTOP is fenced before its session goes on, and when it is back ends it before anything else', async () => {
    const { child, taken, said, lines, results } = await startTwo();
    const at = performance.now();
    child.kill('SIGSTOP');
    const ms = await taken(at);
    console.log(`taken over ${Math.round(ms)} ms after SIGSTOP`);
    expect(ms).toBeLessThan(inTimeMs);
    child.kill('SIGCONT');
    child.stdin?.write('2\n');
    // As a mail for whoever owns the session now.
    await said('accepted 2 true');
    await expect.poll(results).toEqual([
      { state: 'done', deliveries: 2 },
      { state: 'done', deliveries: 1 },
    ]);
    expect(lines.filter((line) => line.startsWith('calling'))).toEqual(['calling 1']);
  });

  it.each(['to_server', 'to_client', 'both'] as const)(
    '[N-4] [N-6] by its connections, of which nothing comes through %s, ends its session before that goes on elsewhere',
    async (direction) => {
      const { proxy, taken, said, child, results } = await startTwo();
      const at = performance.now();
      proxy.hold(direction);
      const ms = await taken(at);
      console.log(`taken over ${Math.round(ms)} ms after ${direction} was cut off`);
      expect(ms).toBeLessThan(inTimeMs);
      child.stdin?.write('2\n');
      await said('refused 2 unavailable');
      proxy.pass();
      expect(await results()).toEqual([{ state: 'done', deliveries: 2 }]);
    },
  );
});

describe.skipIf(!hasPostgres)('a node that lives', { timeout: 60_000 }, () => {
  it('[N-4] keeps its session when its own connection is cut, again and again', async () => {
    const { ask, session, facts } = await startTwo();
    const isOwn = `application_name = 'unwedge node' AND datname = current_database()`;
    for (let times = 0; times < 8; times++) {
      const cut = await ask(`SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${isOwn}`);
      const made = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE ${isOwn} AND pid <> ALL ($1)`;
      await expect.poll(() => ask(made, [cut.map(({ pid }) => pid)])).toEqual([{ n: 2 }]);
      await renewals(ask, 1);
    }
    expect(session.heldElsewhere).toBe(true);
    expect(facts.filter(({ type }) => type === 'session.resumed')).toEqual([]);
    expect(await ask('SELECT token FROM uw.lease')).toEqual([{ token: '1' }]);
  });

  it.each([3_600_000, -3_600_000])('[N-2] keeps its session whose clock is wrong by %i ms', async (skewMs) => {
    const nodeOptions = `--import "data:text/javascript,const now=Date.now;Date.now=()=>now()+(${skewMs})"`;
    const { ask, session } = await startTwo({ nodeOptions });
    await renewals(ask, 5);
    expect(session.heldElsewhere).toBe(true);
    expect(await ask('SELECT token FROM uw.lease')).toEqual([{ token: '1' }]);
  });

  it('[N-4] [I-5] goes on with its session, or another does, when the server crashes: once', async () => {
    const { crash, ask, said, child } = await startTwo();
    await crash();
    await expect
      .poll(() => ask('SELECT count(*)::int AS n FROM uw.node WHERE expires_at > clock_timestamp()'), {
        timeout: 20_000,
      })
      .toEqual([{ n: 2 }]);
    await expect
      .poll(() => ask('SELECT count(*)::int AS n FROM uw.lease l JOIN uw.node n ON n.id = l.owner'), {
        timeout: 20_000,
      })
      .toEqual([{ n: 1 }]);
    expect(child.exitCode).toBeNull();
    child.stdin?.write('2\n');
    await said('accepted 1 true');
  });
});
