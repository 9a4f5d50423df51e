import { fc } from '../support/property.ts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLineSplitter } from '../../src/protocol/lines.ts';

/** Everything a splitter says about a stream that comes in these pieces. */
function split(maxBytes: number, ...pieces: (string | Buffer)[]): string[] {
  const said: string[] = [];
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => said.push(line),
    onTooLong: () => said.push('<too long>'),
  });
  for (const piece of pieces) splitter.push(Buffer.from(piece));
  splitter.end();
  return said;
}

describe('the line splitter', () => {
  it('[P-1] finds the same lines wherever the stream is cut', () => {
    const text = fc.array(
      fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll(/[\r\n]/g, '')),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat(200)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(split(10_000, ...pieces)).toEqual(lines);
      }),
    );
  });

  it('takes the carriage return of a line end off, and leaves others', () => {
    expect(split(100, 'a\r\nb\rc\r', '\nd')).toEqual(['a', 'b\rc', 'd']);
  });

  it('[F-16] gives what is left at the end of the stream as the last line', () => {
    expect(split(100, 'whole\npart')).toEqual(['whole', 'part']);
    expect(split(100, 'whole\n')).toEqual(['whole']);
  });

  it('[P-1] tells a line over its limit once, and goes on with the next', () => {
    expect(split(4, 'abcd\n')).toEqual(['abcd']);
    expect(split(4, 'ab', 'cde', 'fgh', '\nnext\n')).toEqual(['<too long>', 'next']);
    expect(split(4, 'abcde')).toEqual(['<too long>']);
  });

  it('[P-1] keeps no buffer for each byte of a line that drips in', () => {
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => concat.mockRestore());
    const line = 'abcdefg'.repeat(10_000);
    expect(split(100_000, ...line.split(''), '\n', 'next')).toEqual([line, 'next']);
    expect(Math.max(...concat.mock.calls.map(([pieces]) => pieces.length))).toBeLessThan(1000);
  });

  it('[P-1] joins a large line from its pieces', () => {
    const pieces = Array.from({ length: 8192 }, () => Buffer.alloc(1024, 'x'));
    expect(split(2 ** 23, ...pieces, '\n')).toEqual(['x'.repeat(2 ** 23)]);
  });
});
