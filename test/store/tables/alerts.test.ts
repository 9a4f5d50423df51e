import { describe, expect, it } from 'vitest';
import type { OpenAlert } from '../../../src/policy/records/alertRecord.ts';
import { hasSqlite, openDatabase, startStore } from '../startStore.ts';

const now = Date.UTC(2026, 0, 1);
const alert = (id: string, more: Partial<OpenAlert> = {}): OpenAlert => ({
  id,
  integration: 'kb',
  because: 'failures',
  kind: 'timeout',
  message: 'no answer',
  failures: 5,
  crashes: 1,
  raisedAt: now,
  lastFailureAt: now,
  ...more,
});

async function start() {
  const started = await startStore();
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    await started.clock.settle();
    return promise;
  };
  return { one: started.store.alerts, settle, started };
}

describe.skipIf(!hasSqlite)('alerts in a file', () => {
  it('[O-3] are told of by who could not wait for their record, which is written without', async () => {
    const { one, started } = await start();
    const holder = openDatabase(started.path);
    holder.exec('BEGIN IMMEDIATE');
    const raising = one.raise(alert('first'), {
      type: 'alert.undelivered',
      alert: 'first',
      integration: 'kb',
      to: 'command',
      error: 'x',
    });
    await started.clock.advance(6_000);
    expect(await raising).toBeUndefined();
    holder.exec('COMMIT');
    await started.clock.advance(2_000);
    expect((await one.open()).map(({ id }) => id)).toEqual(['first']);
    expect(await started.store.read({ category: 'alert', limit: 9 })).toEqual([]);
  });

  it('[O-3] of a kind that is not known here are read as unknown', async () => {
    const { one, settle, started } = await start();
    await settle(one.raise(alert('first')));
    openDatabase(started.path).exec(`UPDATE unwedge_alerts SET kind = 'new'`);
    expect((await one.open())[0]?.kind).toBe('unknown');
  });

  it('[O-3] [O-2] cannot be told while the store is out of order, and are written when it is back', async () => {
    const { one, settle, started } = await start();
    const holder = openDatabase(started.path);
    holder.exec('BEGIN IMMEDIATE');
    const raising = one.raise(alert('first'));
    await started.clock.advance(6_000);
    expect([await raising, await one.open()]).toEqual([undefined, []]);
    expect(await one.clear('other', 'quiet', now, 0)).toBeUndefined();
    holder.exec('COMMIT');
    await started.clock.advance(2_000);
    expect((await one.open()).map(({ id }) => id)).toEqual(['first']);
    await settle(Promise.resolve());
  });
});
