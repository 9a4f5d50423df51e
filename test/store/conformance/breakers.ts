import { describe, expect, it } from 'vitest';
import type { PersistedBreaker } from '../../../src/policy/records/persistedBreaker.ts';
import type { Engine } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const open: PersistedBreaker = {
  state: 'open',
  openedAt: now,
  openUntil: now + 60_000,
  lastOpenMs: 60_000,
  openings: 1,
  failures: 5,
  generation: 5,
};
const due = now + 60_000;

/** What any engine has to do with breakers, and with the lease on the next probe of each. */
export function keepsBreakers(engine: Engine): void {
  /** Two runtimes on one engine, in which `kb` is open at generation 5. */
  async function start() {
    const { one, two, share } = await engine.start();
    one.breakers.save('kb', open);
    await share();
    return { first: one.breakers, second: two.breakers, share };
  }

  describe('breakers', () => {
    it('[M-8] are known to every runtime, with what opened them', async () => {
      const { first, second, share } = await start();
      expect(second.load('kb')).toEqual(open);
      expect(second.load('other')).toBeUndefined();
      const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
      const failure = { kind: 'auth', message: 'no access', call: 'kb-1', attempt: 1, at: now } as const;
      first.save('kb', { ...open, generation: 6, cause: { ...failure, rule, failures: [failure] } });
      await share();
      const { cause } = second.load('kb') ?? {};
      expect(cause).toMatchObject({ kind: 'auth', rule, failures: [{ call: 'kb-1', attempt: 1 }] });
      expect(JSON.stringify(cause)).toContain('no access');
    });

    it('are known to the process that saved them before they are committed', async () => {
      const { first } = await start();
      first.save('kb', open);
      first.save('kb', { ...open, generation: 6 });
      expect(first.load('kb')?.generation).toBe(6);
    });

    it('[M-11] are not replaced by an older generation', async () => {
      const { first, second, share } = await start();
      second.save('kb', { ...open, state: 'closed', generation: 4 });
      await share();
      expect(first.load('kb')).toEqual(open);
      second.save('kb', { ...open, state: 'closed', generation: 5 });
      await share();
      expect(first.load('kb')?.state).toBe('closed');
    });
  });

  describe('pauses', () => {
    it('[E-7] are known to every runtime, the one that ends last, until the circuit closes', async () => {
      const { first, second, share } = await start();
      first.pause('kb', now, now + 9000);
      second.pause('kb', now, now + 4000);
      first.pause('new', now, now + 500);
      await share();
      expect(second.load('kb')).toMatchObject({ ...open, pausedAt: now, pausedUntil: now + 9000 });
      expect(second.load('new')).toMatchObject({ state: 'closed', generation: 0, pausedUntil: now + 500 });
      first.save('kb', { ...open, generation: 6 });
      await share();
      expect(second.load('kb')?.pausedUntil).toBe(now + 9000);
      first.save('kb', { ...open, state: 'closed', generation: 7 });
      await share();
      expect(second.load('kb')?.pausedUntil).toBeUndefined();
    });
  });

  describe('what another runtime has changed', () => {
    it.runIf(engine.isShared)('[E-7] is told once, and not to the runtime that changed it', async () => {
      const { first, second, share } = await start();
      first.changedElsewhere();
      expect(second.changedElsewhere()?.get('kb')).toEqual(open);
      expect(second.changedElsewhere()).toBeUndefined();
      first.save('kb', { ...open, generation: 6 });
      await share();
      expect(second.changedElsewhere()?.get('kb')?.generation).toBe(6);
      expect(first.changedElsewhere()).toBeUndefined();
    });
  });

  describe('failures in a row', () => {
    it('[M-8] are counted by all processes together, from nothing on', async () => {
      const { first, second, share } = await start();
      const counted: (number | undefined)[] = [];
      for (const each of [first, second, first]) {
        counted.push(each.countFailure('new', 0));
        await share();
      }
      expect(counted).toEqual([1, 2, 3]);
      expect(second.load('new')).toMatchObject({ state: 'closed', failures: 3, generation: 0 });
    });

    it('[M-8] [M-11] are not counted for a circuit that has changed since', async () => {
      const { first, second, share } = await start();
      expect(first.countFailure('kb', 5)).toBe(0);
      second.save('kb', { ...open, state: 'closed', failures: 0, generation: 6 });
      second.countFailure('kb', 6);
      await share();
      expect(first.load('kb')).toMatchObject({ generation: 6, failures: 1 });
      expect(first.countFailure('kb', 5)).toBe(0);
    });

    it('[M-11] are kept for the circuit they were counted for', async () => {
      const { first, second, share } = await start();
      first.saveFailures('new', 0, 3);
      first.saveFailures('kb', 5, 0);
      await share();
      expect(second.load('new')?.failures).toBe(3);
      expect(second.load('kb')).toEqual(open);
    });
  });

  describe('the lease on a probe', () => {
    it('says who holds it', async () => {
      const { first, second, share } = await start();
      expect(second.probeHolder('kb')).toBeUndefined();
      first.claimProbe('kb', 5, 'one', 35_000, due);
      await share();
      expect(second.probeHolder('kb')).toBe('one');
    });

    it('[M-8] goes to one of two processes', async () => {
      const { first, second, share } = await start();
      expect(first.claimProbe('kb', 5, 'one', 35_000, due)).toBe(true);
      await share();
      expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(false);
    });

    it('[M-3] ends after its time, not before', async () => {
      const { first, second, share } = await start();
      first.claimProbe('kb', 5, 'one', 35_000, due);
      await share();
      expect(second.claimProbe('kb', 5, 'two', 35_000, due + 34_999)).toBe(false);
      await share();
      expect(second.claimProbe('kb', 5, 'two', 35_000, due + 35_000)).toBe(true);
    });

    it('can be taken again by its owner', async () => {
      const { first } = await start();
      first.claimProbe('kb', 5, 'one', 35_000, due);
      expect(first.claimProbe('kb', 5, 'one', 35_000, due + 1)).toBe(true);
    });

    it('is given back by its owner only', async () => {
      const { first, second, share } = await start();
      first.claimProbe('kb', 5, 'one', 35_000, due);
      await share();
      second.releaseProbe('kb', 'two');
      await share();
      expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(false);
      first.releaseProbe('kb', 'one');
      await share();
      expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(true);
    });

    it('ends when the breaker is saved', async () => {
      const { first, second, share } = await start();
      first.claimProbe('kb', 5, 'one', 35_000, due);
      first.save('kb', { ...open, generation: 6 });
      await share();
      expect(second.claimProbe('kb', 6, 'two', 35_000, due)).toBe(true);
    });

    it('[M-11] is refused to an older generation while the newer one is to stay open', async () => {
      const { first } = await start();
      expect(first.claimProbe('kb', 4, 'one', 35_000, due - 1)).toBe(false);
      expect(first.claimProbe('kb', 4, 'one', 35_000, due)).toBe(true);
    });

    it('[M-12] is not held for ever by a wall clock that stepped back', async () => {
      const { first, second, share } = await start();
      const day = 24 * 60 * 60_000;
      first.claimProbe('kb', 5, 'one', 35_000, due + day);
      await share();
      expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(true);
    });

    it('is free for a breaker that was never saved', async () => {
      const { first } = await start();
      expect(first.claimProbe('other', 1, 'one', 35_000, due)).toBe(true);
    });
  });
}
