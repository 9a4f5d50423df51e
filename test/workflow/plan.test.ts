import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../src/policy/failures/failure.ts';
import { checkPlan } from '../../workflow/plan.ts';
import { item, planOf } from './startWorkflow.ts';

/** What is wrong with a plan, problem by problem. */
async function problemsOf(plan: unknown): Promise<string[]> {
  const error = await checkPlan('primary', plan).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AttemptError);
  const { message, facts } = error as AttemptError;
  expect(facts).toMatchObject({ kind: 'protocol', outcome: 'failed' });
  return message.replace('The plan of primary cannot be used: ', '').split('; ');
}

describe('a plan', () => {
  it('[W-5] that is sound is taken, with what its backend needs beyond', async () => {
    const items = [{ ...item('a'), input: { note: 'mine' } }, item('b', ['a', 'a'])];
    const sound = await checkPlan('primary', { success: true, items, other: 1 });
    expect(sound).toEqual({ items, graph: [[], [0]] });
  });

  it('[R-17] with items in two places is refused: one of them would be lost', async () => {
    const plan = { success: true, items: [item('a')], todo: { items: [item('b')] } };
    expect(await problemsOf(plan)).toEqual(['todo.items: expected to be left out beside `items`']);
  });

  it('[W-5] with its items in `todo` is understood as it is', async () => {
    const first = { id: 'a', action: 'look', tools_needed: ['grep'], mcp_servers: ['kb'], max_attempts: 2 };
    const second = { id: 'b', action: 'write', tools_needed: [], mcp_servers: [], dependencies: ['a'] };
    const sound = await checkPlan('primary', { success: true, todo: { mode: 'sequential', items: [first, second] } });
    expect(sound).toEqual({
      mode: 'sequential',
      items: [
        { ...first, tools: ['grep'], servers: ['kb'], maxAttempts: 2 },
        { ...second, tools: [], servers: [] },
      ],
      graph: [[], [0]],
    });
  });

  it('[W-5] keeps what else its items say', async () => {
    const items = [{ ...item('a'), priority: 'high', depends: ['b'] }];
    expect((await checkPlan('primary', { success: true, items })).items).toEqual(items);
  });

  it.each<[unknown, string[]]>([
    [undefined, ['the plan: expected an object, got undefined']],
    [null, ['the plan: expected an object, got null']],
    ['do it', ['the plan: expected an object, got "do it"']],
    [[], ['the plan: expected an object, got an array of 0']],
    [
      {},
      [
        'success: expected true or false, got undefined',
        'items: expected an array of at least one item, got undefined',
      ],
    ],
    [{ success: 'yes', items: [item('a')] }, ['success: expected true or false, got "yes"']],
    [{ success: true, items: 'a' }, ['items: expected an array of at least one item, got "a"']],
    [{ success: true, items: [] }, ['items: expected an array of at least one item, got an array of 0']],
    [
      { success: true, items: [{ ...item('a'), max_attempts: 0, maxAttempts: 1.5 }], mode: 3 },
      [
        'items[0].maxAttempts: expected a positive integer, got 1.5',
        'items[0].max_attempts: expected a positive integer, got 0',
        'mode: expected a string, got 3',
      ],
    ],
    [{ success: true, todo: [] }, ['todo: expected an object, got an array of 0']],
    [{ success: true, todo: {} }, ['todo.items: expected an array of at least one item, got undefined']],
    [
      { success: true, todo: { items: [{ action: 'do a', mcp_servers: 'kb' }] } },
      [
        'todo.items[0].id: expected a non-empty string, got undefined',
        'todo.items[0].mcp_servers: expected an array of strings, got "kb"',
      ],
    ],
    [
      { success: true, todo: { items: [item('a', ['b'])] } },
      ['todo.items[0].dependencies[0]: expected the id of an item, got "b"'],
    ],
    [{ success: true, items: [null] }, ['items[0]: expected an object, got null']],
    [
      { success: true, items: [{ id: '', action: 7, dependencies: ['a', 4], tools: 'x', effect: 'none' }] },
      [
        'items[0].id: expected a non-empty string, got ""',
        'items[0].action: expected a non-empty string, got 7',
        'items[0].dependencies[1]: expected a string, got 4',
        'items[0].tools: expected an array of strings, got "x"',
        'items[0].effect: expected one of readOnly, idempotent, mutating, got "none"',
      ],
    ],
  ])('[W-5] says of %j where it is wrong and how', async (plan, problems) => {
    expect(await problemsOf(plan)).toEqual(problems);
  });

  it('[W-5] names all that is wrong in how its items hang together', async () => {
    const plan = planOf(
      item('build'),
      item('test', ['biuld']),
      item('test'),
      item('x', ['y']),
      item('y', ['x']),
      item('z', ['z']),
    );
    expect(await problemsOf(plan)).toEqual([
      'items[2].id: expected an id of its own, got "test", which is that of items[1]',
      'items[1].dependencies[0]: expected the id of an item, got "biuld"',
      'did you mean "build"?',
      'items[3].dependencies: expected no item to depend on itself, got "x" → "y" → "x"',
      'items[5].dependencies: expected no item to depend on itself, got "z" → "z"',
    ]);
  });

  it('[W-5] that its backend could not make is refused with its reason', async () => {
    const error = { kind: 'unknown', message: 'primary could not make a plan: no idea' };
    await expect(checkPlan('primary', { success: false, items: [], error: 'no idea' })).rejects.toMatchObject({
      facts: error,
    });
    await expect(checkPlan('primary', { success: false })).rejects.toThrow(/^primary could not make a plan$/);
  });

  it('[W-5] names twenty problems and the number of the others', async () => {
    const problems = await problemsOf(
      planOf(...Array.from({ length: 30 }, (_, index) => item(`i${index}`, ['nobody']))),
    );
    expect(problems.filter((each) => !each.startsWith('did'))).toHaveLength(21);
    expect(problems.at(-1)).toBe('and 10 more');
  });

  it('[W-5] in a circle of 10,000 is refused, with a part of the circle', async () => {
    const items = Array.from({ length: 10_000 }, (_, index) => item(`i${index}`, [`i${(index + 1) % 10_000}`]));
    const [problem, ...others] = await problemsOf(planOf(...items));
    expect(problem).toMatch(/^items\[0\]\.dependencies: .* got "i0" → "i1" → .* → 9992 more → "i0"$/);
    expect(others).toEqual([]);
  });

  it('[W-5] of 10,000 that all depend on each other back and forth is judged in time', async () => {
    const items = Array.from({ length: 10_000 }, (_, index) =>
      item(`i${index}`, index === 0 ? ['i9999'] : ['i0', `i${index - 1}`]),
    );
    expect(await problemsOf(planOf(...items))).toHaveLength(20);
  });

  it('[W-5] that throws when it is looked at is refused', async () => {
    const plan = {
      success: true,
      get items(): never {
        throw new Error('boo');
      },
    };
    await expect(checkPlan('primary', plan)).rejects.toThrow('boo');
  });
});
