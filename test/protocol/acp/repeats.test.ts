import { describe, expect, it } from 'vitest';
import { TextRepeats } from '../../../src/protocol/acp/repeats.ts';

/** Pieces as they reach a reader; `|` is the mark that the answer begins anew. */
function read(pieces: readonly string[]): string {
  const repeats = new TextRepeats<string>();
  let shown = '';
  for (const piece of pieces) {
    if (piece === '|') {
      repeats.beginsAnew();
      continue;
    }
    const { before, own } = repeats.take(piece, piece, undefined);
    shown += before.join('') + (own === 'none' ? '' : own === 'all' ? piece : own.rest);
  }
  return shown;
}

const half = 'The first half of a long answer, ';

describe('an answer that is begun anew', () => {
  it.for([
    ['once more, whole', [half, '|', half, 'and its end'], `${half}and its end`],
    ['six times', [half, '|', half, '|', half, '|', half, 'end'], `${half}end`],
    ['in other pieces', [half, '|', half.slice(0, 5), half.slice(5), 'end'], `${half}end`],
    ['with a piece that goes on behind it', [half, '|', `${half}end`], `${half}end`],
    ['and cut before its end', [half, '|', half.slice(0, 9), '|', half, 'end'], `${half}end`],
    ['and goes on otherwise', [half, '|', 'The first ', 'third'], `${half}The first third`],
    ['and is another', [half, '|', 'Sorry.'], `${half}Sorry.`],
  ] as const)('[A-3] is told once: %s', ([, pieces, shown]) => {
    expect(read(pieces)).toBe(shown);
  });

  it('[A-3] is told as it is where nothing says that it begins anew, or it is short', () => {
    expect(read([half, half])).toBe(half + half);
    expect(read(['Yes.', '|', 'Yes.'])).toBe('Yes.Yes.');
  });

  it('[A-3] begins anew with another message, unless a tool was between', () => {
    const repeats = new TextRepeats<string>();
    expect(repeats.take(half, 'a', 'm1').own).toBe('all');
    expect(repeats.take(half, 'b', 'm2').own).toBe('none');
    repeats.reset();
    expect(repeats.take(half, 'c', 'm3').own).toBe('all');
  });
});
