import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createMaskedJson } from '../../src/redaction/redactFact.ts';
import { createDisclose } from '../../src/inspector/disclose.ts';

const disclose = createDisclose(createMaskedJson(new KnownSecrets({ TOKEN: 'planted-value-of-the-environment' })));
const shown = (value: unknown): unknown => disclose({ value })['value'];

describe('what an inspector is shown', () => {
  it('[O-6] are the figures and words of a machine as they are', () => {
    const context = { name: 'search', generation: 3, probing: false, server: null, kind: 'rate_limit', pid: 4711 };
    expect(shown(context)).toEqual(context);
  });

  it('[O-6] has no characters that steer a terminal, turn text round or are not seen', () => {
    const stack = 'Error: a\u001b[31m\n\tat b\u202e\u200b';
    expect(shown({ 'na\u202eme': 'k\u200bb\u0000', stack })).toEqual({ name: 'kb', stack: 'Error: a[31m\n\tat b' });
  });

  it.each([
    ['by its name', { apiKey: 'abc' }, { apiKey: '[redacted]' }],
    ['by its shape', { url: 'https://me:hunter2@db.test/x' }, { url: 'https://me:[redacted]@db.test/x' }],
    ['of the environment', { id: 'x planted-value-of-the-environment' }, { id: 'x [redacted]' }],
    ['given as a variable', { env: { HOME: '/root' } }, { env: { HOME: '[redacted]' } }],
  ])('[O-8] is no secret %s', (_, value, clean) => {
    expect(shown(value)).toEqual(clean);
  });

  it.each(['args', 'stdin', 'payload', 'prompt', 'text', 'content', 'output_text', 'answer', 'arguments', 'question'])(
    '[O-8] is nothing that was said under `%s`, in words',
    (name) => {
      expect(JSON.stringify(shown({ [name]: 'tell me about xyzzy' }))).not.toContain('xyzzy');
    },
  );

  it.each([
    ['a command line', { args: ['-p', 'xyzzy'] }, { args: '[2 items]' }],
    ['what is written to a process', { stdin: 'xyzzy' }, { stdin: '[5 characters]' }],
    ['what is judged', { payload: { xyzzy: 1 } }, { payload: '[withheld]' }],
  ])('[O-8] is nothing of %s, not even a word', (_, value, clean) => {
    expect(shown(value)).toEqual(clean);
  });

  it('[O-8] is of text in words under any other name its length only', () => {
    expect(shown({ note: 'two words', list: ['one', 'two words'] })).toEqual({
      note: '[9 characters]',
      list: ['one', '[9 characters]'],
    });
  });

  it('[O-6] says of an error what it is, where, and why', () => {
    const error = new Error('connect failed', { cause: new TypeError('no route') });
    expect(shown({ error })).toMatchObject({
      error: {
        name: 'Error',
        message: 'connect failed',
        stack: expect.stringContaining('disclose.test.ts') as string,
        cause: { name: 'TypeError', message: 'no route' },
      },
    });
  });

  it('[O-6] leaves functions out', () => {
    expect(shown({ register: () => 1, clock: { now: () => 0 }, graceMs: 5000 })).toEqual({ clock: {}, graceMs: 5000 });
  });

  it('[O-6] cuts a long message at 1000 characters', () => {
    expect(shown({ message: `${'a '.repeat(500)}b` })).toEqual({ message: `${'a '.repeat(500)}…` });
    expect(shown({ message: 'a '.repeat(500) })).toEqual({ message: 'a '.repeat(500) });
  });

  it('[O-6] is bounded, whatever there is', () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`n${n}`, 'x'.repeat(100)]));
    const cyclic: Record<string, unknown> = { wide };
    cyclic['self'] = cyclic;
    expect(JSON.stringify(shown(cyclic)).length).toBeLessThan(20_000);
  });
});
