import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';
import { type FireOptions, fire, table, unexplained } from './fire.ts';
import { keptIn } from './kept.ts';
import type { Harm, Round, Seen } from './round.ts';
import type { Way } from './ways.ts';

const ways: readonly Way[] = ['one', 'other'].map((name) => ({ name, words: [name, '{server}'] }));
const seen = (verdict: string, harm?: Harm): Seen => ({
  verdicts: { 'ping/ping': verdict },
  said: {},
  printed: '',
  boundaries: { ping: 3 },
  calling: ['ping'],
  harms: harm === undefined ? {} : { ping: harm },
  ms: 1,
});

function fired(play: (round: Round) => Seen, options: Partial<FireOptions> = {}) {
  return fire({ ways, seed: 1, ...options, play: (round) => Promise.resolve(play(round)) });
}

describe('conformance under fire', () => {
  it('[Q-5] plays each boundary of each scenario with each fault, and finds nothing where no verdict is worse', async () => {
    const rounds: Round[] = [];
    const reports = await fired((round) => {
      rounds.push(round);
      return seen('SUCCESS', { kind: 'in' });
    });
    const harmed = rounds.filter(({ way, fault }) => way.name === 'one' && fault !== 'none');
    expect(harmed).toHaveLength(3 * 5 * 2);
    expect(new Set(harmed.map(({ scenario }) => scenario))).toEqual(new Set(['ping']));
    expect(reports.flatMap(unexplained)).toEqual([]);
    expect(table(reports)).toContain('| one | 0 | 6: 0 worse, 0 explained |');
  });

  it('[Q-5] draws the same boundaries and faults for each way by a seed, and others by another one', async () => {
    const drawn = async (seed: number) => {
      const reports = await fired(() => seen('SUCCESS', { kind: 'in' }), { seed, rounds: 6 });
      return reports.map(({ cells }) => cells.map(({ fault, at, reads }) => `${fault} ${at} ${reads}`));
    };
    const [one, other] = await drawn(1);
    expect(one).toHaveLength(6);
    expect(other).toEqual(one);
    expect(await drawn(2)).not.toContainEqual(one);
  });

  it.each<readonly [why: string | undefined, fault: 'kill' | 'hang', harm: Harm, reads: boolean]>([
    ['lost', 'kill', { kind: 'in', underWay: 'pay' }, false],
    [undefined, 'kill', { kind: 'in', underWay: 'read' }, true],
    [undefined, 'kill', { kind: 'in', underWay: 'read', untold: 'tools' }, true],
    ['start', 'hang', { kind: 'in', untold: 'handshake' }, false],
    [undefined, 'kill', { kind: 'in', untold: 'handshake' }, false],
    [undefined, 'kill', { kind: 'after' }, false],
  ])('[Q-5] explains a worse verdict by what was under way alone: %s', async (why, fault, harm, reads) => {
    const [report] = await fired(
      (round) => (round.fault === 'none' ? seen('SUCCESS') : seen('FAILURE', round.reads === reads ? harm : undefined)),
      { faults: [fault] },
    );
    const cells = report?.cells.filter((cell) => cell.reads === reads) ?? [];
    expect(cells.map(({ explained }) => explained)).toEqual([why, why, why]);
    // One on which no fault fell is never explained.
    expect(report === undefined ? [] : unexplained(report)).toHaveLength(why === undefined ? 6 : 3);
  });

  it('[Q-5] explains no call that nobody answered', async () => {
    const silent = { ...seen('FAILURE', { kind: 'in', underWay: 'pay' }), said: { ping: 'Request timed out' } };
    const [report] = await fired(({ fault }) => (fault === 'none' ? seen('SUCCESS') : silent), { faults: ['kill'] });
    expect(report?.cells.map(({ explained }) => explained)).toEqual(Array.from({ length: 6 }));
  });

  it('[Q-5] plays a run that was worse without an explanation once more, and tells of one that was so once', async () => {
    const names = new Set<string>();
    const reports = await fired(
      (round) => {
        const name = `${round.way.name} ${round.at} ${round.reads}`;
        const isFirst = round.fault !== 'none' && !names.has(name);
        names.add(name);
        return seen(isFirst || round.at === 3 ? 'FAILURE' : 'SUCCESS', { kind: 'in' });
      },
      { faults: ['kill'] },
    );
    expect(reports.map((report) => unexplained(report).map(({ at }) => at))).toEqual([
      [3, 3],
      [3, 3],
    ]);
    expect(table(reports)).toContain('| one | 0 | 6: 2 worse, 0 explained, 4 once |');
  });

  it('[Q-5] goes on where an earlier command ended, with what that had seen', async () => {
    const file = join(temporaryDirectory(), 'kept.jsonl');
    const played: number[] = [];
    const part = (forMs?: number) =>
      fired(
        ({ at }) => {
          played.push(at);
          return seen(at === 2 ? 'FAILURE' : 'SUCCESS', { kind: 'in' });
        },
        { faults: ['kill'], kept: keptIn(file), forMs, atOnce: 1 },
      );
    expect((await part(0)).map(({ rounds, cells }) => [rounds, cells.length])).toEqual([
      [6, 0],
      [6, 0],
    ]);
    expect(played).toEqual([0, 0, 0]);
    const whole = await part();
    played.length = 0;
    expect(await part()).toEqual(whole);
    expect(whole.map((report) => unexplained(report).length)).toEqual([2, 2]);
    expect(played).toEqual([]);
  });

  it('[P-6] tells of a verdict that is worse without a fault, or missing', async () => {
    const of = (round: Round) => (round.way.name === 'one' ? { ...seen('SUCCESS'), verdicts: {} } : seen('SUCCESS'));
    const [one, other] = await fired(of, { rounds: 0 });
    expect([one?.without, other?.without]).toEqual([{ 'ping/ping': 'none' }, {}]);
  });
});
