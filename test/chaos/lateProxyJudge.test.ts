import { describe, expect, it } from 'vitest';
import { type Death, type Told, judgeLate } from './lateProxyJudge.mjs';

const [connection, question] = ['c0-1', 'q-1'];
const asks = (askedAt: number, at: number, what: Partial<Told>): Told => ({
  connection,
  question,
  askedAt,
  at,
  ...what,
});
const begun = (run: string, at: number, by = connection, about = question) => `begun ${run} ${about} ${by} ${at}`;
const ended = (run: string, at: number) => `ended ${run} ${question} ${at}`;
const judged = (told: readonly Told[], lines: readonly string[], deaths: readonly Death[] = []) =>
  judgeLate({ told, lines, deaths }).violations;
const kept = asks(0, 300, { kept: true });
const once = [begun('r1', 10), ended('r1', 500)];
const lost = { outcome: 'unknown' };

describe('the judge of late answers', () => {
  it('[R-18] has nothing against one run whose answer was given late', () => {
    const told = [kept, asks(330, 510, { run: 'r1', late: true })];
    const sums = { calls: 2, begun: 1, answers: 1, late: 1, lost: 0 };
    expect(judgeLate({ told, lines: once, deaths: [] })).toEqual({ ...sums, violations: [] });
  });

  it('[R-18] has nothing against a run that began only when its client knew that it is kept', () => {
    expect(judged([kept, asks(330, 900, { run: 'r1', late: true })], [begun('r1', 350), ended('r1', 890)])).toEqual([]);
  });

  it('[R-18] has nothing against one that was lost and told so, and is made again then', () => {
    const told = [kept, asks(330, 410, lost), asks(440, 990, { run: 'r2' })];
    const lines = [begun('r1', 10), begun('r2', 450), ended('r2', 980)];
    expect(judged(told, lines, [{ at: 400, connection }])).toEqual([]);
  });

  const orphaned = [kept, { ...asks(600, 610, lost), connection: 'c0-2' }];
  const proxyDied = [{ at: 400, connection, proxy: true }];

  it('[R-18] has nothing against a loss that is told by the proxy after the one that had kept it', () => {
    expect(judged(orphaned, [begun('r1', 10)], proxyDied)).toEqual([]);
  });

  it.each<[string, readonly Told[], readonly string[], (readonly Death[])?]>([
    ['no server had died', orphaned, once, [{ at: 700, connection, proxy: true }]],
    ['no server had died', [...orphaned, { ...asks(620, 630, lost), connection: 'c0-2' }], once, proxyDied],
    ['no server had died', [kept, asks(600, 610, lost)], once, proxyDied],
    ['was made 2 times', [kept, asks(330, 990, { run: 'r2' })], [...once, begun('r2', 340), ended('r2', 980)]],
    [
      'was made 2 times',
      [asks(0, 150, { gaveUp: true }), asks(180, 790, { run: 'r2' })],
      [...once, begun('r2', 190), ended('r2', 780)],
    ],
    // The end of the first has crossed the cancel of its client.
    [
      'was made 2 times',
      [asks(0, 500, { gaveUp: true }), asks(530, 1100, { run: 'r2' })],
      [...once, begun('r2', 540), ended('r2', 1090)],
    ],
    [
      'was made 2 times',
      [kept, asks(330, 990, { run: 'r2' })],
      [begun('r1', 10), begun('r2', 450), ended('r2', 980)],
      [{ at: 310 }],
    ],
    [
      'was made 2 times',
      [asks(0, 150, { gaveUp: true }), asks(180, 330, { gaveUp: true })],
      [...once, begun('r2', 190), ended('r2', 780)],
    ],
    ['was given to', [asks(0, 600, { run: 'r1' }), asks(630, 640, { run: 'r1', late: true })], once],
    ['of before it was asked', [asks(0, 400, lost), asks(430, 600, { run: 'r1' })], once, [{ at: 390 }]],
    ['the answer of c1-1', [asks(0, 600, { run: 'r1' })], [begun('r1', 10, 'c1-1'), ended('r1', 500)]],
    ['of q-2', [asks(0, 600, { run: 'r1' })], [begun('r1', 10, connection, 'q-2'), ended('r1', 500)]],
    ['answered with r1', [asks(0, 600, { run: 'r1' })], [begun('r1', 10)]],
    ['no server had died', [kept, asks(330, 410, lost)], once],
    ['no server had died', [kept, asks(330, 410, lost)], once, [{ at: 400, connection: 'c1-1' }]],
    ['no server had died', [asks(0, 410, lost), asks(440, 450, lost)], [begun('r1', 10)], [{ at: 400 }]],
    ['was answered by r1', [kept, asks(330, 2000, lost)], once, [{ at: 1900 }]],
    ['ended as cancelled', [asks(0, 410, { outcome: 'cancelled' })], once],
  ])('[R-18] notices: %s', (violation, told, lines, deaths = []) => {
    expect(judged(told, lines, deaths)).toContainEqual(expect.stringContaining(violation));
  });
});
