import { describe, expect, it } from 'vitest';
import { nearest, nearestId } from '../../../src/policy/text/nearest.ts';

describe('the nearest known word', () => {
  it.each([
    ['evnts', 'events'],
    ['stauts', 'status'],
    ['STATUS', 'status'],
    ['inspeczzt', 'inspect'],
  ])('[L-1] of %s is %s', (word, known) => {
    expect(nearest(word, ['events', 'status', 'inspect'])).toBe(known);
  });

  it('[L-1] is up to 2 edits away, or a third of the length', () => {
    expect(nearest('abcxx', ['abcde'])).toBe('abcde');
    expect(nearest('abxxx', ['abcde'])).toBeUndefined();
    expect(nearest('abcdefxxx', ['abcdefghi'])).toBe('abcdefghi');
    expect(nearest('abcdexxxx', ['abcdefghi'])).toBeUndefined();
  });

  it('[L-1] has something in common with the word', () => {
    expect(nearest('xy', ['on', 'ls'])).toBeUndefined();
  });

  it('[L-1] is the closest of several', () => {
    expect(nearest('rum', ['ran', 'run'])).toBe('run');
  });
});

describe('the nearest id of a session', () => {
  it('[L-5] is the one that has it behind a prefix, else the nearest word', () => {
    expect(nearestId('main', ['serve:man', 'serve:main'])).toBe('serve:main');
    expect(nearestId('serve:man', ['serve:main', 'serve:other'])).toBe('serve:main');
    expect(nearestId('main', ['serve:domain'])).toBeUndefined();
  });
});
