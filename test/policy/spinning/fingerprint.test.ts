import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/policy/text/canonicalJson.ts';
import { ownLimits } from '../../../src/policy/spinning/spinningRule.ts';
import { seenCall, SpinningWatch } from '../../../src/policy/spinning/spinningWatch.ts';
import { fingerprint } from '../../../src/policy/spinning/fingerprint.ts';

describe('the fingerprint of a value', () => {
  it('[G-15] is that of its canonical JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(JSON.parse(canonicalJson(value) ?? 'null'))).toBe(fingerprint(value));
      }),
    );
  });

  it('[G-15] differs where the JSON differs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(fingerprint(one) === fingerprint(other)).toBe(canonicalJson(one) === canonicalJson(other));
      }),
    );
  });

  it('[G-15] tells apart texts that differ in one character, short and long', () => {
    const prints = new Set<number>();
    for (const length of [1, 10, 100, 499, 500, 5000])
      for (const unit of 'abcdefgh') prints.add(fingerprint('x'.repeat(length) + unit));
    expect(prints.size).toBe(48);
  });

  it('[G-15] tells maps and sets apart, and takes no two values that cannot be read for equal', () => {
    const cycle = (text: string) => {
      const made: Record<string, unknown> = { text };
      made['self'] = { in: made };
      return made;
    };
    expect(fingerprint(new Map([['a', 1]]))).not.toBe(fingerprint(new Map([['a', 2]])));
    expect(fingerprint({ of: new Set([1]) })).not.toBe(fingerprint({ of: new Set([2]) }));
    const watch = new SpinningWatch(ownLimits);
    for (let each = 0; each < 30; each++) {
      const call = seenCall({ tool: 'kb', input: cycle(`${each}`) });
      expect([watch.before(call), watch.after(call, { ok: true, value: cycle('a') }, 0)]).toEqual([
        undefined,
        undefined,
      ]);
    }
  });

  it('[G-15] never throws', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const throwing = {
      get a(): never {
        throw new Error('no');
      },
    };
    for (const value of [cycle, throwing, 1n, undefined, () => 1, Symbol('a')])
      expect(fingerprint(value)).toBeTypeOf('number');
  });
});

describe('the fingerprint of what is no JSON', () => {
  it.each([
    ['maps', new Map([['a', 1]]), new Map([['a', 2]])],
    ['sets', new Set([1]), new Set([2])],
    ['bytes', new Uint8Array([1, 2]), new Uint8Array([1, 3])],
    ['buffers', Buffer.from('ab'), Buffer.from('ac')],
    ['big integers', { at: 1n }, { at: 2n }],
  ])('[G-15] tells apart %s', (_what, one, other) => {
    expect(fingerprint(one)).not.toBe(fingerprint(other));
    expect(fingerprint(one)).toBe(fingerprint(structuredClone(one)));
  });

  it.each([
    ['a promise', () => Promise.resolve()],
    ['an error', () => new Error('no')],
    ['memory', () => new ArrayBuffer(8)],
    ['what throws', () => Object.defineProperty({}, 'a', { enumerable: true, get: () => JSON.parse('') as unknown })],
  ])('[G-15] takes what cannot be read for nothing seen before: %s', (_what, make) => {
    expect(fingerprint(make())).not.toBe(fingerprint(make()));
  });

  it('[G-15] looks at the first 50,000 values, and takes what is beyond for equal', () => {
    const long = (last: number): readonly number[] => [...Array.from({ length: 60_000 }, () => 0), last];
    expect(fingerprint(long(1))).toBe(fingerprint(long(2)));
    expect(fingerprint([1, ...long(1)])).not.toBe(fingerprint([2, ...long(1)]));
  });
});
