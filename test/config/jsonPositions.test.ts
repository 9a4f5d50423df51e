import { describe, expect, it } from 'vitest';
import { createLocator } from '../../src/config/jsonPositions.ts';

const text = `{ // "a": 1
  a: 1, /* b: { */ 'b': { "c": [1, "}", { d: 2 }],
  e: /* x */ null }, "f\\u0041": Infinity, url: "http://x//y",
  last: .5e+3,
}`;

describe('places in a JSON5 text', () => {
  it.each([
    [['a'], 2, 3],
    [['b'], 2, 20],
    [['b', 'c'], 2, 27],
    [['b', 'c', 1], 2, 36],
    [['b', 'c', 2, 'd'], 2, 43],
    [['b', 'e'], 3, 3],
    [['fA'], 3, 22],
    [['url'], 3, 43],
    [['last'], 4, 3],
  ])('are those of the keys: %j', (path, line, column) => {
    expect(createLocator(text)(path)).toEqual({ line, column });
  });

  it('of what is not there are those of what it would be in', () => {
    expect(createLocator(text)(['b', 'gone', 'deeper'])).toEqual({ line: 2, column: 20 });
    expect(createLocator(text)(['gone'])).toBeUndefined();
  });

  it('of a key given twice are those of the last one, which counts', () => {
    expect(createLocator('{ a: 1,\r\n a: 2 }')(['a'])).toEqual({ line: 2, column: 2 });
  });

  it.each([
    '',
    '5',
    '{',
    '[[[',
    '{"a',
    '}}}',
    `${'['.repeat(100_000)}`,
    `{a:${' '.repeat(100_000)}`,
    `/*${'*'.repeat(100_000)}`,
  ])('end for any text: %.10s', (hostile) => {
    expect(createLocator(hostile)(['x'])).toBeUndefined();
  });
});
