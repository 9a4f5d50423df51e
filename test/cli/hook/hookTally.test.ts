import { describe, expect, it } from 'vitest';
import { openHookStore } from '../../../cli/hook/hookCircuit.ts';
import { admitRun, countFailure, record } from '../../../cli/hook/hookTally.ts';
import type { Store } from '../../../src/store/store.ts';
import { hasSqlite, startStore } from '../../store/startStore.ts';

/** A store with the circuit of a hook that is due to be tried, whose place somebody has. */
function dueStore(records: unknown[]): Store {
  const row = {
    state: 'open',
    openUntil: Date.now() - 1000,
    lastOpenMs: 60_000,
    openedAt: 0,
    generation: 1,
    cause: undefined,
  };
  return {
    breakers: { load: () => row, claimProbe: () => false, probeHolder: () => undefined },
    read: () => Promise.resolve([]),
    record: (fact: unknown) => records.push(fact),
  } as unknown as Store;
}

describe('a run of a hook', () => {
  it('[O-9] that is refused while another one tries the circuit is recorded with that, and no time of its end', async () => {
    const records: unknown[] = [];
    const admitted = await admitRun(dueStore(records), { key: 'hook:guard' } as never, 5000);
    expect(admitted).toMatchObject({ admitted: false });
    expect(records).toMatchObject([{ message: 'The circuit of hook:guard is open; another call tries it now' }]);
  });

  it.skipIf(!hasSqlite)(
    '[O-9] keeps the rule that opened its circuit: failures in a row, then the failed probe',
    async () => {
      const { store } = await startStore();
      const name = { key: 'hook:guard', owner: 'one' };
      const fail = () => countFailure(store, name, { kind: 'crash', message: 'exit 1' }, store.breakers.load(name.key));
      const ruleNow = () => store.breakers.load(name.key)?.cause?.rule;
      for (let count = 0; count < 4; count++) await fail();
      expect(ruleNow()).toBeUndefined();
      await fail();
      const first = { name: 'consecutive_failures', failures: 5, limit: 5 };
      expect(ruleNow()).toEqual(first);
      await fail();
      expect(ruleNow()).toEqual({ name: 'failed_probe', first });
      await store.flush();
      const opened = await store.read({ category: 'breaker', limit: 10 });
      expect(opened.map(({ metadata }) => metadata['rule'])).toEqual([first, { name: 'failed_probe', first }]);
    },
  );
});

it('[O-8] records of a hook do not hold the password of the store that they are in', async () => {
  // Refused for its lease, so that nothing is waited for.
  const opening = openHookStore('postgres://me:of-the-store@127.0.0.1:9/kb?leaseMs=1', () => undefined);
  await expect(opening).rejects.toThrow('leaseMs');
  const records: unknown[] = [];
  const noted = { record: (fact: unknown) => records.push(fact) } as unknown as Store;
  record(noted, { type: 'hook.failed', hook: 'guard', event: 'Stop', action: '', error: 'refused: of-the-store' });
  expect(records).toMatchObject([{ error: 'refused: [redacted]' }]);
});

it.skipIf(!hasSqlite)('[O-8] why the circuit of a hook opened holds no half of a secret that was cut', async () => {
  const { store } = await startStore();
  const message = `${'x '.repeat(145)}sk-ant-api03-${'a1B2'.repeat(12)}`;
  const fail = () => countFailure(store, { key: 'hook:cut', owner: 'one' }, { kind: 'crash', message }, undefined);
  for (let count = 0; count < 5; count++) await fail();
  expect(store.breakers.load('hook:cut')?.cause?.message).toMatch(/ x \[redacted/);
});
