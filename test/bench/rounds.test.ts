import { describe, expect, it } from 'vitest';
import { type Figure, type RunOptions, runSuite } from '../../bench/harness/rounds.ts';
import type { Case, Suite } from '../../bench/harness/suite.ts';
import { costs, fakeMeter, twoSubjects } from './fakes.ts';

function run(suite: Suite, options: Partial<RunOptions> = {}): Promise<Figure[]> {
  return runSuite(suite, { rounds: 3, quick: false, meter: fakeMeter(), isolate: async () => [], ...options });
}

function noted(journal: string[], name: string): Case {
  return { measure: () => void journal.push(name) };
}

describe('the rounds of a benchmark', () => {
  it('run the subjects of a case one after the other, another one first each time', async () => {
    const journal: string[] = [];
    await run(twoSubjects(noted(journal, 'o'), noted(journal, 'p')));
    expect(journal.join('')).toBe('op' + 'po' + 'op' + 'po');
  });

  it('throw the round away in which the compiler warms up', async () => {
    const figures = await run(twoSubjects(costs(1, 30, 20, 40), costs(1, 10, 10, 10)));
    expect(figures.find(({ subject }) => subject === 'ours')?.samples).toEqual([30, 20, 40]);
  });

  it('give the minimum and the median of each metric', async () => {
    const figures = await run(twoSubjects(costs(0, 50, 20, 30, 41), costs(0, 1, 1, 1, 1)), { rounds: 4 });
    expect(figures.find(({ subject }) => subject === 'ours')).toMatchObject({
      metric: 'cost',
      unit: 'µs',
      min: 20,
      median: 35.5,
    });
  });

  it('measure an isolated case in a process of its own, each round, without a warm-up', async () => {
    const asked: string[] = [];
    const isolate: RunOptions['isolate'] = async (...names) => {
      asked.push(names.flat().join('/'));
      return [{ metric: 'heap', unit: 'B', value: 7 }];
    };
    const here = () => {
      throw new Error('measured here');
    };
    const figures = await run(twoSubjects({ measure: here, isolated: true, flags: ['--room'] }, costs(1, 1)), {
      rounds: 1,
      isolate,
    });
    expect(asked).toEqual(['fake/ours/work/--room']);
    expect(figures).toContainEqual(expect.objectContaining({ subject: 'ours', metric: 'heap', samples: [7] }));
  });

  it('are as many as there is time for, and one at least', async () => {
    const meter = fakeMeter();
    const journal: string[] = [];
    const takes = (name: string, seconds: number, once = false): Case => ({
      once,
      measure() {
        journal.push(name);
        meter.spend(0, seconds * 1e6);
      },
    });
    const rounds = (seconds: number) => run(twoSubjects(takes('o', 2), takes('p', 8, true)), { seconds, meter });
    // A round for the compiler, and one with what is measured once: 12 s; each of the others takes 2.
    await rounds(15);
    expect(journal.splice(0).join('')).toBe('o' + 'po' + 'o');
    await rounds(1);
    expect(journal.join('')).toBe('o' + 'po');
  });

  it('measure only what is asked for', async () => {
    const journal: string[] = [];
    await run(twoSubjects(noted(journal, 'o'), noted(journal, 'p')), { only: (subject) => subject === 'plain' });
    expect(journal.join('')).toBe('pppp');
  });

  it('measure in the first one alone what says enough in one', async () => {
    const figures = await run(twoSubjects({ ...costs(30, 20), once: true }, costs(1, 10, 10, 10)));
    expect(figures.map(({ samples }) => samples)).toEqual([[10, 10, 10], [30]]);
  });

  it('leave a long case out when they are quick, and out of the warm-up when not', async () => {
    const journal: string[] = [];
    const suite = twoSubjects({ ...noted(journal, 'o'), long: true }, noted(journal, 'p'));
    await run(suite, { rounds: 1, quick: true });
    expect(journal.join('')).toBe('pp');
    await run(suite, { rounds: 1 });
    expect(journal.join('')).toBe('pp' + 'p' + 'po');
  });
});
