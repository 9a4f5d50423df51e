import { describe, expect, it } from 'vitest';
import { createClaudeReader } from '../../src/protocol/claudeOutput.ts';

const wallNow = Date.UTC(2026, 10, 21, 12);

function read(...messages: readonly (object | string)[]) {
  const reader = createClaudeReader();
  for (const message of messages) reader.line(typeof message === 'string' ? message : JSON.stringify(message));
  return reader.report(wallNow);
}

const init = { type: 'system', subtype: 'init', session_id: 's-1' };
const uses = (name: string, id = 't1') => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input: {} }] },
});
const result = (fields: object) => ({ subtype: 'success', is_error: false, num_turns: 1, ...fields, type: 'result' });
const apiError = (status: number | null, text: string, fields: object = {}) =>
  result({ is_error: true, api_error_status: status, terminal_reason: 'api_error', result: text, ...fields });

describe('the output of claude', () => {
  it('[S-10] that succeeds gives its text and its session', () => {
    const report = read(init, result({ result: 'hello', session_id: 's-1', terminal_reason: 'completed' }));
    expect(report).toMatchObject({ text: 'hello', sessionId: 's-1', concluded: true, effects: 'none' });
    expect(report.failure).toBeUndefined();
  });

  it('[S-10] has an effect that nobody rules out where two tools share an id, whatever the first result says of its own', () => {
    const declined = (id: string) => ({
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: id, content: '<tool_use_error>no such file</tool_use_error>' }],
      },
    });
    expect(read(init, uses('Bash'), declined('t1')).effects).toBe('none');
    expect(read(init, uses('Bash'), uses('Write'), declined('t1')).effects).toBe('possible');
    expect(read(init, uses('Read'), uses('Bash'), declined('t1')).effects).toBe('possible');
    expect(read(init, uses('Read'), uses('Glob'), declined('t1')).effects).toBe('none');
    expect(read(init, uses('Bash'), uses('Bash'), declined('t1')).effects).toBe('none');
  });

  it('[S-10] is one array of messages when it is json and verbose', () => {
    expect(read(JSON.stringify([init, uses('Bash'), result({ result: 'hello' })]))).toMatchObject({
      text: 'hello',
      effects: 'possible',
    });
  });

  it.each([
    [429, 'API Error: Request rejected (429) · slow down', { kind: 'rate_limit', status: 429 }],
    [529, 'API Error: Repeated 529 Overloaded errors. The API is at capacity', { kind: 'overloaded', status: 529 }],
    [503, 'API Error: 503 Service unavailable. This is a server-side issue', { kind: 'transient', status: 503 }],
    [401, 'Invalid API key · Fix external API key', { kind: 'auth', status: 401 }],
    [403, 'Failed to authenticate. API Error: 403 no', { kind: 'auth', status: 403 }],
    [400, 'Credit balance is too low', { kind: 'quota' }],
    [402, 'API Error: 402 billing', { kind: 'quota' }],
    [404, "There's an issue with the selected model (x).", { kind: 'permanent', reason: 'not_found' }],
    [413, 'Request too large (max 32MB).', { kind: 'permanent', reason: 'message_too_large' }],
    [400, 'API Error: 400 bad field', { kind: 'permanent' }],
    [null, 'API Error: Connection refused — a firewall may be blocking it (ECONNREFUSED)', { kind: 'transient' }],
    [null, "API Error: Can't reach the API server — check your internet or DNS (EAI_AGAIN)", { kind: 'transient' }],
    [null, 'Request timed out. If the API is slow to answer, set API_TIMEOUT_MS above 3000.', { kind: 'timeout' }],
    [null, 'API Error: Overloaded', { kind: 'overloaded' }],
    [null, 'API Error: Internal server error', { kind: 'transient' }],
    [null, 'API Error: Stream ended without receiving any events', { kind: 'transient' }],
    [null, 'API Error: JSON Parse error: Unterminated string', { kind: 'protocol' }],
    [null, 'Not logged in · Please run /login', { kind: 'auth' }],
    [null, "API Error: Claude's response exceeded the 128000 output token maximum.", { kind: 'permanent' }],
    [null, "API Error: Opus 5.5's safeguards flagged this message (x)", { kind: 'permanent' }],
    [429, "You've hit your session limit · resets 3pm", { kind: 'quota' }],
  ])('[S-10] [R-5] with status %s and "%s" is judged by them, though its subtype is success', (status, text, facts) => {
    expect(read(apiError(status, text)).failure).toMatchObject({ ...facts, message: text });
  });

  it.each(['prompt_too_long', 'blocking_limit'])('[S-10] ended by %s is a context that is full', (terminal_reason) => {
    const failure = { kind: 'permanent', reason: 'context_length' };
    expect(read(apiError(400, 'Prompt is too long', { terminal_reason })).failure).toMatchObject(failure);
  });

  it('[S-10] that was interrupted is cancelled, though the exit code is 0', () => {
    const aborted = {
      subtype: 'error_during_execution',
      is_error: true,
      terminal_reason: 'aborted_tools',
      errors: ['x'],
    };
    expect(read(result(aborted)).failure).toMatchObject({ kind: 'cancelled', outcome: 'unknown' });
    const quiet = { terminal_reason: 'aborted_streaming', result: 'half an ans' };
    expect(read(result(quiet)).failure?.kind).toBe('cancelled');
  });

  it('[S-10] tells the errors of a run without a result text', () => {
    const errors = ['No conversation found with session ID: s-9'];
    const failure = read(result({ subtype: 'error_during_execution', is_error: true, errors })).failure;
    expect(failure).toMatchObject({ kind: 'permanent', reason: 'not_found', message: errors[0] });
  });

  it('[S-10] that used up its turns or its budget is permanent', () => {
    const errors = ['Reached maximum number of turns (2)'];
    const failure = read(result({ subtype: 'error_max_turns', is_error: true, errors })).failure;
    expect(failure).toMatchObject({ kind: 'permanent', message: errors[0] });
  });

  it('[S-9] with an empty answer is unknown, with structured output alone it is well', () => {
    expect(read(result({ result: '' })).failure).toMatchObject({ kind: 'unknown', reason: 'empty_response' });
    expect(read(result({ result: '', structured_output: { a: 1 } })).failure).toBeUndefined();
  });

  it('[S-10] whose prompt a hook declined is permanent, and never repeats the prompt', () => {
    const text = 'UserPromptSubmit operation blocked by hook:\n[x]: not on fridays\n\n\nOriginal prompt: my secret';
    const told = read(result({ result: text, num_turns: 0 })).failure;
    expect(told?.kind).toBe('permanent');
    expect(told?.message).toContain('not on fridays');
    expect(told?.message).not.toContain('secret');
    const notice = {
      type: 'system',
      subtype: 'informational',
      prompt_submit_outcome: { kind: 'blocked_by_hook', reason: 'no' },
    };
    expect(read(init, notice, result({ result: text })).failure?.message).toBe('A hook declined the prompt: no');
  });

  it('[S-10] that a hook stopped has not succeeded', () => {
    expect(read(result({ terminal_reason: 'hook_stopped', result: '' })).failure).toMatchObject({ kind: 'permanent' });
  });

  it('[S-10] with two results is judged by the last', () => {
    expect(read(result({ result: 'first' }), apiError(529, 'API Error: 529 Overloaded')).failure?.kind).toBe(
      'overloaded',
    );
    expect(read(apiError(529, 'API Error: 529 Overloaded'), result({ result: 'second' }))).toMatchObject({
      text: 'second',
    });
  });

  it('[S-10] is not taken for an error by what the model says', () => {
    const text = 'HTTP 503, 429 rate_limit_error, Not logged in';
    expect(read(init, result({ result: text })).failure).toBeUndefined();
  });

  it('[R-3] gives the time at which a limit of the account resets, as a quota', () => {
    const event = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: wallNow / 1000 + 90 } };
    const failure = read(event, apiError(429, 'API Error: Request rejected (429) · limit')).failure;
    expect(failure).toMatchObject({ kind: 'quota', retryAfterMs: 90_000 });
  });

  it('[R-3] believes no reset of an account that is further away than a week', () => {
    const event = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1e306 } };
    const failure = read(event, apiError(429, 'API Error: Request rejected (429) · limit')).failure;
    expect(failure).toMatchObject({ kind: 'quota', retryAfterMs: 7 * 24 * 3_600_000 });
  });

  it('[S-10] takes no session whose name would be an option', () => {
    expect(read(init, { type: 'system', session_id: '--dangerously-skip-permissions' }).sessionId).toBe('s-1');
  });

  it('[S-10] is judged in time, and with a short message, however long what it says is', () => {
    const blocked = `UserPromptSubmit operation blocked by hook:${'\n'.repeat(400_000)}x`;
    expect(read(result({ result: blocked, num_turns: 0 })).failure).toMatchObject({ kind: 'permanent' });
    const long = 'x'.repeat(100_000);
    expect(read(result({ result: long, subtype: 'error_max_turns' })).failure?.message).toHaveLength(500);
  });

  it('[S-10] has not ended without a result', () => {
    expect(read(init, uses('Bash'))).toMatchObject({ concluded: false, sessionId: 's-1' });
  });

  it('[S-10] passes over noise, half lines, unknown types and keys of odd kinds', () => {
    const noise = [
      '',
      'warming up',
      '{"type":"result"',
      '[]',
      '[{',
      'null',
      '{"type":7}',
      { type: 'assistant', message: 4 },
    ];
    const odd = [{ type: 'user', message: { content: [null, 1, {}] }, tool_result_meta: [0] }, { type: 'from_2031' }];
    expect(read(...noise, ...odd, init, result({ result: 'fine' }))).toMatchObject({ text: 'fine', effects: 'none' });
  });
});

describe('a run of claude that says how it stands', () => {
  const state = (value: string) => ({ type: 'system', subtype: 'session_state_changed', state: value });
  const writesLost = (lost?: readonly string[]) => ({ type: 'system', subtype: 'session_writes_lost', lost });

  it('[A-2] waits for a person until it goes on', () => {
    expect(read(init, state('running')).waiting).toBeUndefined();
    expect(read(init, state('requires_action')).waiting).toMatchObject({ message: 'it waits for a person to answer' });
    expect(read(init, state('requires_action'), state('running')).waiting).toBeUndefined();
  });

  it('[A-2] tells that its session is not whole, but not that its settings are', () => {
    expect(read(init, writesLost()).sessionLost).toBe(true);
    expect(read(init, writesLost(['transcript', 'stats'])).sessionLost).toBe(true);
    expect(read(init, writesLost(['stats'])).sessionLost).toBeUndefined();
  });
});

describe('the tools of a run of claude', () => {
  const answered = (fields: object, meta: object = {}) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 't1', ...fields }] },
    tool_result_meta: [{ id: 't1', ...meta }],
  });

  it('[R-12] may have effects from the moment they are asked for', () => {
    expect(read(init, uses('Bash')).effects).toBe('possible');
    expect(read(init, uses('mcp__kb__write')).effects).toBe('possible');
  });

  it('[R-12] that only read have none', () => {
    expect(read(init, uses('Read'), uses('Grep')).effects).toBe('none');
  });

  it('[R-12] that were denied, unknown or refused have none', () => {
    const denied = { type: 'system', subtype: 'permission_denied', tool_use_id: 't1' };
    expect(read(init, uses('Bash'), denied, answered({ content: 'no' })).effects).toBe('none');
    for (const meta of [
      { non_execution_kind: 'permission-rule' },
      { non_execution_kind: 'automode-blocked' },
      { non_execution_kind: 'user-rejected', permission_decision: { decision: 'reject', source: 'user_reject' } },
    ])
      expect(read(init, uses('Bash'), answered({ content: 'no' }, meta)).effects).toBe('none');
    expect(read(init, uses('X'), answered({ content: '<tool_use_error>No such tool' })).effects).toBe('none');
  });

  it.each(['user-rejected', 'interrupted', 'cancelled'])(
    '[R-12] that a signal cut short may have effects, though Claude calls them rejected: %s',
    (non_execution_kind) => {
      const content = "The user doesn't want to proceed with this tool use. The tool use was rejected";
      expect(read(init, uses('Write'), answered({ content }, { non_execution_kind })).effects).toBe('possible');
      const cut = '<tool_use_error>Cancelled: parallel tool call errored</tool_use_error>';
      expect(read(init, uses('Write'), answered({ content: cut }, { non_execution_kind })).effects).toBe('possible');
    },
  );

  it('[R-12] that began, or failed while they were called, may have effects, whatever is said of them later', () => {
    const began = { type: 'system', subtype: 'task_started', tool_use_id: 't1' };
    const denied = answered({ content: 'no' }, { non_execution_kind: 'permission-rule' });
    expect(read(init, uses('Bash'), began, denied).effects).toBe('possible');
    const threw = answered({ content: '<tool_use_error>Error calling tool Bash: EPIPE</tool_use_error>' });
    expect(read(init, uses('Bash'), threw).effects).toBe('possible');
  });

  it('[R-12] that ran have effects, whatever they answered', () => {
    expect(read(init, uses('Bash'), answered({ content: 'Exit code 1', is_error: true })).effects).toBe('possible');
  });

  it('[R-12] are told by the turns where there is only a result, and not at all without one', () => {
    expect(read(apiError(529, 'API Error: Overloaded', { num_turns: 2 })).effects).toBe('possible');
    expect(read(apiError(529, 'API Error: Overloaded')).effects).toBe('none');
    expect(read().effects).toBe('unknown');
  });

  it('[R-12] count as having run when more are asked for than are kept in mind', () => {
    const content = Array.from({ length: 1001 }, (_, n) => ({ type: 'tool_use', id: `t${n}`, name: 'Bash' }));
    const denials = content.map(({ id }) => ({ type: 'system', subtype: 'permission_denied', tool_use_id: id }));
    expect(read({ type: 'assistant', message: { content } }, ...denials).effects).toBe('possible');
  });
});

/** What Claude prints at first, of a release that tells of its own retries. */
const begins = { ...init, claude_code_version: '2.1.329' };
const asksAgain = (fields: object = {}) => ({
  type: 'system',
  subtype: 'api_retry',
  attempt: 1,
  max_retries: 1,
  retry_delay_ms: 560,
  error_status: 429,
  ...fields,
});
const synthetic = { type: 'assistant', is_api_error_message: true, message: { model: '<synthetic>', content: [] } };
const limited = [synthetic, apiError(429, 'API Error: Request rejected (429) · slow down')];

function readRun(messages: readonly object[], options = { isStream: true, retriesItself: true }) {
  const reader = createClaudeReader(options);
  for (const message of messages) reader.take(message as Readonly<Record<string, unknown>>);
  return reader.report(wallNow).failure;
}

describe('a run that Claude ended by a word of its own', () => {
  const ended = (terminal: string, fields: object = {}) =>
    read(init, result({ terminal_reason: terminal, ...fields })).failure;

  it.each([
    ['tool_deferred', { kind: 'permanent', message: expect.stringContaining('put a tool call off') as string }],
    ['tool_deferred_unavailable', { kind: 'permanent' }],
    ['stop_hook_prevented', { kind: 'permanent', message: 'A hook stopped the run' }],
    ['background_requested', { kind: 'permanent', outcome: 'unknown' }],
    ['rapid_refill_breaker', { kind: 'permanent', reason: 'context_length' }],
    ['malformed_tool_use_exhausted', { kind: 'protocol' }],
    ['structured_output_retry_exhausted', { kind: 'permanent' }],
    [
      'word_of_tomorrow',
      { kind: 'unknown', reason: 'empty_response', message: expect.stringContaining('word_of_tomorrow') as string },
    ],
  ])('[R-5] [S-10] is judged by it, without an answer: %s', (terminal, facts: Record<string, unknown>) =>
    expect(ended(terminal, { result: '' })).toMatchObject(facts),
  );

  it.each([
    ['rapid_refill_breaker', { kind: 'permanent', reason: 'context_length', message: 'It fills up' }],
    ['malformed_tool_use_exhausted', { kind: 'protocol', message: 'It fills up' }],
    ['tool_deferred_unavailable', { kind: 'permanent', message: 'It fills up' }],
    ['turn_setup_failed', { kind: 'unknown', message: 'It fills up' }],
    ['word_of_tomorrow', { kind: 'unknown', message: 'It fills up' }],
  ])('[R-5] [S-10] is judged by it, with an error: %s', (terminal, facts) => {
    expect(ended(terminal, { is_error: true, result: 'It fills up' })).toMatchObject(facts);
  });

  it('[R-5] [S-10] has succeeded where it had answered, whatever kept it from going on', () => {
    for (const terminal of ['stop_hook_prevented', 'word_of_tomorrow', 'completed'])
      expect(ended(terminal, { result: 'the answer' })).toBeUndefined();
  });
});

describe('a 429 that Claude ends with', () => {
  it('[R-3] [M-13] hints at the whole wait, of which Claude tells what is left every 30 s', () => {
    const waits = [60_000, 30_000, 1].map((retry_delay_ms) => asksAgain({ retry_delay_ms }));
    expect(readRun([begins, ...waits, ...limited])).toMatchObject({ kind: 'rate_limit', retryAfterMs: 60_000 });
    const reader = createClaudeReader({ isStream: true });
    for (const message of [begins, ...waits]) reader.take(message);
    expect(reader.report(wallNow).waiting).toMatchObject({ kind: 'rate_limit', retryAfterMs: 60_000 });
  });

  it('[R-3] [M-13] hints at the wait of its own request, not at that of one before', () => {
    const before = [asksAgain({ retry_delay_ms: 50_000 }), { type: 'assistant', message: { content: [] } }];
    const own = asksAgain({ retry_delay_ms: 20_000 });
    expect(readRun([begins, ...before, own, ...limited])).toMatchObject({ retryAfterMs: 20_000 });
    const next = asksAgain({ attempt: 2, max_retries: 2, retry_delay_ms: 900 });
    expect(readRun([begins, asksAgain({ max_retries: 2, retry_delay_ms: 50_000 }), next, ...limited])).toMatchObject({
      kind: 'rate_limit',
      retryAfterMs: undefined,
    });
  });

  it('[M-13] is a quota when it did not ask again itself: the API asked for more than a minute', () => {
    expect(readRun([begins, ...limited])).toMatchObject({
      kind: 'quota',
      message: expect.stringMatching(/slow down; .*does not tell how long.* over 1m/) as string,
      retryAfterMs: undefined,
    });
  });

  it('[M-13] is a rate limit when it asked again itself', () => {
    expect(readRun([begins, asksAgain(), ...limited])).toMatchObject({ kind: 'rate_limit', retryAfterMs: undefined });
  });

  it('[R-3] has the hint of the API when that was longer than its own wait', () => {
    const told = asksAgain({ retry_delay_ms: 31_642.4 });
    expect(readRun([begins, told, ...limited])).toMatchObject({ kind: 'rate_limit', retryAfterMs: 31_643 });
    const other = asksAgain({ retry_delay_ms: 31_642, error_status: 503 });
    expect(readRun([begins, other, ...limited])).toMatchObject({ retryAfterMs: undefined });
    const late = asksAgain({ retry_delay_ms: 35_000, attempt: 10, max_retries: 10 });
    expect(readRun([begins, late, ...limited])).toMatchObject({ kind: 'rate_limit', retryAfterMs: undefined });
  });

  it('[M-13] is a quota when it had asked again for an earlier request alone', () => {
    expect(readRun([begins, asksAgain(), uses('Read'), ...limited])).toMatchObject({ kind: 'quota' });
    const some = asksAgain({ attempt: 2, max_retries: 10 });
    expect(readRun([begins, some, ...limited])).toMatchObject({ kind: 'quota' });
  });

  it('[M-13] is what it says where nothing can be told by that', () => {
    const plain = { kind: 'rate_limit', message: 'API Error: Request rejected (429) · slow down' };
    expect(readRun([begins, ...limited], { isStream: true, retriesItself: false })).toMatchObject(plain);
    expect(readRun([{ ...init, claude_code_version: '2.1.260' }, ...limited])).toMatchObject(plain);
    expect(readRun([init, ...limited])).toMatchObject(plain);
    expect(readRun([{ ...init, claude_code_version: '2.2' }, ...limited])).toMatchObject({ kind: 'quota' });
    const other = apiError(529, 'API Error: Overloaded');
    expect(readRun([begins, other])).toMatchObject({ kind: 'overloaded', message: 'API Error: Overloaded' });
  });

  it('[R-12] in json is not asked again: Claude has done so already where the wait was short', () => {
    const result = limited.slice(1);
    expect(readRun(result, { isStream: false, retriesItself: true })).toMatchObject({
      kind: 'rate_limit',
      shouldRetry: false,
      message: expect.stringContaining('does not tell how long') as string,
    });
  });

  it('[R-12] that has said nothing has done nothing where it tells as it goes', () => {
    expect(createClaudeReader({ isStream: true }).report(wallNow).effects).toBe('none');
    expect(createClaudeReader().report(wallNow).effects).toBe('unknown');
  });
});
