import { describe, expect, it } from 'vitest';
import { type ConversationStep, conversationIn, hasAnswers, messagesIn } from '../../../proxy/api/conversation.ts';

const stepsIn = (body: unknown) => conversationIn(messagesIn(body).messages);

/** Steps in few words. */
const shown = (body: object) =>
  stepsIn(body).map((step: ConversationStep) =>
    typeof step === 'string' ? step : [step.tool, step.input, step.answer.ok],
  );

/** Requests as programs wrote them, shortened. */
const bodies = [
  [
    'Claude Code 2.1.318',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>\nx\n</system-reminder>' },
            { type: 'text', text: 'do it' },
          ],
        },
        { role: 'system', content: '# Environment' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { command: 'ls', description: 'Lists' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: 'Exit code 2\nno', is_error: true, tool_use_id: 'toolu_2' },
            { type: 'text', text: '<system-reminder>x</system-reminder>' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_4', name: 'Read', input: { file_path: '/a' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', content: 'Error: is what it holds', tool_use_id: 'toolu_4' }],
        },
        { role: 'user', content: '<system-reminder>A task has ended.</system-reminder>' },
        { role: 'user', content: 'again, please' },
      ],
    },
    [
      'person',
      'model',
      ['Bash', { command: 'ls', description: 'Lists' }, false],
      'model',
      ['Read', { file_path: '/a' }, true],
      'person',
    ],
  ],
  [
    'Codex 0.166',
    {
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You are Codex' }] },
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: '<environment_context>\n</environment_context>' }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'do it' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'call_2' },
        {
          type: 'function_call_output',
          call_id: 'call_2',
          output: 'Wall time: 0.0 seconds\nProcess exited with code 2\nOutput:\nno',
        },
        { type: 'custom_tool_call', call_id: 'call_4', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'custom_tool_call_output', call_id: 'call_4', output: 'apply_patch verification failed: no' },
        { type: 'local_shell_call', call_id: 'call_5', status: 'completed', action: { type: 'exec', command: ['ls'] } },
        { type: 'local_shell_call_output', call_id: 'call_5', output: '{"output":"a","metadata":{"exit_code":0}}' },
        { type: 'function_call', name: 'boom', namespace: 'mcp__t', arguments: '{}', call_id: 'call_6' },
        {
          type: 'function_call_output',
          call_id: 'call_6',
          output: [
            { type: 'input_text', text: 'Wall time: 0.1 seconds\nOutput:' },
            { type: 'input_text', text: 'the database is gone' },
          ],
        },
      ],
    },
    [
      'person',
      'model',
      ['exec_command', { cmd: 'ls' }, false],
      'model',
      ['apply_patch', '*** Begin Patch', false],
      'model',
      ['local_shell_call', { type: 'exec', command: ['ls'] }, true],
      'model',
      // Codex does not tell the model that a tool of a server failed.
      ['mcp__t__boom', {}, true],
    ],
  ],
  [
    'opencode 1.18, two calls at once',
    {
      messages: [
        { role: 'system', content: 'You are opencode' },
        { role: 'user', content: 'do it' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls /nope"}' } },
            { id: 'call_2', type: 'function', function: { name: 'read', arguments: '{"filePath":' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: "ls: cannot access '/nope': No such file or directory\n" },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'all of it' }] },
      ],
    },
    ['person', 'model', ['bash', { command: 'ls /nope' }, false], ['read', '{"filePath":', true]],
  ],
  [
    'gemini-cli 0.61, and a call without an id',
    {
      contents: [
        { parts: [{ text: '<session_context>\n</session_context>' }, { text: 'do it' }], role: 'user' },
        {
          parts: [
            { text: 'So.' },
            { functionCall: { id: 'r_0', args: { command: 'ls', description: 'x' }, name: 'run_shell_command' } },
          ],
          role: 'model',
        },
        {
          parts: [
            {
              functionResponse: {
                name: 'run_shell_command',
                response: { output: '<untrusted_context>\nOutput: no\nExit Code: 2\n</untrusted_context>' },
                id: 'r_0',
              },
            },
          ],
          role: 'user',
        },
        { parts: [{ functionCall: { args: { file_path: 'nope' }, name: 'read_file' } }], role: 'model' },
        { parts: [{ functionResponse: { name: 'read_file', response: { error: 'File not found' } } }], role: 'user' },
        { parts: [{ functionCall: { args: {}, name: 'list' } }], role: 'model' },
        { parts: [{ functionResponse: { name: 'list', response: { rows: [1] } } }], role: 'user' },
      ],
    },
    [
      'person',
      'model',
      ['run_shell_command', { command: 'ls', description: 'x' }, false],
      'model',
      ['read_file', { file_path: 'nope' }, false],
      'model',
      ['list', {}, true],
    ],
  ],
] as const;

describe('the conversation in a request', () => {
  it.each(bodies)('[E-7] of %s: calls, answers, and what persons say', (_name, body, steps) => {
    expect(shown(body)).toEqual(steps);
    expect(hasAnswers(Buffer.from(JSON.stringify(body)))).toBe(true);
  });

  it('[E-7] what is none gives no step', () => {
    for (const body of [
      undefined,
      null,
      7,
      'x',
      [],
      {},
      { messages: 7 },
      { messages: [null, 7, [], 'x'] },
      { input: 'say hi' },
    ])
      expect(stepsIn(body)).toEqual([]);
    const orphan = { messages: [{ role: 'tool', tool_call_id: 'gone', content: 'x' }] };
    expect(stepsIn(orphan)).toEqual([]);
  });

  it('[E-7] keys within a text are none', () => {
    const said = JSON.stringify({
      messages: [{ role: 'user', content: '"tool_use_id" "tool_call_id" _call_output" "functionResponse"' }],
    });
    expect(hasAnswers(Buffer.from(said))).toBe(false);
  });

  it('[E-7] of a long one the end is read', () => {
    const messages = Array.from({ length: 1000 }, (_, index) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name: 'Read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: '' }] },
    ]).flat();
    const steps = conversationIn(messages);
    expect(steps.length).toBe(240);
    expect(steps.at(-1)).toMatchObject({ id: 't999' });
  });
});
