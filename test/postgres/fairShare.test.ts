import { describe, expect, it } from 'vitest';
import { chooseMoves, type Movable, slackOf } from '../../postgres/fairShare.ts';

const load = (node: string, owned: number, { leaving = 0, waits = true } = {}) => ({ node, owned, leaving, waits });
const movable = (owner: string, count: number): readonly Movable[] =>
  Array.from({ length: count }, (_, index) => ({ session: `${owner}-${index}`, owner }));
/** How many are taken from each. */
const taken = (...args: Parameters<typeof chooseMoves>): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { owner } of chooseMoves(...args)) counts[owner] = (counts[owner] ?? 0) + 1;
  return counts;
};

describe('the slack', () => {
  it('[N-2] is two sessions, and a tenth of very many', () => {
    expect([0, 3, 20, 29, 30, 1_000].map(slackOf)).toEqual([2, 2, 2, 2, 3, 100]);
  });
});

describe('what a node takes', () => {
  it('[N-2] is nothing from who owns no more than the slack above it', () => {
    expect(taken('me', [load('me', 18), load('a', 20)], movable('a', 20), 50)).toEqual({});
    expect(taken('me', [load('me', 17), load('a', 20)], movable('a', 20), 50)).toEqual({ a: 1 });
  });

  it('[N-2] is from who owns most, until that one owns at most one more', () => {
    const loads = [load('me', 0), load('a', 10), load('b', 14)];
    expect(taken('me', loads, [...movable('a', 10), ...movable('b', 14)], 50)).toEqual({ a: 2, b: 6 });
    expect(taken('me', [load('me', 0), load('a', 5)], movable('a', 5), 50)).toEqual({ a: 2 });
  });

  it('[N-2] is no more than its share, so that others who wait have theirs', () => {
    const loads = [load('me', 0), load('other', 0), load('a', 60, { waits: false })];
    expect(taken('me', loads, movable('a', 60), 50)).toEqual({ a: 20 });
    const alone = [load('me', 0), load('other', 0, { waits: false }), load('a', 60, { waits: false })];
    expect(taken('me', alone, movable('a', 60), 50)).toEqual({ a: 30 });
  });

  it('[N-2] is capped, for itself and for each owner with what is leaving it', () => {
    const loads = [load('me', 0), load('a', 500, { leaving: 45 }), load('b', 400)];
    const movables = [...movable('a', 50), ...movable('b', 50)];
    expect(taken('me', loads, movables, 50)).toEqual({ a: 5, b: 45 });
  });

  it('[N-2] is only what may move, and nothing of a node that is not known to live', () => {
    expect(taken('me', [load('me', 0), load('a', 60)], movable('a', 3), 50)).toEqual({ a: 3 });
    expect(taken('me', [load('me', 0)], movable('gone', 9), 50)).toEqual({});
  });
});
