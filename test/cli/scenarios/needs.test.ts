import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DatabaseSource } from '../../../src/dashboard/databaseSource.ts';
import { createGateway } from '../../../src/index.ts';
import type { Need } from '../../../src/runtime/needs.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { openReader } from '../../../src/store/openReader.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

/** Two sessions whose calls open the circuit of `kb`; with the thresholds of alerts that are given. */
async function startHurt(failures: number) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const db = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: db, alerts: { failures }, logger: false, toolCallRetry: { maxAttempts: 1 } });
  onTestFinished(() => gateway.stop());
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2, resetTimeoutMs: 600_000 } };
  const kb = gateway.integration('kb', { policy }, () => {
    throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  });
  const sessions = ['agent:one', 'agent:two', 'agent:well'].map((id) =>
    gateway.session(id, {
      onMessage: async ({ text }, turn) => {
        if (text === 'call') await turn.tool(kb, 'search', {});
      },
    }),
  );
  await gateway.start();
  for (const [index, session] of sessions.entries()) {
    const ended = gateway.wait('session.turn_ended');
    await session.send({ kind: 'user', text: index < 2 ? 'call' : 'rest' });
    await ended;
  }
  await gateway.store?.flush();
  const status = async () =>
    JSON.parse((await call(['status', '--json', '--db', db], { now: Date.now })).stdout) as {
      readonly health: string;
      readonly needs: readonly Need[];
      readonly attention: readonly { readonly what: string }[];
    };
  const reader = await openReader(db);
  onTestFinished(() => reader.close());
  const source = new DatabaseSource({ clock: systemClock, read: (work) => work(reader) });
  return { db, gateway, status, source };
}

describe.skipIf(!hasSqlite)('what needs a person', () => {
  it('[O-17] is told of an open circuit with the sessions that it hurts, for status, the page and agents', async () => {
    const { db, status, source } = await startHurt(50);
    const { health, needs, attention } = await status();
    expect(health).toBe('warn');
    expect(needs).toEqual([
      { kind: 'open_circuit', name: 'kb', severity: 'warn', sessions: ['agent:one', 'agent:two'] },
    ]);
    expect(attention[0]?.what).toMatch(/^kb is not called: .*; it hurts 2 sessions: agent:one, agent:two$/);
    const { waits } = await source.snapshot(900_000);
    expect(waits).toMatchObject([{ sign: 'open', needsPerson: false }]);
    expect(waits[0]?.text).toMatch(/; it hurts 2 sessions: agent:one, agent:two\.$/);
    expect((await call(['why', '--db', db], { now: Date.now })).stdout).toContain('it hurts 2 sessions');
  });

  it('[L-5] is told by why of a session that does nothing, whose last call failed, live and on record', async () => {
    const { db, gateway } = await startHurt(50);
    const why = async (session: string) => (await call(['why', session, '--db', db], { now: Date.now })).stdout;
    const failed =
      /its last turn ended well .*; of its 1 call 1 failed:\n {4}kb search \(\S+\) failed, after .*: transient: connection refused/;
    expect(await why('agent:one')).toMatch(failed);
    expect(await why('agent:well')).not.toContain('its last turn');
    await gateway.stop();
    expect(await why('agent:one')).toMatch(failed);
  });

  it('[O-17] is as bad in status as on the page once it is an alert', async () => {
    const { status, source } = await startHurt(2);
    await vi.waitFor(async () => expect((await status()).health).toBe('bad'));
    expect((await status()).needs).toMatchObject([{ kind: 'open_circuit', severity: 'bad' }]);
    expect((await source.snapshot(900_000)).waits).toMatchObject([{ sign: 'open', needsPerson: true }]);
  });
});
