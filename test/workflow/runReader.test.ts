import { describe, expect, it } from 'vitest';
import { RunReader } from '../../workflow/runReader.ts';
import type { NumberedWorkflowEvent } from '../../workflow/workflowTypes.ts';
import { isSettled } from '../support/deferred.ts';
import { ScriptedRun } from './scriptedRun.ts';

const reading = (events: AsyncIterator<NumberedWorkflowEvent>) => {
  const { progress } = new ScriptedRun();
  const all = { ...events, [Symbol.asyncIterator]: () => all };
  return new RunReader({ progress, events: () => all });
};

describe('a reader of a run', () => {
  it('waits for no event any more when it leaves', async () => {
    const run = new ScriptedRun();
    const reader = new RunReader(run);
    const next = reader.next();
    expect(await isSettled(next)).toBe(false);
    reader.leave();
    expect([await next, await reader.next(), run.readers]).toEqual([undefined, undefined, 0]);
  });

  it('reads no more after it left, from what cannot be told to end', async () => {
    const value: NumberedWorkflowEvent = { number: 1, type: 'workflow_started', data: { run: '1', backend: 'a' } };
    const reader = reading({ next: () => Promise.resolve({ done: false, value }) });
    expect((await reader.next())?.event).toBe(value);
    reader.leave();
    expect(await reader.next()).toBeUndefined();
  });

  it('takes what fails for the end', async () => {
    const reader = reading({
      next: () => Promise.reject(new Error('no')),
      return: () => Promise.reject(new Error('no')),
    });
    expect(await reader.next()).toBeUndefined();
    reader.leave();
    await new Promise(setImmediate);
  });

  it('tells an end once that it leaves', () => {
    let told = 0;
    const reader = reading({
      next: () => new Promise(() => undefined),
      return() {
        told++;
        return Promise.resolve({ done: true, value: undefined });
      },
    });
    reader.leave();
    reader.leave();
    expect(told).toBe(1);
  });
});
