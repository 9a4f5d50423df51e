import { describe, expect, it } from 'vitest';
import { createCodexReader } from '../../../src/protocol/agentStream.ts';

const wallNow = Date.UTC(2026, 10, 21, 12);

function read(...events: readonly (object | string)[]) {
  const reader = createCodexReader();
  for (const event of events) reader.line(typeof event === 'string' ? event : JSON.stringify(event));
  return reader.report(wallNow);
}

const started = { type: 'thread.started', thread_id: 'th-1' };
const item = (type: string, fields: object = {}) => ({
  type: 'item.completed',
  item: { id: 'item_0', type, ...fields },
});
const says = (text: string) => item('agent_message', { text });
const completed = { type: 'turn.completed', usage: {} };
const failed = (message: string) => ({ type: 'turn.failed', error: { message } });

describe('the output of codex exec --json', () => {
  it('[S-10] that completes its turn gives its last message and its thread', () => {
    const report = read(started, { type: 'turn.started' }, says('one'), says('two'), completed);
    expect(report).toMatchObject({ text: 'two', sessionId: 'th-1', concluded: true, effects: 'none' });
    expect(report.failure).toBeUndefined();
  });

  it.each([
    ['exceeded retry limit, last status: 429 Too Many Requests, request id: x', { kind: 'rate_limit', status: 429 }],
    ['unexpected status 503 Service Unavailable: no, url: http://x, request id: y', { kind: 'transient', status: 503 }],
    ['unexpected status 529 <unknown status code>: no', { kind: 'overloaded' }],
    ['We’re currently experiencing high demand, which may cause temporary errors.', { kind: 'overloaded' }],
    ['Selected model is at capacity. Please try a different model.', { kind: 'overloaded' }],
    ['You’ve hit your usage limit. Try again in 2 hours 30 minutes.', { kind: 'quota', retryAfterMs: 9_000_000 }],
    ['rate limit exceeded: Please try again in 1.5s', { kind: 'rate_limit', retryAfterMs: 1500 }],
    ['unexpected status 401 Unauthorized: no', { kind: 'auth', status: 401 }],
    ['Missing environment variable: `FAKE_KEY`.', { kind: 'auth' }],
    [
      "Codex ran out of room in the model's context window. Start a new thread",
      { kind: 'permanent', reason: 'context_length' },
    ],
    ['stream disconnected before completion: stream closed before response.completed', { kind: 'transient' }],
    ['stream disconnected before completion: idle timeout waiting for SSE', { kind: 'timeout' }],
    ['Incomplete response returned, reason: max_output_tokens', { kind: 'permanent' }],
    ['{"error":{"type":"invalid_request_error","message":"bad"}}', { kind: 'permanent' }],
    ['something new', { kind: 'unknown' }],
  ])('[S-10] [R-5] whose turn failed with "%s" is judged by it, whatever the exit code', (message, facts) => {
    expect(read(started, failed(message))).toMatchObject({ concluded: true, failure: facts });
  });

  it('[S-10] is no failure for notices of retries and warnings on the way', () => {
    const notices = [
      { type: 'error', message: 'Reconnecting... 1/5 (HTTP 503)' },
      item('error', { message: 'Model metadata not found' }),
    ];
    expect(read(started, ...notices, says('done'), completed)).toMatchObject({ text: 'done', failure: undefined });
  });

  it('[S-10] that ends in the middle of a turn says its last error', () => {
    const report = read(started, { type: 'error', message: 'stream disconnected before completion: x' });
    expect(report).toMatchObject({ concluded: false, failure: { kind: 'transient' } });
  });

  it('[S-10] is judged by its last turn', () => {
    expect(read(failed('HTTP 503'), { type: 'turn.started' }, says('done'), completed).failure).toBeUndefined();
    expect(read(says('done'), completed, { type: 'turn.started' }, failed('HTTP 503')).failure?.kind).toBe('transient');
  });

  it('[S-9] that completes without a message is an empty answer', () => {
    expect(read(started, completed).failure).toMatchObject({ kind: 'unknown', reason: 'empty_response' });
  });

  it.each([
    ['command_execution', { status: 'completed' }, 'possible'],
    ['command_execution', { status: 'declined' }, 'none'],
    ['file_change', {}, 'possible'],
    ['mcp_tool_call', { status: 'failed' }, 'possible'],
    ['web_search', {}, 'none'],
    ['reasoning', {}, 'none'],
    ['todo_list', {}, 'none'],
  ])('[R-12] with an item %s %o has effects: %s', (type, fields, effects) => {
    expect(read(started, item(type, fields)).effects).toBe(effects);
  });

  it('[R-12] counts a command from its start', () => {
    const begun = { type: 'item.started', item: { type: 'command_execution', status: 'in_progress' } };
    expect(read(started, begun).effects).toBe('possible');
  });

  it('[O-5] counts each call of a tool once, and no messages', () => {
    const command = { id: 'item_1', type: 'command_execution' };
    const begins = { type: 'item.started', item: command };
    const ends = { type: 'item.completed', item: { ...command, status: 'declined' } };
    const report = read(started, begins, ends, item('web_search', { id: 'item_2' }), says('two'), completed);
    expect(report.calls).toEqual({ tools: 2 });
  });

  it('[S-10] passes over noise and what it does not know', () => {
    expect(read('WARNING: x', '{', '[]', { type: 'turn.failed.v2' }, { item: 1 }, says('ok'), completed)).toMatchObject(
      { text: 'ok' },
    );
  });
});

function readRun(retriesItself: boolean | undefined, ...events: readonly object[]) {
  const reader = createCodexReader(retriesItself);
  for (const event of events) reader.line(JSON.stringify(event));
  return reader.report(wallNow).failure;
}

const away = failed('unexpected status 503 Service Unavailable: no');
const asksAgain = { type: 'error', message: 'Reconnecting... 5/5 (unexpected status 503 Service Unavailable: no)' };
const limitedOnce = failed('exceeded retry limit, last status: 429 Too Many Requests');

describe('a failure that Codex has repeated itself', () => {
  it('[R-6] is not to be tried again by anybody else', () => {
    expect(readRun(undefined, started, asksAgain, away)).toMatchObject({ kind: 'transient', shouldRetry: false });
    expect(readRun(false, started, asksAgain, limitedOnce)).toMatchObject({ kind: 'rate_limit', shouldRetry: false });
    expect(readRun(true, started, away)).toMatchObject({ kind: 'transient', shouldRetry: false });
  });

  it('[R-3] [M-13] is asked once where it is a 429 without a time to wait', () => {
    expect(readRun(false, started, limitedOnce)).toMatchObject({ kind: 'rate_limit', shouldRetry: false });
    const told = failed('rate limit exceeded: Please try again in 1.5s');
    expect(readRun(false, started, told)).toMatchObject({ retryAfterMs: 1500, shouldRetry: undefined });
  });

  it('[R-6] is ours to try again when it has not', () => {
    expect(readRun(false, started, away)?.shouldRetry).toBeUndefined();
    const before = [started, asksAgain, completed, { type: 'turn.started' }];
    expect(readRun(false, ...before, away)?.shouldRetry).toBeUndefined();
  });
});
