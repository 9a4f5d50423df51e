import { describe, expect, it } from 'vitest';
import {
  attemptIsOver,
  attemptsOfWork,
  isOfWork,
  joinedSignal,
  markAs,
  markOfAttempt,
  markOfWork,
  markRetried,
} from '../../src/calls/workSignal.ts';

function marked(): AbortController {
  const controller = new AbortController();
  markOfWork(controller.signal);
  return controller;
}

describe('the signal of work that is under way', () => {
  it('[I-1] is told from all others, until it is aborted', () => {
    const controller = marked();
    const others = [new AbortController().signal, undefined];
    expect([controller.signal, ...others].map(isOfWork)).toEqual([true, false, false]);
    controller.abort();
    expect(isOfWork(controller.signal)).toBe(false);
  });

  it('[I-1] of an attempt is none any more when that is over', () => {
    const { signal } = new AbortController();
    markOfAttempt(signal);
    expect(isOfWork(signal)).toBe(true);
    attemptIsOver(signal);
    expect(isOfWork(signal)).toBe(false);
  });

  it('[I-1] stays that when it is joined with another, which does not become one', () => {
    const own = new AbortController().signal;
    expect(isOfWork(joinedSignal(marked().signal, own))).toBe(true);
    expect(isOfWork(joinedSignal(own, marked().signal))).toBe(false);
  });

  it('[I-1] [R-6] makes another one that is told so part of the same, with the attempts of the whole', () => {
    const [{ signal }, own, other] = [marked(), new AbortController().signal, new AbortController().signal];
    markRetried(signal, 3);
    markAs(own, signal);
    markAs(other, undefined);
    expect([own, other].map((each) => [isOfWork(each), attemptsOfWork(each)])).toEqual([
      [true, 3],
      [false, undefined],
    ]);
    expect(attemptsOfWork(joinedSignal(other, signal))).toBe(3);
  });

  it('[R-8] is aborted with either when it is joined', () => {
    const [first, second] = [marked(), new AbortController()];
    const joined = joinedSignal(first.signal, second.signal);
    second.abort('why');
    expect(joined.reason).toBe('why');
  });
});
