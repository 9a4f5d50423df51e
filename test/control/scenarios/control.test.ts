import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { askRuntime } from '../../../operator/client.ts';
import { createGateway, type GatewayOptions, systemClock } from '../../../src/index.ts';
import { openReader } from '../../../reader/openReader.ts';
import type { RuntimeRow } from '../../../src/store/runtimes.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

let home = '';
beforeEach(() => {
  home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
});
afterEach(() => vi.unstubAllEnvs());

const sockets = (): string[] => (existsSync(join(home, 'unwedge')) ? readdirSync(join(home, 'unwedge')) : []);

async function rows(db: string): Promise<readonly RuntimeRow[]> {
  const reader = await openReader(db);
  const found = await reader.runtimes();
  reader.close();
  return found;
}

async function startGateway(options: GatewayOptions = {}) {
  const db = join(home, 'events.sqlite');
  const lines: string[] = [];
  const line = (message: string) => void lines.push(message);
  const logger = { debug: () => undefined, info: line, warn: line, error: line };
  const gateway = createGateway({ store: db, logger, ...options });
  const facts = new RecordedFacts();
  gateway.on('*', (fact) => facts.tell(fact));
  onTestFinished(() => gateway.stop());
  gateway.integration('kb', {}, () => 'found');
  gateway.session('agent:main', { onMessage: () => undefined });
  await gateway.start();
  const ask = async (method: string, params?: unknown) => {
    const [row] = await rows(db);
    return askRuntime(row?.socket ?? '', method, params, { clock: systemClock });
  };
  return { gateway, db, facts, lines, ask };
}

/** What starts on a simulated clock waits for commits, which come with its turns. */
async function settled<T>(clock: SimulatedClock, promise: Promise<T>): Promise<T> {
  let done = false;
  void promise.finally(() => (done = true));
  while (!done) await clock.settle();
  return promise;
}

describe.skipIf(!hasSqlite)('a started gateway', () => {
  it('[L-5] is listed in its store with its socket, until it stops', async () => {
    const { gateway, db } = await startGateway();
    const [row] = await rows(db);
    expect(row).toMatchObject({ pid: process.pid, socket: join(home, 'unwedge', String(sockets()[0])) });
    expect(row?.processStart).not.toBe('');
    await gateway.stop();
    expect([await rows(db), sockets()]).toEqual([[], []]);
  });

  it('[L-5] answers with its tree, its integrations and their circuits', async () => {
    const { ask, gateway } = await startGateway();
    expect(await ask('tree')).toEqual({ ok: true, value: JSON.parse(JSON.stringify(gateway.tree())) as unknown });
    expect(await ask('status')).toEqual({
      ok: true,
      value: {
        integrations: [{ integration: 'kb', state: 'idle', circuit: 'closed', inFlight: 0, waiting: 0 }],
        sessions: [{ session: 'agent:main', state: 'idle', waiting: 0 }],
      },
    });
  });

  it('[L-5] is restarted by name, and refuses a name it does not know', async () => {
    const { ask, gateway } = await startGateway();
    const policy = { breaker: { consecutiveFailures: 1 }, retry: { maxAttempts: 1 } };
    const flaky = gateway.integration('flaky', { policy }, () => Promise.reject(new Error('boom')));
    await flaky.call(undefined);
    expect(await ask('status')).toMatchObject({
      value: { integrations: [{}, { circuit: 'open', probeInMs: expect.any(Number) as number }] },
    });
    expect(await ask('restart', { name: 'flaky' })).toEqual({ ok: true, value: null });
    expect(flaky.breaker.state).toBe('closed');
    expect(await ask('restart', { name: 'kp' })).toMatchObject({ reason: 'refused', message: /`kp`/ });
    expect(await ask('restart')).toMatchObject({ reason: 'refused', message: /Expected `name`/ });
  });

  it('[U-1] is one of several in its process, each with a row and a socket', async () => {
    const { db } = await startGateway();
    await startGateway();
    expect([(await rows(db)).length, sockets().length]).toEqual([2, 2]);
  });

  it('[L-5] has no socket without control, and is listed all the same', async () => {
    const { db } = await startGateway({ control: false });
    expect(await rows(db)).toMatchObject([{ pid: process.pid, socket: undefined }]);
    expect(sockets()).toEqual([]);
  });

  it('[L-5] in memory has no socket unless told to', async () => {
    await startGateway({ store: ':memory:' });
    expect(sockets()).toEqual([]);
    await startGateway({ store: ':memory:', control: true });
    expect(sockets()).toHaveLength(1);
  });

  it('[L-5] says once that it cannot be reached, and goes on', async () => {
    mkdirSync(join(home, 'unwedge'), { mode: 0o755 });
    const { gateway, db, facts, lines } = await startGateway();
    expect(facts.of('control.unavailable')).toMatchObject([{ reason: /is open to others/, fix: /chmod 700/ }]);
    expect(lines).toEqual([expect.stringMatching(/^No control socket: .* is open to others .* Fix: run `chmod 700/)]);
    expect(await rows(db)).toMatchObject([{ socket: undefined }]);
    expect(gateway.tree().state).toBe('running');
  });

  it('renews its row every minute, also one that somebody removed', async () => {
    const clock = new SimulatedClock();
    const { db } = await settled(clock, startGateway({ clock }));
    openDatabase(db).exec('DELETE FROM unwedge_runtimes');
    await clock.advance(59_999);
    expect(await rows(db)).toEqual([]);
    await clock.advance(1);
    const start = Date.UTC(2026, 0, 1);
    expect(await rows(db)).toMatchObject([{ startedAt: start, renewedAt: start + 60_000 }]);
  });

  it('leaves nothing when it is stopped while it starts', async () => {
    const db = join(home, 'events.sqlite');
    const gateway = createGateway({ store: db });
    const starting = gateway.start();
    // Let the store open and the socket be asked for.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    await gateway.stop();
    await starting;
    expect([await rows(db), sockets()]).toEqual([[], []]);
  });

  it('takes a `control` that is true or false, and nothing else', () => {
    expect(() => createGateway({ control: 'no' as never })).toThrow(
      new TypeError('Expected `control` to be true or false, got "no"'),
    );
  });
});
