import { describe, expect, it } from 'vitest';
import type { PersistedBreaker } from '../../src/policy/persistedBreaker.ts';
import { failed, hasSqlite, startStore, told } from '../store/startStore.ts';
import { call, databaseWith } from './startCli.ts';

const now = Date.UTC(2026, 0, 1, 1);

async function databaseWithBreaker(breaker: Partial<PersistedBreaker>): Promise<string> {
  const { store, path } = await startStore();
  const open = {
    state: 'open',
    openedAt: now,
    openUntil: now,
    lastOpenMs: 60_000,
    openings: 1,
    failures: 5,
    generation: 1,
  } as const;
  store.breakers.save('kb', { ...open, ...breaker });
  await store.flush();
  return path;
}

async function circuitOf(breaker: Partial<PersistedBreaker>): Promise<string | undefined> {
  const { stdout } = await call(['status', '--db', await databaseWithBreaker(breaker)]);
  return /^kb {2,}(\S.*?) {2,}/m.exec(stdout)?.[1];
}

describe.skipIf(!hasSqlite)('unwedge status', () => {
  it('shows failures, the last error and the sessions', async () => {
    const session = told({ type: 'session.started', session: 'agent:main', incarnation: 1 });
    const db = await databaseWith(failed(1), { ...failed(2), at: now - 12_000 }, session);
    const { code, stdout } = await call(['status', '--db', db]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${db}: 3 events`);
    expect(stdout).toMatch(/^kb +closed +1 +2 {2}12s ago: timeout: no answer within 30 s$/m);
    expect(stdout).toMatch(/^agent:main +1h ago$/m);
  });

  it('[I-4] counts the failures of hooks once, of a gateway and outside of one', async () => {
    const hook = told({ type: 'hook.failed', hook: 'guard', event: 'Stop', action: '', error: 'it hung' });
    const db = await databaseWith(hook, { ...hook, at: now - 12_000 }, failed(1, { integration: 'hook:guard' }));
    const { stdout } = await call(['status', '--db', db]);
    expect(stdout).toMatch(/^hook:guard +closed +1 +2 {2}12s ago: it hung$/m);
  });

  it('[I-4] counts the loss of what is behind an integration', async () => {
    const lost = told({ type: 'integration.crashed', integration: 'fs', message: 'The server exited with code 3' });
    const { stdout } = await call(['status', '--db', await databaseWith({ ...lost, at: now - 12_000 })]);
    expect(stdout).toMatch(/^fs +closed +1 +1 {2}12s ago: crash: The server exited with code 3$/m);
  });

  it('shows when an open circuit lets a probe through', async () => {
    expect(await circuitOf({ openUntil: now + 41_500 })).toBe('open, probe in 42s');
    expect(await circuitOf({ openUntil: now })).toBe('open, probe due');
    expect(await circuitOf({ state: 'closed', openUntil: now + 41_500 })).toBe('closed');
  });

  it('shows no more than the circuit was opened for after the wall clock was set back', async () => {
    expect(await circuitOf({ openUntil: now + 3_600_000 })).toBe('open, probe in 1m');
  });

  it('[L-2] gives the same as data', async () => {
    const { stdout } = await call(['status', '--json', '--db', await databaseWithBreaker({ openUntil: now + 1 })]);
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [
        { integration: 'kb', failures10m: 0, circuit: 'open', breaker: { state: 'open', openUntil: now + 1 } },
      ],
      sessions: [],
    });
  });

  it('[L-2] gives the circuit of every integration as data, also of one that was never kept', async () => {
    const { stdout } = await call(['status', '--json', '--db', await databaseWith(failed(1))]);
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [{ integration: 'kb', circuit: 'closed' }],
      runtimes: [],
    });
  });

  it('says that nothing is on record', async () => {
    const { stdout } = await call([
      'status',
      '--db',
      await databaseWith(told({ type: 'child.started', child: 'kb', incarnation: 1 })),
    ]);
    expect(stdout).toContain('1 event\n');
    expect(stdout).toContain('No failures and no circuits are on record.');
  });
});
