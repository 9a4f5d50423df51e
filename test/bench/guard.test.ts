import { describe, expect, it } from 'vitest';
import { compare, type Finding, type Guard, nameOf, textOfFindings } from '../../bench/harness/guard.ts';
import { checkGuards, measureGuards, missingFor, type WatchOptions } from '../../bench/harness/watch.ts';
import type { Case, Suite } from '../../bench/harness/suite.ts';
import { costs, fakeMeter, twoSubjects } from './fakes.ts';

const figure = (subject: string) => ({ subject, case: 'work', metric: 'cost' });
const guard: Guard = { suite: 'fake', of: figure('ours'), over: figure('plain'), margin: 2 };
const name = 'fake: work: cost: ours against plain';
const recorded = (ratio: number, node = 'v20.19.0') => ({ node, ratios: { [name]: ratio } });

/** Two fakes; the first value of each is the warm-up's. */
function options(ours: Case, plain: Case, changes: Partial<Suite> = {}): WatchOptions & { node: string } {
  const suite = { ...twoSubjects(ours, plain), ...changes };
  const isolate = async () => [];
  return { rounds: 1, meter: fakeMeter(), isolate, loadSuite: async () => suite, node: 'v20.1.0' };
}

describe('a guarded ratio', () => {
  it('may be as many times what was recorded as its margin, and no more', () => {
    expect(compare(guard, 3, recorded(1.5), 'v20.1.0')).toEqual({ name, ratio: 3, recorded: 1.5, limit: 3, ok: true });
    expect(compare(guard, 3.01, recorded(1.5), 'v20.1.0').ok).toBe(false);
  });

  it('has twice the margin on another major version of Node', () => {
    expect(compare(guard, 6, recorded(1.5), 'v22.1.0').ok).toBe(true);
    expect(compare(guard, 6.01, recorded(1.5), 'v22.1.0').ok).toBe(false);
  });

  it('is open where it was not recorded or not measured', () => {
    const bare = { node: 'v20.19.0', ratios: {} };
    expect(compare(guard, 3, bare, 'v20.1.0')).toMatchObject({ recorded: undefined, ok: undefined });
    expect(compare(guard, undefined, recorded(1), 'v20.1.0')).toMatchObject({ recorded: 1, ok: undefined });
    expect(compare({ ...guard, suite: 'toString' }, 3, bare, 'v20.1.0').recorded).toBeUndefined();
  });

  it('names both cases where they differ', () => {
    const over = { ...figure('ours'), case: 'rest' };
    expect(nameOf({ ...guard, over })).toBe('fake: work: cost: ours against ours, rest');
  });
});

describe('the check of guarded ratios', () => {
  it('compares the ratio of the minima', async () => {
    const run = { ...options(costs(0, 30, 50), costs(0, 30, 20)), rounds: 2 };
    expect(await checkGuards([guard], recorded(1), run)).toMatchObject([{ ratio: 1.5, ok: true }]);
  });

  /** Costs of ours against 10, one after the other, each after a warm-up. */
  const measured = (...ours: number[]) =>
    options(costs(...ours.flatMap((cost) => [0, cost])), costs(...ours.flatMap(() => [0, 10])));

  it('measures what has grown again, until it has not', async () => {
    expect(await checkGuards([guard], recorded(1), measured(50, 15))).toMatchObject([{ ratio: 1.5, ok: true }]);
    expect(await checkGuards([guard], recorded(1), measured(50, 60, 40, 70, 15))).toMatchObject([{ ok: true }]);
  });

  it('takes the best of five measurements for what is still grown', async () => {
    const findings = await checkGuards([guard], recorded(1), measured(50, 90, 40, 60, 70, 15));
    expect(findings).toMatchObject([{ ratio: 4, ok: false }]);
  });

  it('does not measure again what has not grown', async () => {
    let measured = 0;
    const counted: Case = {
      measure(probe) {
        measured++;
        probe.record('cost', 1, 'µs');
      },
    };
    await checkGuards([guard], recorded(1), options(counted, costs(1, 1)));
    expect(measured).toBe(2);
  });

  it('leaves out who is not installed, and says so', async () => {
    const away: Guard = { ...guard, over: figure('away') };
    const run = options(costs(0, 10), costs(0, 10), { missing: ['away'] });
    expect(await missingFor([guard, away], run.loadSuite)).toEqual(['away']);
    expect(await missingFor([guard], run.loadSuite)).toEqual([]);
    expect(await checkGuards([guard, away], recorded(1), run)).toMatchObject([
      { ok: true },
      { ratio: undefined, ok: undefined },
    ]);
  });

  it('has nothing to say of a ratio against 0', async () => {
    const findings = await checkGuards([guard], recorded(1), options(costs(0, 10), costs(0, 0)));
    expect(findings).toMatchObject([{ ratio: undefined, ok: undefined }]);
  });

  it('takes one round for what is as good after one', async () => {
    const run = { ...options(costs(0, 10, 20, 5), costs(0, 10, 10, 10)), rounds: 3 };
    expect((await measureGuards([{ ...guard, once: true }], run)).get(name)).toBe(1);
  });
});

describe('the text of a check', () => {
  const finding: Finding = { name: 'a', ratio: 3, recorded: 1.5, limit: 3, ok: true };

  it('has a line for each ratio, then how many were compared', () => {
    const grown = { ...finding, name: 'b', ratio: 3.5, ok: false };
    const fresh = { ...finding, name: 'c', recorded: undefined, limit: undefined, ok: undefined };
    const absent = { ...finding, name: 'd', ratio: undefined, ok: undefined };
    expect(textOfFindings([finding, grown, fresh, absent], [])).toBe(`✓ a: 3.00, recorded 1.50, at most 3.00
✗ b: 3.50, recorded 1.50, at most 3.00
- c: 3.00, not recorded; \`npm run bench -- --record\` does
- d: not measured, recorded 1.50, at most 3.00

2 of 4 ratios compared, 1 grown
`);
  });

  it('names who is missing, and how to install them', () => {
    expect(textOfFindings([finding], ['opossum', 'effect'])).toContain(
      'missing: opossum, effect; ratios against them were left out; `npm ci --ignore-scripts --prefix bench` installs them\n',
    );
  });
});
