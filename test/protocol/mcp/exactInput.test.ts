import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/policy/text/canonicalJson.ts';
import { exactInput } from '../../../src/protocol/mcp/exactInput.ts';
import { fc } from '../../support/property.ts';

const inputOf = (args: string): unknown => {
  const text = `{"id":1,"method":"tools/call","params":{"name":"a","arguments":${args}}}`;
  return exactInput(() => text, (JSON.parse(text) as { params: unknown }).params);
};
const keyOf = (args: string): string | undefined => canonicalJson(inputOf(args));

describe('arguments as equal calls share them', () => {
  it.each([
    ['{"n":1234567890123456789}', '{"n":1234567890123456788}'],
    ['{"n":1e400}', '{"n":2e400}'],
    ['{"n":1e400}', '{"n":null}'],
    ['{"n":-0}', '{"n":0}'],
    ['{"n":-0.0}', '{"n":0}'],
    ['{"n":1e-400}', '{"n":0}'],
    ['{"n":0.1000000000000000055}', '{"n":0.1}'],
    ['{"n":[{"m":9007199254740993}]}', '{"n":[{"m":9007199254740992}]}'],
    ['{"n":12345678901234567890}', '{"n":"12345678901234567890"}'],
    ['{"n":12345678901234567890}', '{"n":"n12345678901234567890"}'],
    ['{"a":-0,"n":1}', '{"a":-0,"n":"1"}'],
    ['{"a":-0,"n":1}', '{"a":-0,"n":"n1"}'],
    ['{"n":-0}', '[{"sn":"n-0"}]'],
    [`{"n":${'1'.repeat(500)}}`, `{"n":${'1'.repeat(499)}2}`],
  ])('[R-18] [P-13] tell apart what JSON.parse does not: %s and %s', (one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
  });

  it.each([
    ['{"n":1.0}', '{"n":1}'],
    ['{"n":1e3}', '{ "n" : 1000 }'],
    ['{"n":0.0}', '{"n":0e7}'],
    ['{"n":12345678901234567890,"m":1.0,"t":"\\u0041"}', '{"t":"A","m":10e-1,"n":12345678901234567890}'],
    ['{"n":1,"n":-0}', '{"n":-0}'],
  ])('[R-18] [P-13] are the same for %s and %s', (one, other) => {
    expect(keyOf(one)).toBe(keyOf(other));
  });

  it('[R-18] are as they were parsed where nothing of them is lost', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const written = JSON.stringify(args);
        expect(inputOf(written)).toEqual(JSON.parse(written));
      }),
    );
  });

  it('[R-18] are there however deep or long they are', () => {
    const deep = `{"n":-0,"d":${'['.repeat(50_000)}${']'.repeat(50_000)},"t":"${'\\\\1e5'.repeat(100_000)}"}`;
    expect(inputOf(deep)).toEqual([expect.objectContaining({ sn: 'n-0' })]);
    expect(inputOf(`{"n":${'0.'.padEnd(200_000, '0')}1}`)).toBeDefined();
  });
});
