import { describe, expect, it } from 'vitest';
import { changedLines, changedParts, definitionOf } from '../../src/policy/toolDefinition.ts';

const schema = (properties: object): object => ({ name: 'a', inputSchema: { type: 'object', properties } });
const described = (description: string) => ({ name: 'a', description });

describe('the difference of two definitions', () => {
  it('[P-11] is told place by place', () => {
    const [before, after] = [
      schema({ p: { type: 'string' } }),
      schema({ p: { type: 'number', enum: [1, 2] }, 'a b': {} }),
    ];
    expect(changedLines({ ...before }, { ...after })).toEqual([
      '- inputSchema.properties.p.type: "string"',
      '+ inputSchema.properties."a b": {}',
      '+ inputSchema.properties.p.enum.0: 1',
      '+ inputSchema.properties.p.enum.1: 2',
      '+ inputSchema.properties.p.type: "number"',
    ]);
    expect(changedLines({}, described('x\ny'))).toEqual(['+ name: a', '+ description: x', '+ description (line 2): y']);
  });

  const base = 'reads a file';
  const tags = Array.from('EVIL', (each) => String.fromCodePoint(0xe0000 + each.charCodeAt(0))).join('');
  it.each([
    ['zero width', 'reads\u200b a file', String.raw`+ description: reads\u{200b} a file`],
    ['a joiner', 'reads a\u200d file', String.raw`+ description: reads a\u{200d} file`],
    ['bidi', 'reads \u202ea file', String.raw`+ description: reads \u{202e}a file`],
    ['tags', `reads a file${tags}`, String.raw`+ description: reads a file\u{e0045}\u{e0056}\u{e0049}\u{e004c}`],
    ['controls', 'reads\u0007 a file\u001b[31m', String.raw`+ description: reads\u{7} a file\u{1b}[31m`],
    ['a variation selector', 'reads\ufe0f a file', String.raw`+ description: reads\u{fe0f} a file`],
    ['another space', 'reads\u00a0a file', String.raw`+ description: reads\u{a0}a file`],
    ['a second space', 'reads  a file', String.raw`+ description: reads \u{20}a file`],
    ['a space at the end', 'reads a file ', String.raw`+ description: reads a file\u{20}`],
    ['words of an escape', String.raw`reads\u{200b} a file`, String.raw`+ description: reads\\u{200b} a file`],
  ])('[P-11] shows what is not seen: %s', (_, text, line) => {
    expect(changedLines(described(base), described(text))).toEqual(['- description: reads a file', line]);
  });

  it('[P-11] shows what changed in a long line, wherever that is, and all of what is new', () => {
    const x = 'x'.repeat(5000);
    const [gone, came] = changedLines(described(x), described(`${x} EVIL TAIL`));
    expect(gone).toMatch(/^- description: …x{60}$/);
    expect(came).toMatch(/^\+ description: …x{60} EVIL TAIL$/);
    expect(changedLines(described(`${x}a${x}`), described(`${x}b${x}`))[1]).toMatch(/^\+ description: …x{60}bx{60}…$/);
    expect(changedLines({}, described(`${x}y`))[1]).toHaveLength(5001 + '+ description: '.length);
  });

  it('[P-11] shows what only changed its place', () => {
    const p = (one: string, two: string) => ({ ...schema({ one: { description: one }, two: { description: two } }) });
    const [before, after] = [p('safe', 'deletes'), p('deletes', 'safe')];
    expect(changedParts(before, after)).toEqual(['inputSchema']);
    expect(changedLines(before, after)).toHaveLength(4);
    expect(changedLines(described('a\nb'), described('b\na'))).toHaveLength(4);
  });

  it('[P-11] has a line for every change that makes another definition', () => {
    const all = [
      described('a'),
      described('a\n'),
      described(''),
      described(' a'),
      { name: 'a' },
      { name: 'a', title: '' },
      schema({}),
      schema({ p: {} }),
      schema({ p: [] }),
      schema({ p: null }),
      schema({ 'p.q': 1 }),
      schema({ p: { q: 1 } }),
      schema({ p: '1' }),
      schema({ p: ['1'] }),
      { name: 'a', annotations: { readOnlyHint: true } },
      { name: 'a', inputSchema: true },
    ];
    for (const one of all)
      for (const other of all)
        expect(changedLines({ ...one }, { ...other }).length > 0).toBe(
          definitionOf({ ...one })?.hash !== definitionOf({ ...other })?.hash,
        );
  });

  it('[P-11] says how much is not kept of one that is too long', () => {
    const lines = changedLines({}, described(Array.from({ length: 30 }, () => 'z'.repeat(50_000)).join('\n')));
    expect(lines.at(-1)).toMatch(/^… and \d+ more lines, too long to be kept/);
    expect(lines.join('').length).toBeLessThan(1_001_000);
  });
});
