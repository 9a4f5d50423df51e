import { describe, expect, it } from 'vitest';
import { exitOf, failedExit, isFailedExit } from '../../src/supervisor/exit.ts';

const error = new Error('boom');
const done = (output: unknown) => ({ status: 'done', output, error: undefined }) as const;
const stopped = { status: 'stopped', output: undefined, error: undefined } as const;

describe('the exit of an actor', () => {
  it('[V-1] is a failure when it threw, whoever had asked it to end', () => {
    const snapshot = { status: 'error', output: undefined, error } as const;
    expect(exitOf(snapshot, undefined)).toEqual({ reason: 'failure', error });
    expect(exitOf(snapshot, 'shutdown')).toEqual({ reason: 'failure', error });
  });

  it('[V-1] is a failure when its output says so, and survives serialisation', () => {
    expect(exitOf(done(failedExit(error)), undefined)).toEqual({ reason: 'failure', error });
    expect(isFailedExit(JSON.parse(JSON.stringify(failedExit('x'))))).toBe(true);
  });

  it('[V-1] is normal for any other output', () => {
    for (const output of [undefined, null, 'x', {}, { error }]) {
      expect(exitOf(done(output), undefined)).toEqual({ reason: 'normal' });
    }
  });

  it('[V-1] is what was asked for when it was asked for', () => {
    expect(exitOf(done(undefined), 'shutdown')).toEqual({ reason: 'shutdown' });
    expect(exitOf(stopped, 'killed')).toEqual({ reason: 'killed' });
    expect(exitOf(stopped, undefined)).toEqual({ reason: 'shutdown' });
  });
});
