import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { GatheredLines } from '../../../src/protocol/gatheredLines.ts';

function startGathering() {
  const pieces: (string | Uint8Array)[] = [];
  const lines = new GatheredLines((piece) => pieces.push(piece));
  return { lines, pieces, texts: () => pieces.map(String) };
}

describe('gathered lines', () => {
  it('[P-3] pass at once while nobody gathers', () => {
    const { lines, texts } = startGathering();
    lines.write('a\n');
    lines.write('b\n');
    expect(texts()).toEqual(['a\n', 'b\n']);
  });

  it('[P-3] are handed on as one piece', () => {
    const { lines, texts } = startGathering();
    const release = lines.gather();
    lines.write('ä\n');
    lines.write(Buffer.from('b\n'));
    expect([texts(), lines.bytes]).toEqual([[], 5]);
    release();
    expect([texts(), lines.bytes]).toEqual([['ä\nb\n'], 0]);
  });

  it('[P-3] that lie one behind the other are not copied', () => {
    const { lines, pieces } = startGathering();
    const chunk = Buffer.from('a\nbb\nccc\n');
    const release = lines.gather();
    for (const [from, to] of [
      [0, 2],
      [2, 5],
      [5, 9],
    ]) {
      lines.write(chunk.subarray(from, to));
    }
    release();
    expect(String(pieces)).toBe('a\nbb\nccc\n');
    expect((pieces[0] as Uint8Array).buffer).toBe(chunk.buffer);
  });

  it('[P-3] wait for the last who gathers', () => {
    const { lines, texts } = startGathering();
    const [first, second] = [lines.gather(), lines.gather()];
    lines.write('a\n');
    first();
    expect(texts()).toEqual([]);
    second();
    expect(texts()).toEqual(['a\n']);
  });

  it('[P-3] go before the end of who gathers when they are asked to', () => {
    const { lines, texts } = startGathering();
    const release = lines.gather();
    lines.write('a\n');
    lines.flush();
    lines.write('b\n');
    release();
    expect(texts()).toEqual(['a\n', 'b\n']);
  });

  it('[P-3] are joined up to 64 KB, and handed on one by one beyond', () => {
    const { lines, pieces } = startGathering();
    for (const size of [32 * 1024, 32 * 1024 + 1]) {
      const release = lines.gather();
      lines.write(Buffer.alloc(32 * 1024));
      lines.write(Buffer.alloc(size));
      release();
    }
    expect(pieces.map(({ length }) => length)).toEqual([65_536, 32_768, 32_769]);
  });

  it('[P-3] are what was written, in its order, however they are cut and left out', () => {
    const parts = fc.array(
      fc.record({ text: fc.string({ unit: 'grapheme' }), kind: fc.constantFrom('same', 'own', 'text', 'out') }),
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 5 }), (turns) => {
        const { lines, pieces } = startGathering();
        let written = '';
        for (const turn of turns) {
          const chunk = Buffer.from(turn.map(({ text }) => text).join(''));
          let at = 0;
          const release = lines.gather();
          for (const { text, kind } of turn) {
            const end = at + Buffer.byteLength(text);
            if (kind === 'same') lines.write(chunk.subarray(at, end));
            else if (kind === 'own') lines.write(Buffer.from(text));
            else if (kind === 'text') lines.write(text);
            if (kind !== 'out') written += text;
            at = end;
          }
          release();
        }
        expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).equals(Buffer.from(written))).toBe(true);
      }),
    );
  });
});
