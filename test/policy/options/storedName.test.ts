import { describe, expect, it } from 'vitest';
import { readStoredName } from '../../../src/policy/options/storedName.ts';

describe('a name that is kept', () => {
  it.each(['agent:main', 'é', '😀', '\uFFFD', 'two\nlines'])(
    '[N-1] is any text that every store gives back: %j',
    (name) => {
      expect(readStoredName('session', name)).toBe(name);
    },
  );

  it.each(['nul\0id', 'b\uD800', '\uDC00b', '\uDE00\uD83D'])('[N-3] has no NUL and no half of a pair: %j', (name) => {
    const said = `Expected \`session\` to be well-formed Unicode without NUL, got ${JSON.stringify(name)}`;
    expect(() => readStoredName('session', name)).toThrow(new RangeError(said));
  });

  it('[N-1] has at most 1,024 bytes', () => {
    expect(readStoredName('options.key', 'é'.repeat(512))).toHaveLength(512);
    const said = `Expected \`options.key\` to have at most 1024 bytes of UTF-8, got 1025: "k${'é'.repeat(56)}..."`;
    expect(() => readStoredName('options.key', `k${'é'.repeat(512)}`)).toThrow(new RangeError(said));
  });

  it('is a text that says something', () => {
    expect(() => readStoredName('session', '')).toThrow(RangeError);
    expect(() => readStoredName('session', 7)).toThrow(TypeError);
  });
});
