import { fc } from '../support/property.ts';
import { describe, expect, it } from 'vitest';
import { classify, type TextTest } from '../../src/policy/failures/classify.ts';
import { readPattern } from '../../src/config/readPattern.ts';

const expression = async (text: string): Promise<TextTest> => {
  const pattern = await readPattern('patterns[0]', text);
  if (typeof pattern === 'string') throw new Error(`${text} was taken for a text`);
  return pattern;
};
const refusal = (text: unknown): Promise<Error> =>
  readPattern('patterns[0]', text).then(
    () => new Error('it was not refused'),
    (error: Error) => error,
  );

describe('a pattern of a configuration', () => {
  it('[G-10] is a text or an expression where it is written as neither', async () => {
    const weird = await expression('weird \\(9[0-9]\\)');
    expect([weird.test('WEIRD (95)'), weird.test('weird \\(9[0-9]\\)'), weird.test('weird (85)')]).toEqual([
      true,
      true,
      false,
    ]);
    const closed = await expression('gateway closed (1012)');
    expect([closed.test('Gateway closed (1012): restart'), closed.test('gateway closed')]).toEqual([true, false]);
  });

  it('[G-10] is text with a warning where it is no expression', async () => {
    const warnings: string[] = [];
    expect(await readPattern('patterns[0]', 'odd (thing', (warning) => warnings.push(warning))).toBe('odd (thing');
    expect(warnings).toEqual([
      expect.stringMatching(/`patterns\[0\]`.*got "odd \(thing".*; it is looked for as text$/),
    ]);
  });

  it.each(['warming up', '/', '//', '/v1/messages failed', 'a/b/'])(
    '[G-10] is a text where it is none between slashes: %j',
    async (text) => {
      expect(await readPattern('patterns[0]', text)).toBe(text);
    },
  );

  it('[G-10] is a regular expression between slashes', async () => {
    const warming = await expression('/model .* (warming|loading)$/');
    expect([
      warming.test('the model is loading'),
      warming.test('the model is loading.'),
      warming.test('The Model is loading'),
    ]).toEqual([true, false, false]);
  });

  it.each([
    ['/warming/i', 'WARMING', true],
    ['/warming/', 'WARMING', false],
    ['/^b/m', 'a\nb', true],
    ['/^b/', 'a\nb', false],
    ['/a.b/s', 'a\nb', true],
    ['/a.b/', 'a\nb', false],
    ['/A.B/gisu', 'a\nb', true],
    ['/\\/usr\\/bin/', 'in /usr/bin/', true],
    ['/\\u00e4/', 'ä', true],
    ['/a/b/', 'a/b', true],
  ])('[G-10] reads flags and escapes as JavaScript does: %s on %j', async (text, on, holds) => {
    expect((await expression(text)).test(on)).toBe(holds);
  });

  it('[G-10] says the same every time it is asked', async () => {
    const each = await expression('/a/g');
    expect([each.test('a'), each.test('a'), each.test('a')]).toEqual([true, true, true]);
  });

  it.each([
    ['/(?=a)/', 'invalid or unsupported Perl syntax'],
    ['/(a)\\1/', 'invalid escape sequence'],
    ['/a{1001}/', 'invalid repeat count'],
    ['/((a{1000}){1000}){1000}/', 'invalid repeat count'],
    ['/[/', 'missing closing ]'],
    ['/a/y', 'the flag y'],
    ['/usr/bin', 'the flag b'],
  ])('[G-10] is refused with where it stands, what it is and why: %s', async (text, why) => {
    const error = await refusal(text);
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toContain(`\`patterns[0]\` to be a regular expression of RE2, got ${JSON.stringify(text)}: `);
    expect(error.message).toContain(why);
  });

  it('[Q-4] is refused in words without a control character, though the compiler quotes it', async () => {
    const { message } = await refusal('/m(\u0001\u202e/');
    expect(message).toContain('missing closing )');
    // eslint-disable-next-line no-control-regex
    expect(message).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  it.each([5, null, /a/])('[G-10] is refused when it is no text: %s', async (value) => {
    expect(await refusal(value)).toBeInstanceOf(TypeError);
  });

  // An engine that goes back would not be done with any of these in a lifetime.
  it.each([
    '(a+)+$',
    '(.*a){20}$',
    '/(a+)+$/',
    '/^(a|a)*$/',
    '/(a|aa)+$/',
    '/(.*a){20}$/',
    '/^(([a-z])+.)+[A-Z]([a-z])+$/',
  ])('[G-10] takes steps in proportion to the text, however it is nested: %s', async (text) => {
    expect((await expression(text)).test(`${'a'.repeat(100_000)}!`)).toBe(false);
  });

  it('[G-10] makes an error transient, and none that is permanent', async () => {
    const patterns = [{ pattern: await expression('/model is (warming|loading)/'), kind: 'transient' as const }];
    const kindOf = (message: string) => classify(new Error(message), { wallNow: 0, patterns }).kind;
    expect(kindOf('the model is loading')).toBe('transient');
    expect(kindOf('the model is lost')).toBe('unknown');
    expect(kindOf('HTTP 404: the model is loading')).toBe('permanent');
  });

  it('[G-10] agrees with JavaScript wherever both know the expression', async () => {
    const atom = fc.constantFrom('a', 'b', 'c', '.', '\\d', '\\w', '\\b', '[ab]', '[^a]', '^', '$', '\\.', ' ', '\\/');
    const { source } = fc.letrec<{ source: string }>((tie) => ({
      source: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'source' },
        atom,
        fc.tuple(tie('source'), tie('source')).map(([a, b]) => `${a}${b}`),
        fc.tuple(tie('source'), tie('source')).map(([a, b]) => `(?:${a}|${b})`),
        fc.tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?')).map(([a, by]) => `(?:${a})${by}`),
        tie('source').map((a) => `(${a})`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '1', '.', ' ', '\n', '/'), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        source,
        fc.subarray(['i', 'm', 's']),
        fc.array(text, { minLength: 1, maxLength: 5 }),
        async (each, flags, texts) => {
          const ours = await expression(`/${each}/${flags.join('')}`);
          const theirs = new RegExp(each, flags.join(''));
          for (const on of texts) expect([on, ours.test(on)]).toEqual([on, theirs.test(on)]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
