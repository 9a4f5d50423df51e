import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Mutant } from './report.ts';
import { isRoom } from './rooms.ts';
import { leastScore, scoreOf } from './score.ts';
import { explained, explanations } from './survivors.ts';

interface Kept {
  readonly tried: number;
  readonly killed: number;
  readonly explained: number;
}

const kept = JSON.parse(readFileSync(new URL('scores.json', import.meta.url), 'utf8')) as Record<string, Kept>;
const place = { mutator: 'BooleanLiteral', location: { start: { line: 1, column: 1 }, end: { line: 1, column: 5 } } };
const mutant = (status: Mutant['status'], code = 'true'): Mutant => ({
  ...place,
  file: 'src/a.ts',
  code,
  replacement: 'false',
  status,
});

describe('the score of a room', () => {
  it('[Q-3] is the share of the changes that a test notices, also by never ending', () => {
    const { tried, killed, score } = scoreOf([
      mutant('killed'),
      mutant('timeout'),
      mutant('survived'),
      mutant('uncovered'),
    ]);
    expect({ tried, killed, score }).toEqual({ tried: 4, killed: 2, score: 50 });
  });

  it('[Q-3] of a sample comes with the interval of Wilson', () => {
    const sample = [...Array<Mutant>(270).fill(mutant('killed')), ...Array<Mutant>(30).fill(mutant('survived'))];
    const [low, high] = scoreOf(sample).interval;
    expect(low).toBeCloseTo(86.1, 1);
    expect(high).toBeCloseTo(92.9, 1);
  });

  it('[Q-3] explains a survivor by its file and code, wherever it stands', () => {
    const known = [{ why: 'the same', changes: [{ file: 'src/a.ts', code: 'a  === b', replacement: 'false' }] }];
    expect(explained(mutant('survived', 'a ===\n  b'), known)).toBe('the same');
    expect(explained(mutant('survived', 'a === c'), known)).toBeUndefined();
  });
});

describe('the figures that are kept', () => {
  it(`[Q-3] are of rooms whose tests notice at least ${leastScore} of 100 changes`, () => {
    for (const [room, { tried, killed }] of Object.entries(kept)) {
      expect(isRoom(room)).toBe(true);
      expect(killed, `of ${tried} in ${room}`).toBeGreaterThanOrEqual((leastScore / 100) * tried);
    }
  });

  it('[Q-3] an explanation names code that is there', () => {
    for (const { file, code } of explanations.flatMap(({ changes }) => changes)) {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').replace(/\s+/g, ' ');
      expect(source).toContain(code.replace(/\s+/g, ' '));
    }
  });
});
