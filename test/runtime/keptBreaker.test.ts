import { describe, expect, it } from 'vitest';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { type KeptBreaker, keepBreaker, type StreakKeeper } from '../../src/runtime/keptBreaker.ts';
import { leaseOwner } from '../../src/runtime/leaseOwner.ts';
import { neverOpened } from '../../src/policy/records/persistedBreaker.ts';
import type { Store } from '../../src/store/store.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasSqlite, startStore } from '../store/startStore.ts';

const redactAnswer = createFactRedactor();
const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
const opened = { type: 'breaker.opened', openForMs: 60_000, kind: 'transient', rule } as const;

async function start(keeper: StreakKeeper) {
  const { store, clock } = await startStore();
  const keep = (at: Store | undefined = store): KeptBreaker => {
    const kept = keepBreaker({ clock, redactAnswer, store: () => at }, 'kb', keeper);
    kept.streak.begin();
    return kept;
  };
  const failures = async (): Promise<number | undefined> => {
    await clock.settle();
    return store.breakers.load('kb')?.failures;
  };
  return { store, clock, keep, failures };
}

describe.skipIf(!hasSqlite)('failures in a row that a process counts itself', () => {
  it('[M-8] go on with a restart', async () => {
    const { keep, failures } = await start('own');
    const first = keep();
    expect([first.streak.failed(), first.streak.failed()]).toEqual([1, 2]);
    first.stop();
    expect(await failures()).toBe(2);
    expect(keep().streak.failed()).toBe(3);
  });

  it('are written at most once a second, and before the end', async () => {
    const { clock, keep, failures } = await start('own');
    const { streak, stop } = keep();
    for (let count = 0; count < 3; count++) streak.failed();
    expect(await failures()).toBe(1);
    await clock.advance(999);
    expect(await failures()).toBe(1);
    await clock.advance(1);
    expect(await failures()).toBe(3);
    streak.end();
    stop();
    expect(await failures()).toBe(0);
  });

  it('[O-9] [M-8] has the rule that opened the circuit outlive the process', async () => {
    const { clock, keep } = await start('own');
    keep().changed(opened, 1, { kind: 'transient', message: 'HTTP 503', rule, failures: [] });
    await clock.settle();
    expect(keep().restored()).toMatchObject({ openings: 1, cause: { message: 'HTTP 503', rule } });
  });

  it('[O-8] has why it opened outlive the process without its secrets, also where the store came later', async () => {
    const secret = `sk-ant-api03-${'a1B2'.repeat(12)}`;
    const met = { kind: 'auth', message: `no access with ${secret}` } as const;
    const cause = { ...met, rule, failures: [{ ...met, call: 'kb-1', attempt: 1, at: 1 }] };
    const { clock, store, keep } = await start('own');
    const late: { store?: Store } = {};
    const second = keepBreaker({ clock, redactAnswer, store: () => late.store }, 'late', 'own');
    for (const kept of [keep(), second]) kept.changed(opened, 1, cause);
    late.store = store;
    second.stop();
    await clock.settle();
    for (const name of ['kb', 'late']) {
      const kept = JSON.stringify(store.breakers.load(name)?.cause);
      expect(kept).toContain('no access with [redacted]');
      expect(kept).not.toContain(secret);
    }
  });

  it('are not written for answers that follow answers', async () => {
    const { store, keep } = await start('own');
    keep().streak.end();
    await store.flush();
    expect(store.breakers.load('kb')).toBeUndefined();
  });
});

describe.skipIf(!hasSqlite)('failures in a row that processes count together', () => {
  it('[M-8] are those of all', async () => {
    const { keep, failures } = await start('shared');
    const [one, two] = [keep(), keep()];
    expect([one.streak.failed(), two.streak.failed(), one.streak.failed()]).toEqual([1, 2, 3]);
    two.streak.end();
    expect(await failures()).toBe(0);
  });

  it('[M-8] [M-11] leaves out those of a circuit that another has opened since, and counts on from there', async () => {
    const { store, clock, keep } = await start('shared');
    const [one, two] = [keep(), keep()];
    two.changed(opened, 1);
    await clock.settle();
    expect(one.streak.failed()).toBe(0);
    two.changed({ type: 'breaker.closed' }, 0);
    await clock.settle();
    expect(one.streak.failed()).toBe(0);
    expect(one.streak.failed()).toBe(1);
    expect(store.breakers.load('kb')).toMatchObject({ generation: 2, failures: 1 });
  });

  it('[M-8] are counted at the end when the store comes late', async () => {
    const { store, clock, failures } = await start('shared');
    let late: Store | undefined;
    const kept = keepBreaker({ clock, redactAnswer, store: () => late }, 'kb', 'shared');
    kept.streak.begin();
    expect([kept.streak.failed(), kept.streak.failed()]).toEqual([1, 2]);
    late = store;
    kept.stop();
    expect(await failures()).toBe(2);
  });

  it('[M-8] keeps a circuit that opened before the store came', async () => {
    const { store, clock } = await start('shared');
    let late: Store | undefined;
    const kept = keepBreaker({ clock, redactAnswer, store: () => late }, 'kb', 'shared');
    kept.changed(opened, 1);
    late = store;
    kept.stop();
    await clock.settle();
    expect(store.breakers.load('kb')).toMatchObject({ state: 'open', openings: 1 });
  });
});

describe.skipIf(!hasSqlite)('the lease on a probe', () => {
  /** A circuit that is open and due, whose lease `owner` holds. */
  async function held(owner: string) {
    const started = await start('shared');
    const { store, clock, keep } = started;
    const now = clock.wallNow();
    store.breakers.save('kb', { ...neverOpened, state: 'open', openUntil: now, lastOpenMs: 1, generation: 1 });
    await store.flush();
    store.breakers.claimProbe('kb', 1, owner, 60_000, now);
    return { ...started, kept: keep() };
  }

  it('[M-3] is given back at the end', async () => {
    const { store, kept } = await held('');
    store.breakers.releaseProbe('kb', '');
    expect(kept.claimProbe(60_000)).toBe(true);
    expect(store.breakers.probeHolder('kb')).toContain(leaseOwner());
    kept.stop();
    expect(store.breakers.probeHolder('kb')).toBeUndefined();
  });

  it('[M-3] is waited for while its holder may live', async () => {
    const { kept } = await held('of another machine');
    expect(kept.claimProbe(60_000)).toBe(false);
  });

  it('[M-3] [U-1] is one holder’s, also of two in one process: it is not taken, and not given back for the other', async () => {
    const { store, kept, keep } = await held('');
    store.breakers.releaseProbe('kb', '');
    expect(kept.claimProbe(60_000)).toBe(true);
    const other = keep();
    other.streak.begin();
    expect([other.claimProbe(60_000), kept.claimProbe(60_000)]).toEqual([false, true]);
    other.stop();
    expect(store.breakers.probeHolder('kb')).toContain(leaseOwner());
    kept.stop();
    expect(store.breakers.probeHolder('kb')).toBeUndefined();
  });

  it.skipIf(process.platform !== 'linux')('[M-3] is taken from a process that is gone', async () => {
    const gone = leaseOwner().replace(/~\d+@/, '~1@');
    const { store, kept } = await held(gone);
    expect(kept.claimProbe(60_000)).toBe(true);
    expect(store.breakers.probeHolder('kb')).toContain(leaseOwner());
  });
});

it('works without a store, for this process alone', () => {
  const kept = keepBreaker({ clock: new SimulatedClock(), redactAnswer, store: () => undefined }, 'kb', 'own');
  kept.streak.begin();
  expect(kept.streak.failed()).toBe(1);
  expect(kept.claimProbe(1)).toBe(true);
  expect(kept.restored()).toBeUndefined();
  kept.stop();
});

describe.skipIf(!hasSqlite)('a pause that the other side asked for', () => {
  it('[E-7] is told to others once, and to the process that was asked never', async () => {
    const { store, clock, keep } = await start('own');
    const [one, two] = [keep(), keep()];
    one.paused(20_000);
    await clock.settle();
    const kept = store.breakers.load('kb') ?? neverOpened;
    expect(two.heard(kept)).toEqual({ pausedUntil: clock.now() + 20_000 });
    expect(two.heard(kept)).toEqual({});
    expect(one.heard(kept)).toEqual({});
  });

  it('[E-7] is written anew only where its end moves by a quarter of a second', async () => {
    const { store, clock, keep } = await start('own');
    const { paused } = keep();
    paused(20_000);
    await clock.settle();
    const until = store.breakers.load('kb')?.pausedUntil ?? 0;
    await clock.advance(100);
    paused(20_000);
    await clock.settle();
    expect(store.breakers.load('kb')?.pausedUntil).toBe(until);
    await clock.advance(200);
    paused(20_000);
    await clock.settle();
    expect(store.breakers.load('kb')?.pausedUntil).toBe(until + 300);
  });

  it('[E-7] [M-12] is never longer than it was, whatever the wall clock does', async () => {
    const { clock, keep } = await start('own');
    const wallNow = clock.wallNow();
    const ahead = { ...neverOpened, pausedAt: wallNow + 3_600_000, pausedUntil: wallNow + 3_605_000 };
    expect(keep().heard(ahead)).toEqual({ pausedUntil: clock.now() + 5000 });
  });

  it('[E-7] [M-11] of an older circuit changes nothing of a newer one', async () => {
    const { store, clock, keep } = await start('own');
    const kept = keep();
    kept.changed(opened, 1);
    await clock.settle();
    const row = store.breakers.load('kb') ?? neverOpened;
    kept.changed({ type: 'breaker.closed' }, 0);
    expect(kept.heard(row)).toEqual({});
    expect(kept.restored()).toBeUndefined();
  });
});
