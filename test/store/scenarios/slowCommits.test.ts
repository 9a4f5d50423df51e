import { describe, expect, it } from 'vitest';
import type { Committer, Write } from '../../../src/store/committer.ts';
import { WriteQueue } from '../../../src/store/writeQueue.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { RecordedFacts } from '../../support/facts.ts';

describe('a queue whose commits take their time', () => {
  interface Named extends Write {
    readonly name: string;
  }

  /** A committer that a test answers. */
  function start() {
    const clock = new SimulatedClock();
    const facts = new RecordedFacts();
    const batches: { readonly names: string; readonly done: (error?: Error) => void }[] = [];
    const committer: Committer<Named> = {
      commit: (batch) =>
        new Promise((resolve, reject) => {
          const done = (error?: Error): void => (error === undefined ? resolve(undefined) : reject(error));
          batches.push({ names: batch.map(({ name }) => name).join(''), done });
        }),
      diagnose: (error) => ({ busy: String(error).includes('busy'), reason: String(error), fix: 'wait' }),
      close: () => undefined,
    };
    const queue = new WriteQueue(committer, 'somewhere', { clock, facts, logger: undefined });
    const ends: string[] = [];
    const write = (name: string): void =>
      queue.write({ name, committed: () => ends.push(name), postponed: () => ends.push(`${name}?`) });
    const said = (): string[] => batches.map(({ names }) => names);
    return { clock, facts, queue, batches, ends, write, said };
  }

  it('[N-1] makes one commit at a time, in order; what is written meanwhile shares the next', async () => {
    const { clock, batches, ends, write, said, queue } = start();
    write('a');
    write('b');
    await clock.settle();
    write('c');
    await clock.settle();
    write('d');
    await clock.settle();
    expect(said()).toEqual(['ab']);
    const flushed = queue.flush();
    batches[0]?.done();
    await clock.settle();
    expect([said(), ends]).toEqual([
      ['ab', 'cd'],
      ['a', 'b'],
    ]);
    batches[1]?.done();
    expect(await flushed).toBe(true);
    expect(ends).toEqual(['a', 'b', 'c', 'd']);
  });

  it('[N-1] gives a batch again as it was, for it may have been committed', async () => {
    const { clock, batches, ends, write, said, facts } = start();
    write('a');
    await clock.settle();
    write('b');
    batches[0]?.done(new Error('busy: the connection was lost'));
    await clock.advance(50);
    expect(said()).toEqual(['a', 'a']);
    batches[1]?.done();
    await clock.settle();
    expect(said()).toEqual(['a', 'a', 'b']);
    batches[2]?.done();
    await clock.settle();
    expect([ends, facts.all]).toEqual([['a', 'b'], []]);
  });

  it('[N-1] [O-1] is degraded by what is no passing trouble, and goes on in order when that is over', async () => {
    const { clock, batches, ends, write, queue, facts } = start();
    write('a');
    await clock.settle();
    batches[0]?.done(new Error('no such database'));
    await clock.settle();
    write('b');
    expect([queue.degraded, ends]).toEqual([true, ['a?', 'b?']]);
    await clock.advance(1_000);
    batches[1]?.done();
    await clock.settle();
    batches[2]?.done();
    await clock.settle();
    expect([queue.degraded, ends.slice(2)]).toEqual([false, ['a', 'b']]);
    expect(facts.all.map(({ type }) => type)).toEqual(['store.degraded', 'store.recovered']);
  });

  it('[N-1] closes when the commit that is under way is over', async () => {
    const { clock, batches, ends, write, queue, said } = start();
    write('a');
    await clock.settle();
    write('b');
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await clock.settle();
    expect(closed).toBe(false);
    batches[0]?.done();
    await clock.settle();
    batches[1]?.done();
    await closing;
    expect([said(), ends]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});
