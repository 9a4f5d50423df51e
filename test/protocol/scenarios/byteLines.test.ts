import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { createByteLines } from '../../../src/protocol/lines.ts';

function cut(chunks: readonly Buffer[], maxBytes = 100) {
  const lines: Buffer[] = [];
  const heads: string[] = [];
  const splitter = createByteLines({
    maxBytes,
    onLine: (line) => lines.push(Buffer.from(line)),
    onTooLong: (head) => heads.push(head.toString()),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, heads };
}

const texts = (chunks: readonly string[], maxBytes?: number) =>
  cut(
    chunks.map((text) => Buffer.from(text)),
    maxBytes,
  ).lines.map(String);

describe('lines of bytes', () => {
  it('[P-3] keep their ends and their bytes, also those that are no UTF-8', () => {
    const bytes = Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0d, 0x0a, 0x0a, 0x31, 0x0a]);
    expect(cut([bytes]).lines).toEqual([bytes.subarray(0, 6), bytes.subarray(6, 7), bytes.subarray(7)]);
  });

  it('[P-3] come whole, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'ä', '\n', '日') })), (pieces) => {
        const text = pieces.join('');
        const expected = text.split('\n').map((line) => `${line}\n`);
        if (expected.at(-1) === '\n') expected.pop();
        expect(texts(pieces, 10_000)).toEqual(expected);
      }),
    );
  });

  it('[P-3] byte by byte are the same', () => {
    const text = `${'x'.repeat(3000)}\n{}\n`;
    expect(texts(text.split(''), 5000)).toEqual([`${'x'.repeat(3000)}\n`, '{}\n']);
  });

  it('[P-3] get the end that the last one lacks', () => {
    expect(texts(['a\nb'])).toEqual(['a\n', 'b\n']);
  });

  it('[P-3] may be as long as the limit, without their end', () => {
    expect(texts(['x'.repeat(10), '\n', 'y'.repeat(11), '\nz\n'], 10)).toEqual([`${'x'.repeat(10)}\n`, 'z\n']);
  });

  it('[P-3] are held to the limit where they come whole, one or several in a piece', () => {
    const [fits, long] = [`${'x'.repeat(10)}\n`, `${'y'.repeat(11)}\n`];
    expect(texts([fits, long, fits], 10)).toEqual([fits, fits]);
    expect(texts([`${fits}${long}${fits}`], 10)).toEqual([fits, fits]);
  });

  it('[P-3] that are too long are told once, by their first bytes', () => {
    const { heads } = cut([Buffer.from('{"id":7,'), Buffer.alloc(20_000, 'x'), Buffer.from('\nok\n')], 100);
    expect(heads).toHaveLength(1);
    expect(heads[0]).toMatch(/^\{"id":7,x+$/);
    expect(heads[0]?.length).toBeLessThanOrEqual(4096);
  });
});
