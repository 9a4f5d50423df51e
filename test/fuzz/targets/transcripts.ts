import { repairTranscript } from '../../../transcript/index.ts';
import { expecting, must, same, type Target } from '../target.ts';

type Format = 'anthropic' | 'openai-chat' | 'openai-responses' | 'claude-code';

const use = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `real ${id}` });
const call = (id: string) => ({ id, type: 'function', function: { name: 'run', arguments: '{}' } });
const entry = (uuid: string, parentUuid: string | null, role: string, content: unknown) => ({
  type: role,
  uuid,
  parentUuid,
  sessionId: 's',
  message: { role, content },
  isSidechain: false,
  timestamp: '2026-01-01T00:00:00Z',
});

/** Histories as they should be; what is valid stays. */
const valid: readonly (readonly [Format, readonly object[]])[] = [
  [
    'anthropic',
    [
      { role: 'user', content: 'do' },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }, use('t1'), use('t2')] },
      { role: 'user', content: [result('t1'), result('t2')] },
      { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
    ],
  ],
  [
    'openai-chat',
    [
      { role: 'user', content: 'do' },
      { role: 'assistant', content: null, tool_calls: [call('c1'), call('c2')] },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
      { role: 'tool', tool_call_id: 'c2', content: 'y' },
      { role: 'assistant', content: 'done' },
    ],
  ],
  [
    'openai-responses',
    [
      { type: 'message', role: 'user', content: 'do' },
      { type: 'reasoning', id: 'rs', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'run', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'x' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'p', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'y' },
    ],
  ],
  [
    'claude-code',
    [
      entry('u1', null, 'user', 'do'),
      entry('u2', 'u1', 'assistant', [use('t1')]),
      { ...entry('u3', 'u2', 'user', [result('t1')]), toolUseResult: 'x', sourceToolAssistantUUID: 'u2' },
      entry('u4', 'u3', 'assistant', [use('t2')]),
    ],
  ],
];

/** Histories of one format: mended once they are well-formed, what was given is not changed, and what is valid stays. */
export function transcripts(format: Format): () => Target {
  return () => {
    const histories = valid.filter(([each]) => each === format).map(([, history]) => history);
    const asLines = (history: readonly object[]): string => history.map((each) => `${JSON.stringify(each)}\n`).join('');
    for (const history of histories.filter(() => format !== 'claude-code'))
      must(repairTranscript(history, { format }).repairs === 0, `a history of ${format} that is valid was changed`);
    return {
      seeds: histories.flatMap((history) => [
        JSON.stringify(history),
        ...(format === 'claude-code' ? [asLines(history)] : []),
      ]),
      run(input) {
        const text = input.toString('utf8');
        if (format === 'claude-code') check(text, format);
        const value = parsed(text);
        if (value !== undefined) check(value, format);
      },
    };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function check(history: unknown, format: Format): void {
  expecting(() => repairTranscript(history), TypeError, RangeError);
  const before = JSON.stringify(history);
  const mended = expecting(() => repairTranscript(history, { format }), TypeError, RangeError);
  same(JSON.stringify(history), before, 'what was given was changed');
  if (mended === undefined) return;
  const again = repairTranscript(mended.history, { format });
  must(
    again.repairs === 0,
    `a history that was mended is mended again: ${JSON.stringify(again.findings).slice(0, 300)}`,
  );
  same(JSON.stringify(again.history), JSON.stringify(mended.history), 'a history that was mended changes again');
  if (mended.repairs === 0) must(mended.history === history, 'a history without a repair is another one');
}
