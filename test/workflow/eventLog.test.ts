import { describe, expect, it } from 'vitest';
import { createEventLog, type WorkflowEventLog } from '../../workflow/eventLog.ts';
import { isSettled } from '../support/deferred.ts';

function tell(log: WorkflowEventLog, count = 1): void {
  for (let index = 0; index < count; index++)
    log.push({ type: 'workflow_fallback', data: { from: 'a', to: 'b', reason: '' } });
}

async function numbers(log: WorkflowEventLog, after?: number): Promise<number[]> {
  const read: number[] = [];
  for await (const { number } of log.events(after)) read.push(number);
  return read;
}

describe('the events of a run', () => {
  it('are numbered, and read from the beginning by each reader', async () => {
    const log = createEventLog();
    tell(log, 3);
    log.end();
    expect(await Promise.all([numbers(log), numbers(log)])).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('are read on from a number', async () => {
    const log = createEventLog();
    tell(log, 3);
    log.end();
    expect(await numbers(log, 2)).toEqual([3]);
    expect(await numbers(log, 3)).toEqual([]);
  });

  it('are waited for, in the order of asking', async () => {
    const log = createEventLog();
    const reader = log.events();
    const asked = [reader.next(), reader.next()];
    expect(await isSettled(Promise.race(asked))).toBe(false);
    tell(log, 2);
    expect((await Promise.all(asked)).map(({ value }) => value?.number)).toEqual([1, 2]);
  });

  it('are kept up to 1,000; a slow reader sees by their numbers what it missed', async () => {
    const log = createEventLog();
    const slow = log.events();
    tell(log, 1);
    expect((await slow.next()).value?.number).toBe(1);
    tell(log, 1000);
    expect((await slow.next()).value?.number).toBe(2);
    tell(log, 5);
    expect((await slow.next()).value?.number).toBe(7);
  });

  it('end for who waits and for who comes later', async () => {
    const log = createEventLog();
    const waiting = log.events().next();
    log.end();
    tell(log);
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await numbers(log)).toEqual([]);
  });

  it('are left by a reader without an effect on another', async () => {
    const log = createEventLog();
    const [left, stays] = [log.events(), log.events()];
    const asked = [left.next(), stays.next()];
    await left.return?.();
    tell(log);
    expect((await Promise.all(asked)).map(({ done }) => done)).toEqual([true, false]);
    expect(await left.next()).toEqual({ done: true, value: undefined });
  });

  it.each([[-1], [1.5], ['1']])('are not read from %j', (after) => {
    expect(() => createEventLog().events(after as number)).toThrow('`after`');
  });
});
