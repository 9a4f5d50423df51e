import { describe, expect, it } from 'vitest';
import { plainText, quoted, sanitize, toJson, toJsonLine } from '../../cli/sanitize.ts';

describe('text of others', () => {
  it.each([
    ['colours', '\u001b[31;1mred\u001b[0m', 'red'],
    ['cursor movement', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
    ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
    ['a hyperlink', '\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['a device control string', 'a\u001bPq#0\u001b\\b', 'ab'],
    ['8-bit forms', 'a\u009b31mb\u009d0;title\u009cc', 'abc'],
    ['a charset switch', 'a\u001b(0b', 'ab'],
    ['an escape behind an escape', 'a\u001b\u001b[31mb', 'ab'],
    ['an escape cut off', 'a\u001b[', 'a'],
    ['control characters', 'a\u0000\u0008\u007f\u0085b', 'a b'],
    ['reversed text', 'a\u202ecod.exe\u2066', 'acod.exe'],
    ['what takes no room', 'k\u200bb\u2060 \ufeffx\u00ad\u3164\u{e0041}', 'kb x'],
    ['joiners where no script needs them', '\u200dk\u200db\u200c', 'kb'],
    ['line breaks and tabs', ' a\r\n\tb\u2028c ', 'a b c'],
  ])('[L-2] loses %s', (_, text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it('[L-2] [Q-4] has nothing left to lose the second time', () => {
    for (const text of ['a \u0019 b', 'a\u202e\u200db', '\u0085\u200dx', ' \u0000 '])
      expect(sanitize(sanitize(text))).toBe(sanitize(text));
    expect(sanitize('a \u0019 b')).toBe('a b');
  });

  it('[L-2] keeps letters, signs and emoji of every script', () => {
    const text = 'naïve 日本 👩‍💻 می‌خواهم [31m ±0.2';
    expect([sanitize(text), plainText(text)]).toEqual([text, text]);
  });

  it('is quoted up to 100 characters', () => {
    expect(quoted('x'.repeat(100))).toHaveLength(102);
    expect(quoted('x'.repeat(101))).toBe(`"${'x'.repeat(99)}…"`);
  });

  it('[L-2] in JSON cannot steer a terminal and is read back as it was', () => {
    const text = 'a\u001b[31m\u009b31m\u202e\u2028\u200b\u{e0041}"b"\n';
    const json = toJson({ text });
    expect(json).toMatch(/^[\n -~]*$/);
    expect(JSON.parse(json)).toEqual({ text });
  });
});

it('[L-2] JSON of the command line has times in ms as whole numbers', () => {
  expect(JSON.parse(toJson({ next: { inMs: 943.5769359999977 } }))).toEqual({ next: { inMs: 944 } });
  expect(JSON.parse(toJsonLine({ elapsed_ms: 1.5, ratio: 0.5 }))).toEqual({ elapsed_ms: 2, ratio: 0.5 });
});
