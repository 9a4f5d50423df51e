import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { repairTranscript } from '../../../transcript/index.ts';
import type { Fields } from '../damaged.ts';
import { acceptAnthropic, acceptOpenAiChat, acceptOpenAiResponses, acceptSession } from '../validators.ts';

/** A call as a provider wrote it that does not give each an id of its own. */
interface Asked {
  readonly id: string;
  readonly path: string;
  /** Undefined where none was recorded. */
  readonly said: string | undefined;
}

type Turns = readonly (readonly Asked[])[];

const question = { role: 'user', content: 'do it' };

function anthropic(turns: Turns): Fields[] {
  return turns.flatMap((asked) => [
    question,
    {
      role: 'assistant',
      content: asked.map(({ id, path }) => ({ type: 'tool_use', id, name: 'read', input: { path } })),
    },
    {
      role: 'user',
      content: told(asked).map(({ id, said }) => ({ type: 'tool_result', tool_use_id: id, content: said })),
    },
  ]);
}

function chat(turns: Turns): Fields[] {
  const call = ({ id, path }: Asked) => ({
    id,
    type: 'function',
    function: { name: 'read', arguments: JSON.stringify({ path }) },
  });
  return turns.flatMap((asked) => [
    question,
    { role: 'assistant', content: null, tool_calls: asked.map(call) },
    ...told(asked).map(({ id, said }) => ({ role: 'tool', tool_call_id: id, content: said })),
  ]);
}

function responses(turns: Turns): Fields[] {
  return turns.flatMap((asked) => [
    { type: 'message', ...question },
    ...asked.map(({ id, path }) => ({
      type: 'function_call',
      call_id: id,
      name: 'read',
      arguments: JSON.stringify({ path }),
    })),
    ...told(asked).map(({ id, said }) => ({ type: 'function_call_output', call_id: id, output: said })),
  ]);
}

/** Results hang from the line that a program finds by the id: the last one that has it. */
function session(turns: Turns): Fields[] {
  const lines: Fields[] = [];
  let parent: string | null = null;
  const add = (type: string, message: Fields, from: string | null): string => {
    const uuid = `line-${lines.length}`;
    lines.push({ parentUuid: from, isSidechain: false, type, message, uuid, sessionId: 's' });
    return uuid;
  };
  turns.forEach((asked, turn) => {
    parent = add('user', question, parent);
    const lineOf = new Map<string, string>();
    for (const { id, path } of asked) {
      const content = [{ type: 'tool_use', id, name: 'read', input: { path } }];
      parent = add('assistant', { id: `msg_${turn}`, role: 'assistant', content }, parent);
      lineOf.set(id, parent);
    }
    for (const { id, said } of told(asked)) {
      const content = [{ type: 'tool_result', tool_use_id: id, content: said }];
      parent = add('user', { role: 'user', content }, lineOf.get(id) ?? parent);
    }
  });
  return lines;
}

const told = (asked: readonly Asked[]): readonly Asked[] => asked.filter(({ said }) => said !== undefined);

/** What each call asked for and what was said to it, by the ids that a repair left. */
function pairsIn(history: readonly Fields[]): string[] {
  const open = new Map<unknown, string>();
  const pairs: string[] = [];
  for (const entry of history.flatMap(flat)) {
    const { callId, path, said } = entry;
    if (path !== undefined) open.set(callId, path);
    else if (open.has(callId)) pairs.push(`${open.get(callId)}: ${/^real/.test(said ?? '') ? said : 'unknown'}`);
  }
  return pairs.sort();
}

interface Piece {
  readonly callId: unknown;
  readonly path?: string;
  readonly said?: string;
}

function flat(entry: Fields): Piece[] {
  const message = (entry['message'] ?? entry) as Fields;
  const calls = (message['tool_calls'] ?? []) as { id: string; function: { arguments: string } }[];
  const blocks = Array.isArray(message['content']) ? (message['content'] as Fields[]) : [];
  const pathIn = (text: unknown) => (JSON.parse(String(text)) as { path: string }).path;
  return [
    ...calls.map(({ id, function: { arguments: text } }) => ({ callId: id, path: pathIn(text) })),
    ...(entry['type'] === 'function_call' ? [{ callId: entry['call_id'], path: pathIn(entry['arguments']) }] : []),
    ...(entry['type'] === 'function_call_output' ? [{ callId: entry['call_id'], said: String(entry['output']) }] : []),
    ...(entry['role'] === 'tool' ? [{ callId: entry['tool_call_id'], said: String(entry['content']) }] : []),
    ...blocks.flatMap(({ type, id, input, tool_use_id: of, content }): Piece[] => {
      if (type === 'tool_use') return [{ callId: id, path: (input as { path: string }).path }];
      return type === 'tool_result' ? [{ callId: of, said: String(content) }] : [];
    }),
  ];
}

/** Turns in which ids come again: within one, in the next, or not at all. */
const turnsOf = (ids: readonly string[], mayLack: boolean): fc.Arbitrary<Turns> =>
  fc
    .array(
      fc.array(
        fc.record({
          id: fc.constantFrom(...ids),
          isTold: mayLack ? fc.boolean() : fc.constant(true),
          same: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((all) => {
      let next = 0;
      return all.map((asked) =>
        asked.map(({ id, isTold, same }) => {
          const number = next++;
          const path = mayLack && same ? '/same' : `/${number}`;
          return { id, path, said: isTold ? `real ${number}` : undefined };
        }),
      );
    });

describe.each([
  { format: 'anthropic', write: anthropic, accept: acceptAnthropic },
  { format: 'openai-chat', write: chat, accept: acceptOpenAiChat },
  { format: 'openai-responses', write: responses, accept: acceptOpenAiResponses },
  { format: 'claude-code', write: session, accept: acceptSession },
] as const)('calls of one id in a history of $format', ({ format, write, accept }) => {
  const repaired = (turns: Turns) => repairTranscript<readonly Fields[]>(write(turns), { format });
  const call = (id: string, path: string, said?: string): Asked => ({ id, path, said });

  it('[G-12] keep their results, each under an id of its own', () => {
    const asked = [call('a', '/x', 'real X'), call('a', '/y', 'real Y'), call('b', '/z', 'real Z')];
    const { history, counts } = repaired([asked]);
    expect(pairsIn(history)).toEqual(['/x: real X', '/y: real Y', '/z: real Z']);
    accept(history);
    expect(counts).toMatchObject({ ambiguous_id: 1, repeated_call: 0, duplicate: 0, unanswered: 0, orphan: 0 });
  });

  it('[G-12] are one where they ask for the same and were answered once', () => {
    const { history, counts } = repaired([[call('a', '/x', 'real X'), call('a', '/x')]]);
    expect(pairsIn(history)).toEqual(['/x: real X']);
    expect(counts).toMatchObject({ repeated_call: 1, ambiguous_id: 0 });
  });

  it('[G-12] are two where they ask for the same and were answered differently', () => {
    const { history } = repaired([[call('a', '/x', 'real X'), call('a', '/x', 'real other')]]);
    expect(pairsIn(history)).toEqual(['/x: real X', '/x: real other']);
    accept(history);
  });

  it('[G-12] stay as they are in turns of their own', () => {
    const turns = [[call('call_0', '/x', 'real X')], [call('call_0', '/y', 'real Y')]];
    expect(repaired(turns)).toMatchObject({ repairs: 0 });
    const lacking = [[call('call_0', '/x')], [call('call_0', '/y', 'real Y')]];
    expect(pairsIn(repaired(lacking).history)).toEqual(['/x: unknown', '/y: real Y']);
  });

  it('[G-12] get ids where they have none, as do their results', () => {
    const { history } = repaired([[call('', '/x', 'real X'), call('', '/y', 'real Y')], [call('', '/z', 'real Z')]]);
    expect(pairsIn(history)).toEqual(['/x: real X', '/y: real Y', '/z: real Z']);
    expect(history.flatMap(flat).every(({ callId }) => callId !== '' && callId !== undefined)).toBe(true);
    accept(history);
  });

  it('[G-12] are told from a call that has the id already that one would get', () => {
    const asked = ['a', 'a', 'a_2', 'a'].map((id, index) => call(id, `/${index}`, `real ${index}`));
    const { history } = repaired([asked]);
    expect(pairsIn(history)).toEqual(['/0: real 0', '/1: real 1', '/2: real 2', '/3: real 3']);
    accept(history);
  });

  it('[G-12] have their own results whatever ids they share', () => {
    fc.assert(
      fc.property(turnsOf(['call_0', 'call_1', ''], false), (turns) => {
        const { history } = repaired(turns);
        accept(history);
        expect(pairsIn(history)).toEqual(
          turns.flatMap((asked) => asked.map(({ path, said }) => `${path}: ${said}`)).sort(),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('[G-12] lose no real result, have one each, and are repaired once, where some were not recorded', () => {
    fc.assert(
      fc.property(turnsOf(['call_0', 'call_1', ''], true), (turns) => {
        const { history } = repaired(turns);
        accept(history);
        const real = turns.flat().flatMap(({ said }) => said ?? []);
        const saidOnce = pairsIn(history).filter((pair) => !pair.endsWith('unknown'));
        expect(saidOnce.map((pair) => pair.replace(/^.*: /, '')).sort()).toEqual(real.sort());
        const again = repairTranscript(history, { format });
        expect(again).toMatchObject({ repairs: 0, history });
      }),
      { numRuns: 200 },
    );
  });
});

describe('results that do not say whose they are', () => {
  it('[G-12] belong to the calls they follow that have none', () => {
    const calls = ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: id, arguments: '{}' } }));
    const { history, counts } = repairTranscript<object[]>(
      [
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', content: 'real A' },
        { role: 'tool', tool_call_id: 'b', content: 'real B' },
      ],
      { format: 'openai-chat' },
    );
    expect(history.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'real A' },
      { role: 'tool', tool_call_id: 'b', content: 'real B' },
    ]);
    expect(counts).toMatchObject({ ambiguous_id: 1, orphan: 0, unanswered: 0 });
  });

  it('[G-12] go to the call of their tool where they name one', () => {
    const calls = ['first', 'second'].map((name) => ({
      id: 'x',
      type: 'function',
      function: { name, arguments: '{}' },
    }));
    const { history } = repairTranscript<object[]>(
      [
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: 'x', name: 'second', content: 'real 2' },
        { role: 'tool', tool_call_id: 'x', name: 'first', content: 'real 1' },
      ],
      { format: 'openai-chat' },
    );
    expect(history.slice(1)).toMatchObject([
      { tool_call_id: 'x_2', name: 'second' },
      { tool_call_id: 'x', name: 'first' },
    ]);
  });

  it('[G-12] leave calls that ask the same of different tools two calls', () => {
    const calls = ['first', 'second'].map((name) => ({
      id: 'x',
      type: 'function',
      function: { name, arguments: '{}' },
    }));
    const { history, counts } = repairTranscript<Fields[]>(
      [
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: 'x', content: 'real 1' },
      ],
      { format: 'openai-chat' },
    );
    expect(counts).toMatchObject({ repeated_call: 0, ambiguous_id: 1, unanswered: 1 });
    expect(history[0]).toMatchObject({ tool_calls: [{ id: 'x' }, { id: 'x_2' }] });
    expect(history.slice(1)).toMatchObject([
      { tool_call_id: 'x', content: 'real 1' },
      { tool_call_id: 'x_2', content: expect.stringContaining('outcome unknown') as unknown },
    ]);
  });

  it('[G-12] go to a call that was cut off where no other can have them', () => {
    const calls = [
      { name: 'whole', arguments: '{}' },
      { name: 'cut', arguments: '{"path": "/' },
    ].map((each) => ({ id: 'x', type: 'function', function: each }));
    const repaired = (tool_calls: readonly object[], name: string) =>
      repairTranscript<Fields[]>(
        [
          { role: 'assistant', content: null, tool_calls },
          { role: 'tool', tool_call_id: 'x', name, content: 'real' },
        ],
        { format: 'openai-chat' },
      ).history;
    const named = repaired(calls, 'cut');
    expect(named[0]).toMatchObject({ tool_calls: [{ function: { name: 'whole' } }, { function: { name: 'cut' } }] });
    expect(named.find(({ content }) => content === 'real')).toMatchObject({ tool_call_id: 'x_2', name: 'cut' });
    const twice = repaired([calls[1] ?? {}, calls[1] ?? {}], 'cut');
    expect(twice).toMatchObject([{ tool_calls: [{ id: 'x' }] }, { tool_call_id: 'x', content: 'real' }]);
  });

  it('[G-12] are not given to a later call of the id when they follow their own', () => {
    const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] };
    const result = (content: string) => ({ type: 'tool_result', tool_use_id: 'a', content });
    const { history, findings } = repairTranscript<object[]>(
      [question, use, { role: 'user', content: [result('real'), result('more')] }, use],
      { format: 'anthropic' },
    );
    expect(findings.find(({ rule }) => rule === 'duplicate')).toMatchObject({ differs: true });
    expect(JSON.stringify(history.at(-1))).toContain('outcome unknown');
  });
});

it('[G-12] an id of nine letters and digits gets another one of that form, and a long one does not grow', () => {
  const ids = (id: string) => {
    const { history } = repairTranscript<Fields[]>(
      chat([
        [
          { id, path: '/x', said: 'real X' },
          { id, path: '/y', said: 'real Y' },
        ],
      ]),
      {
        format: 'openai-chat',
      },
    );
    return [...new Set(history.flatMap(flat).map(({ callId }) => String(callId)))];
  };
  expect(ids('aB3dE6gH9')[1]).toMatch(/^[\da-zA-Z]{9}$/);
  expect(ids('a'.repeat(40)).map((id) => id.length)).toEqual([40, 40]);
});
