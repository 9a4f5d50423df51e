import { describe, expect, it } from 'vitest';
import { MessageStates } from '../../../../web/serve/messageView.ts';
import type { MessageRecord, StoreReader } from '../../../../reader/storeReader.ts';
import { deferred } from '../../../support/deferred.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';

/** What is on record by the ids of messages; `outage` fails the whole read. */
function start(records: Record<string, MessageRecord['state']>) {
  const clock = new SkippingClock();
  clock.stop();
  const on = { outage: false, reads: 0, asked: [] as string[], gate: Promise.resolve() };
  const reader = {
    message: (_session: string, id: string) => {
      on.asked.push(id);
      const state = records[id];
      return Promise.resolve(state && { id, state });
    },
  } as unknown as StoreReader;
  const states = new MessageStates({
    ...{ clock, gateway: { why: () => Promise.reject(new Error('not asked')) as never } },
    async read(work) {
      on.reads++;
      await on.gate;
      if (on.outage) throw new Error('out of reach');
      return work(reader);
    },
  });
  return { states, clock, records, on };
}

describe('the states of messages on record', () => {
  it('[E-1] [N-2] are read one after the other, however many are asked for at once', async () => {
    const { states, on } = start({ m1: 'done', m2: 'taken' });
    const first = deferred<void>();
    on.gate = first.promise;
    const asked = ['m1', 'm2', 'm3'].map((id) => states.record('s', id));
    first.resolve();
    expect(await Promise.all(asked)).toEqual([{ id: 'm1', state: 'done' }, { id: 'm2', state: 'taken' }, undefined]);
    expect([on.reads, on.asked]).toEqual([2, ['m1', 'm2', 'm3']]);
  });

  it('[E-1] [N-2] are waited for to their end, through an outage, and rarer each time up to once a second', async () => {
    const { states, clock, records, on } = start({ m1: 'taken' });
    let ended = false;
    const waiting = states
      .ended('s', 'm1', clock.now() + 60_000, () => false)
      .then(() => {
        ended = true;
      });
    // The first pauses are shorter than what this clock holds back.
    await expect.poll(() => on.reads).toBe(6);
    on.outage = true;
    clock.skip(1000);
    await expect.poll(() => on.reads).toBe(7);
    on.outage = false;
    records['m1'] = 'failed';
    clock.skip(999);
    await Promise.resolve();
    expect([on.reads, ended]).toEqual([7, false]);
    clock.skip(1);
    await waiting;
    expect(on.reads).toBe(8);
  });

  it('[E-1] [N-2] are waited for no longer than until then, and not for one that nobody knows or waits for', async () => {
    const { states, clock } = start({ m1: 'taken' });
    await states.ended('s', 'm1', clock.now(), () => false);
    await states.ended('s', 'm2', clock.now() + 60_000, () => false);
    await states.ended('s', 'm1', clock.now() + 60_000, () => true);
    await expect(states.record('s', 'm1')).resolves.toEqual({ id: 'm1', state: 'taken' });
  });

  it('[E-1] [N-6] are out of reach where the record cannot be read, and can be asked for again', async () => {
    const { states, on } = start({ m1: 'done' });
    on.outage = true;
    await expect(states.record('s', 'm1')).rejects.toMatchObject({ status: 503, retryAfter: 5 });
    on.outage = false;
    expect(await states.record('s', 'm1')).toEqual({ id: 'm1', state: 'done' });
  });
});
