import { describe, expect, it } from 'vitest';
import { RequestEchoes } from '../../src/redaction/requestSecrets.ts';
import { fc } from '../support/property.ts';

const prompt = 'My "neighbour" Zoë says:\n\tC:\\new is\nwhere the money lies, and nobody knows of it.';
const body = { model: 'a-model-of-2026', messages: [{ role: 'user', content: prompt }], system: 'Be kind, and short.' };
const echoes = new RequestEchoes(JSON.stringify(body));

describe('what a server repeats of a request', () => {
  it.each([
    ['bare', prompt, '[redacted]'],
    ['as JSON', JSON.stringify({ content: prompt }), '{"content":"[redacted]"}'],
    ['as JSON in JSON', JSON.stringify(JSON.stringify([prompt])), String.raw`"[\"[redacted]"]"`],
    ['in ASCII', JSON.stringify(prompt).replace('ë', String.raw`\u00eb`), '"[redacted]"'],
    ['with folded spaces', `refused: ${prompt.replaceAll(/\s+/g, ' ')}!`, 'refused: [redacted]!'],
    ['cut', `near ${prompt.slice(0, 20)}... (cut)`, 'near [redacted]... (cut)'],
    ['cut by its reader', `{"content":${JSON.stringify(prompt.slice(0, 20)).slice(0, -1)}`, '{"content":"[redacted]'],
    ['from its middle', `at "${prompt.slice(33, 80)}" of it`, 'at "[redacted]" of it'],
    ['all that is long enough', `Be kind, and short. ${prompt}`, '[redacted] [redacted]'],
  ])('[O-8] is taken out: %s', (_, text, clean) => {
    expect(echoes.hide(text)).toBe(clean);
  });

  it.each([
    'model: a-model-of-2026 is not known',
    'My "neighbour" is none of your words',
    'Be kind, and shorter than that',
    String.raw`C:\temp\new \u00eb`,
  ])('[O-8] is not: %s', (text) => {
    expect(echoes.hide(text)).toBe(text);
  });

  it.each([
    ['text', 'a prompt that is text'],
    ['bytes', Buffer.from('a prompt that is text')],
    ['a form', new URLSearchParams({ q: 'a prompt that is text' })],
    ['more than is parsed', `${'x'.repeat(2_000_001)} a prompt that is text and ends in it`],
  ])('[O-8] is known of a body that is %s', (_, given) => {
    const text = 'no: a prompt that is text and ends in it';
    expect(new RequestEchoes(given).hide(text)).not.toContain('a prompt that is text');
    expect(new RequestEchoes(undefined).hide(text)).toBe(text);
  });

  it('[O-8] leaves nothing of a value that is whole, in any text', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 12 }).filter((text) => /^\S{4}.*\S{4}$/su.test(text));
    fc.assert(
      fc.property(value, fc.string(), (given, around) => {
        const hidden = new RequestEchoes(JSON.stringify({ given })).hide(`${around} ${given} ${around}`);
        expect(hidden.split('[redacted]').length).toBeGreaterThan(1);
      }),
    );
  });

  it('[O-8] takes a time that grows no faster than both', () => {
    const many = new RequestEchoes(JSON.stringify({ content: 'a '.repeat(500_000) }));
    expect(many.hide(`${'a '.repeat(13_000)}b`)).toBe('[redacted]b');
  });
});
