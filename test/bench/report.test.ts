import { describe, expect, it } from 'vitest';
import { machineText, thisMachine } from '../../bench/harness/machine.ts';
import { reportOf, textOf } from '../../bench/harness/report.ts';
import { runSuite } from '../../bench/harness/rounds.ts';
import { type Suite, type Target, defineSuite } from '../../bench/harness/suite.ts';
import { type Verdict, judge } from '../../bench/harness/verdict.ts';
import { costs, fakeMeter, twoSubjects } from './fakes.ts';

const ours = { subject: 'ours', case: 'work', metric: 'cost' };
const plain = { ...ours, subject: 'plain' };

/** Ours costs 30 or 50, plain 20 or 30; each minimum is from another round. */
function suite(...targets: Target[]): Suite {
  return twoSubjects(costs(0, 30, 50), costs(0, 30, 20), targets);
}

async function figuresOf(of: Suite) {
  return runSuite(of, { rounds: 2, quick: false, meter: fakeMeter(), isolate: async () => [] });
}

async function verdict(target: Target): Promise<Verdict | undefined> {
  const judged = suite(target);
  return judge(judged, await figuresOf(judged))[0];
}

describe('the verdict on a target', () => {
  it('compares a minimum with its bound, which is still met itself', async () => {
    expect(await verdict({ says: 'cost', of: ours, atMost: 30 })).toMatchObject({ value: 30, met: true });
    expect(await verdict({ says: 'cost', of: ours, atMost: 29.9 })).toMatchObject({ met: false, limit: '≤ 29.9' });
  });

  it('compares the ratio of two minima', async () => {
    expect(await verdict({ says: 'ratio', of: ours, over: plain, atMost: 1.5 })).toMatchObject({
      value: 1.5,
      met: true,
    });
    expect(await verdict({ says: 'ratio', of: ours, over: plain, atMost: 1.49 })).toMatchObject({ met: false });
  });

  it('compares medians where it says so', async () => {
    expect(await verdict({ says: 'cost', of: ours, by: 'median', atMost: 40 })).toMatchObject({ value: 40, met: true });
    expect(await verdict({ says: 'cost', of: ours, over: plain, by: 'median', atMost: 9 })).toMatchObject({
      value: 1.6,
    });
  });

  it('knows lower bounds', async () => {
    expect(await verdict({ says: 'pace', of: ours, atLeast: 30 })).toMatchObject({ met: true, limit: '≥ 30' });
    expect(await verdict({ says: 'pace', of: ours, atLeast: 30.1 })).toMatchObject({ met: false });
  });

  it('is open where a figure was not measured', async () => {
    const missing = { ...ours, metric: 'heap' };
    expect(await verdict({ says: 'heap', of: missing, atMost: 1 })).toMatchObject({ value: undefined, met: undefined });
    expect(await verdict({ says: 'heap', of: ours, over: missing, atMost: 1 })).toMatchObject({ met: undefined });
  });
});

describe('the report of a benchmark', () => {
  it('says for machines all that was measured, with ratios against the baseline', async () => {
    const run = suite({ says: 'cost', of: ours, atMost: 30 });
    const report: unknown = JSON.parse(JSON.stringify(reportOf(run, await figuresOf(run), 4.4)));
    expect(report).toEqual({
      name: 'fake',
      about: 'Two fakes.',
      baseline: 'plain',
      figures: expect.arrayContaining([
        { ...ours, unit: 'µs', min: 30, median: 40, samples: [30, 50], ratio: 1.5 },
        { ...plain, unit: 'µs', min: 20, median: 25, samples: [30, 20], ratio: 1 },
      ]) as unknown,
      targets: [{ says: 'cost', value: 30, limit: '≤ 30', met: true }],
      missing: [],
      rounds: 2,
      seconds: 4.4,
    });
  });

  it('says for people a row for each figure and a line for each target', async () => {
    const missing = { ...ours, metric: 'heap' };
    const run = suite(
      { says: 'cost', of: ours, atMost: 30 },
      { says: 'ratio', of: ours, over: plain, atMost: 1.2 },
      { says: 'memory', of: missing, atMost: 9 },
    );
    expect(textOf(run, reportOf(run, await figuresOf(run), 4.4))).toBe(
      `fake: Two fakes.
  ours: the fake one
  plain: the plain one

CASE  FIGURE           OURS        PLAIN  ours/plain
work  cost, µs  30.0 (40.0)  20.0 (25.0)        1.50

✓ cost: 30.0, ≤ 30
✗ ratio: 1.50, ≤ 1.2
- memory: not measured, ≤ 9
2 rounds in 4 s
`,
    );
  });

  it('has a table for each case where there are many subjects, with ratios where the baseline has the figure', async () => {
    const names = ['ours', 'second', 'third', 'fourth', 'plain'];
    const suiteOfFive = defineSuite({
      name: 'five',
      about: 'Five fakes.',
      baseline: 'plain',
      subjects: names.map((name, index) => ({
        name,
        about: 'fake',
        cases: { work: costs(0, (index + 1) * 10), ...(name === 'plain' ? {} : { rest: costs(0, 7) }) },
      })),
      targets: [],
    });
    const figures = await runSuite(suiteOfFive, {
      rounds: 1,
      quick: false,
      meter: fakeMeter(),
      isolate: async () => [],
    });
    const [, tables] = textOf(suiteOfFive, reportOf(suiteOfFive, figures, 1)).split('plain: fake\n\n');
    expect(tables).toBe(`WORK       cost, µs  /plain
ours    10.0 (10.0)   0.200
second  20.0 (20.0)   0.400
third   30.0 (30.0)   0.600
fourth  40.0 (40.0)   0.800
plain   50.0 (50.0)

REST       cost, µs
ours    7.00 (7.00)
second  7.00 (7.00)
third   7.00 (7.00)
fourth  7.00 (7.00)

1 rounds in 1 s
`);
  });

  it('names who was left out as it is not installed, and judges no target of it', async () => {
    const away = { ...plain, subject: 'away' };
    const run = { ...suite({ says: 'cost', of: ours, atMost: 30 }), missing: ['away', 'afar'] };
    const targets = [{ says: 'ratio', of: ours, over: away, atMost: 1 }];
    const text = textOf(run, reportOf({ ...run, targets }, await figuresOf(run), 4.4));
    expect(text).toContain(`- ratio: not measured, ≤ 1
missing: away, afar; left out, and no target of them was judged; \`npm ci --ignore-scripts --prefix bench\` installs them
`);
  });

  it('begins with what it was measured on, and beside whom', () => {
    const machine = { node: 'v20.19.0', system: 'Linux 6', cpu: 'Fake 9', cores: 2, load: 0.31 };
    expect(machineText({ ...machine, peers: { opossum: '10.0.0', effect: '4.1.0' } })).toBe(
      'Measured on 2 cores of Fake 9, Linux 6, Node v20.19.0, load 0.3\nbeside opossum 10.0.0, effect 4.1.0\n',
    );
  });

  it('knows the versions of the peers that are there', () => {
    expect(thisMachine().peers['xstate']).toMatch(/^5\./);
  });
});
