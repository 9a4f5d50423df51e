import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createHookCircuit } from '../../../cli/hook/hookCircuit.ts';
import { readHookInput } from '../../../cli/hook/hostInput.ts';
import { guardSpinning } from '../../../cli/hook/spinningGuard.ts';
import { openReader } from '../../../reader/openReader.ts';
import type { SpinningChoice } from '../../../src/policy/spinning/spinningRule.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

interface Said {
  readonly continue?: boolean;
  readonly hookSpecificOutput: {
    readonly permissionDecision?: string;
    readonly permissionDecisionReason?: string;
    readonly additionalContext?: string;
  };
}

/** The guard of a session that calls a tool; each event has a circuit and a store of its own, as its process would. */
function startGuard(
  choice: SpinningChoice = 'end',
  tool = 'Bash',
  database = join(temporaryDirectory(), 'hook.sqlite'),
) {
  const opened = vi.fn<() => void>();
  const ask = async (event: string, fields: object): Promise<Said | undefined> => {
    const call = { session_id: 's1', tool_name: tool, tool_input: { command: 'make' } };
    const input = readHookInput(JSON.stringify({ hook_event_name: event, ...call, ...fields }));
    const { use } = createHookCircuit({ name: 'spinning', database, budgetMs: () => 60_000 });
    const counted: typeof use = (work) => {
      opened();
      return use(work);
    };
    return input && ((await guardSpinning(choice, database, counted, input)) as Said | undefined);
  };
  const fail = (more: object = {}) => ask('PostToolUseFailure', { error: 'Exit code 2\nmake: no target', ...more });
  const succeed = (more: object = {}) => ask('PostToolUse', { tool_response: 'the same', ...more });
  return {
    database,
    opened,
    ask,
    fail,
    succeed,
    before: (more: object = {}) => ask('PreToolUse', more),
    async times(count: number, make: (index: number) => Promise<Said | undefined>) {
      const said = [];
      for (let index = 0; index < count; index++) {
        const { continue: goesOn, hookSpecificOutput: { additionalContext = '' } = {} } = (await make(index)) ?? {};
        if (additionalContext !== '') said.push(`${index + 1}: ${goesOn === false ? 'end' : 'told'}`);
      }
      return said;
    },
    async events() {
      const reader = await openReader(database);
      const events = await reader.events({ category: 'session', session: 's1', limit: 20 });
      reader.close();
      return events.map(({ type, metadata }) => `${type} ${String(metadata['step'])} ${String(metadata['count'])}`);
    },
  };
}

const denied = { hookSpecificOutput: { permissionDecision: 'deny' } };
const ended = { continue: false, ...denied };

describe('the guard against repetition', () => {
  it('[H-5] [G-15] tells of equal failures from the sixth on and declines the call after the twentieth', async () => {
    const { times, fail, before, events } = startGuard();
    expect(await times(20, () => fail())).toEqual(['6: told', '12: told', '18: told', '20: end']);
    const said = await before();
    expect(said).toMatchObject({ ...ended, stopReason: expect.stringContaining('21 times') as string });
    expect(said?.hookSpecificOutput.permissionDecisionReason).toContain('"Exit code 2 make: no target"');
    expect(await before({ tool_input: { command: 'make all' } })).toBeUndefined();
    expect(await events()).toEqual(['spinning notice 4', 'spinning tell 6', 'spinning end 20']);
  });

  it.each([
    ['off', {}, []],
    ['notice', {}, []],
    ['tell', {}, ['6: told', '12: told', '18: told']],
    ['hold', denied, ['6: told', '12: told', '18: told', '20: told']],
  ] as const)('[H-5] goes as far as is chosen: %s', async (choice, declined, told) => {
    const { times, fail, before } = startGuard(choice);
    expect(await times(20, () => fail())).toEqual(told);
    const said = await before();
    expect([said ?? {}, said?.continue]).toMatchObject([declined, undefined]);
    expect(said === undefined).toBe(declined !== denied);
  });

  it('[H-5] says to Codex what it understands: that the call is declined, and nothing of an end', async () => {
    const { times, fail, before } = startGuard();
    const turn = { turn_id: 't1' };
    await times(20, () => fail(turn));
    const said = await before(turn);
    expect(said).toMatchObject(denied);
    expect(Object.keys(said ?? {})).toEqual(['hookSpecificOutput']);
  });

  it('[H-5] loses no call where twenty end at once', async () => {
    const { fail, before } = startGuard();
    await Promise.all(Array.from({ length: 20 }, () => fail()));
    expect(await before()).toMatchObject(ended);
  });

  it('[H-5] counts each sub-agent by itself', async () => {
    const { times, fail, before } = startGuard();
    expect(await times(19, () => fail())).toHaveLength(3);
    expect(await times(5, () => fail({ agent_id: 'a1' }))).toEqual([]);
    expect(await times(20, () => fail({ agent_id: 'a2' }))).toHaveLength(4);
    expect(await before({ agent_id: 'a2' })).toMatchObject(ended);
    expect([await before(), await before({ agent_id: 'a1' })]).toEqual([undefined, undefined]);
  });

  it.each([
    ['another prompt_id', { prompt_id: 'p1' }, { prompt_id: 'p2' }],
    ['another turn_id', { turn_id: 't1' }, { turn_id: 't2' }],
    ['UserPromptSubmit of a host that names none', {}, {}],
  ])('[H-5] declines nothing of before a new prompt, which is told by %s', async (_how, first, second) => {
    const { times, fail, before, ask } = startGuard();
    await times(20, () => fail(first));
    expect(await before(first)).toMatchObject(denied);
    await ask('UserPromptSubmit', second);
    expect(await before(second)).toBeUndefined();
    expect(await times(19, () => fail(second))).not.toContain('1: end');
    expect(await before(second)).toBeUndefined();
    await fail(second);
    expect(await before(second)).toMatchObject(denied);
  });

  it('[H-5] takes the prompt of a sub-agent for one, whatever its session goes on to', async () => {
    const { times, fail, before } = startGuard();
    await times(20, (index) => fail({ agent_id: 'a1', prompt_id: `p${index}` }));
    expect(await before({ agent_id: 'a1', prompt_id: 'p20' })).toMatchObject(ended);
  });

  it('[H-5] [G-15] tells of equal reads at the twelfth, holds them at twenty and ends at thirty', async () => {
    const { times, succeed, before } = startGuard('end', 'Grep');
    const read = (index: number) => succeed({ tool_response: { numFiles: 2, durationMs: index } });
    expect(await times(20, read)).toEqual(['12: told', '20: told']);
    const refusals = [];
    for (let index = 0; index < 10; index++) refusals.push((await before())?.continue);
    expect(refusals).toEqual([...Array.from({ length: 9 }, () => undefined), false]);
  });

  it('[H-5] [G-15] lets equal successes of a tool that acts go on, and failures between which something was done', async () => {
    const press = startGuard();
    expect(await press.times(25, () => press.succeed())).toEqual([]);
    expect(await press.before()).toBeUndefined();
    const tests = startGuard();
    const work = (index: number) =>
      index % 2 === 0 ? tests.fail() : tests.succeed({ tool_name: 'Edit', tool_input: { index } });
    expect(await tests.times(60, work)).toEqual([]);
    expect(await tests.before()).toBeUndefined();
  });

  it('[H-5] does not count what a person interrupted, and takes an MCP result that is an error for a failure', async () => {
    const { times, fail, before, succeed } = startGuard();
    expect(await times(25, () => fail({ is_interrupt: true }))).toEqual([]);
    expect(await before()).toBeUndefined();
    const wrong = { isError: true, content: [{ type: 'text', text: 'no such table' }] };
    expect(await times(20, () => succeed({ tool_response: wrong }))).toContain('20: end');
  });

  it('[H-5] opens no database before a tool, unless a call is to be declined', async () => {
    const { times, ask, fail, before, opened } = startGuard();
    await times(19, () => fail());
    opened.mockClear();
    await before();
    expect(opened).not.toHaveBeenCalled();
    await fail();
    await before();
    expect(opened).toHaveBeenCalledTimes(2);
    // What a person says lets it be called again.
    await ask('UserPromptSubmit', {});
    opened.mockClear();
    await before();
    expect(opened).not.toHaveBeenCalled();
  });

  it('[H-5] goes on where there is no database, where it is none, and where nothing is known of the session', async () => {
    const none = startGuard('end', 'Bash', ':memory:');
    expect(await none.times(25, () => none.fail())).toEqual([]);
    const broken = join(temporaryDirectory(), 'hook.sqlite');
    writeFileSync(broken, 'no database at all, and long enough to be looked at as one');
    const { fail, ask } = startGuard('end', 'Bash', broken);
    expect(await fail()).toBeUndefined();
    expect(await ask('PostToolUseFailure', { session_id: 7 })).toBeUndefined();
    expect(await ask('Stop', {})).toBeUndefined();
  });

  it('[H-5] keeps no secret that a tool answered with', async () => {
    const { times, fail, database } = startGuard();
    const token = `ghp_${'A1b2C3d4'.repeat(4)}0000`;
    await times(6, () => fail({ error: `HTTP 401: token ${token} is not valid` }));
    const folder = join(database, '..');
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(kept.join('')).toContain('HTTP 401');
    expect(kept.join('')).not.toContain(token);
  });
});
