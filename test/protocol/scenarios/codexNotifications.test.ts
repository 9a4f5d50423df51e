import { describe, expect, it } from 'vitest';
import { mayAct, readItem } from '../../../agents/codex/protocol/items.ts';
import { isProgress, readNotice, readTurnError } from '../../../agents/codex/protocol/notifications.ts';
import { requestLimitMs, inputParts, tellableParams } from '../../../agents/codex/protocol/requests.ts';
import { brokenTurn, readThread } from '../../../agents/codex/protocol/threads.ts';

const address = { threadId: 't', turnId: 'u' };

describe('a notification of Codex', () => {
  it.each([
    ['turn/started', { threadId: 't', turn: { id: 'u' } }, { kind: 'turnStarted', thread: 't', turn: 'u' }],
    [
      'turn/completed',
      { threadId: 't', turn: { id: 'u', status: 'failed', error: { message: 'no' } } },
      { kind: 'turnCompleted', status: 'failed', error: { message: 'no' } },
    ],
    [
      'turn/completed',
      { threadId: 't', turn: { status: 'completed', error: null } },
      { kind: 'turnCompleted', turn: undefined, error: undefined },
    ],
    [
      'item/started',
      { ...address, item: { id: 'i', type: 'plan', text: 'x' } },
      { kind: 'itemStarted', item: { id: 'i', text: 'x' } },
    ],
    ['item/agentMessage/delta', { ...address, itemId: 'i', delta: 'x' }, { kind: 'text', item: 'i', text: 'x' }],
    ['item/reasoning/summaryTextDelta', { ...address, itemId: 'i', delta: '' }, { kind: 'reasoning', text: '' }],
    ['item/commandExecution/outputDelta', { ...address, itemId: 'i', delta: 'x' }, { kind: 'output' }],
    [
      'thread/tokenUsage/updated',
      { ...address, tokenUsage: { total: { totalTokens: 3, inputTokens: 'x' } } },
      { kind: 'tokens', total: { total: 3, input: 0 } },
    ],
    [
      'error',
      { ...address, willRetry: true, error: { message: 'm', additionalDetails: 'd' } },
      { kind: 'error', willRetry: true, error: { details: 'd' } },
    ],
    ['serverRequest/resolved', { threadId: 't', requestId: 0 }, { kind: 'requestResolved', request: 0 }],
    ['thread/status/changed', { threadId: 't', status: { type: 'idle' } }, { kind: 'threadIdle' }],
    ['thread/status/changed', { threadId: 't', status: { type: 'systemError' } }, { kind: 'threadIdle' }],
    ['error', { error: { message: 'm' } }, { kind: 'error', willRetry: false, thread: undefined }],
    ['thread/status/changed', { threadId: 't', status: { type: 'active' } }, { kind: 'other', known: true }],
    ['warning', { threadId: null, message: 'x' }, { kind: 'other', known: true, thread: undefined }],
    ['item/brandNew', address, { kind: 'other', known: true }],
    ['brand/new', undefined, { kind: 'other', known: false }],
  ])('[F-12] %s %j is read', (method, params, notice) => {
    expect(readNotice(method, params)).toMatchObject(notice);
  });

  it.each([
    ['turn/started', { threadId: 't' }],
    ['turn/started', { turn: { id: 'u' } }],
    ['turn/completed', { threadId: 't', turn: {} }],
    ['turn/completed', { turn: { status: 'completed' } }],
    ['item/completed', { ...address, item: { type: 'plan' } }],
    ['item/completed', { item: { id: 'i', type: 'plan' } }],
    ['item/agentMessage/delta', { ...address, delta: 'x' }],
    ['item/agentMessage/delta', { ...address, itemId: 'i', delta: 5 }],
    ['item/agentMessage/delta', { itemId: 'i', delta: 'x' }],
    ['thread/tokenUsage/updated', { ...address, tokenUsage: {} }],
    ['error', { ...address }],
    ['serverRequest/resolved', { threadId: 't', requestId: null }],
    ['item/completed', null],
  ])('[F-12] %s %j is malformed', (method, params) => {
    expect(readNotice(method, params).kind).toBe('malformed');
  });

  it.each([
    ['item/started', true],
    ['item/agentMessage/delta', true],
    ['turn/diff/updated', true],
    ['rawResponseItem/completed', true],
    ['error', false],
    ['warning', false],
    ['thread/status/changed', false],
    ['thread/tokenUsage/updated', false],
  ])('[G-7] %s is progress of its turn: %s', (method, progress) => {
    expect(isProgress(method)).toBe(progress);
  });
});

describe('the error of a turn', () => {
  it.each([
    [
      { message: 'm', codexErrorInfo: 'other' },
      { message: 'm', info: 'other', status: undefined },
    ],
    [
      { message: 'm', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 503 } } },
      { info: 'httpConnectionFailed', status: 503 },
    ],
    [
      { message: 'm', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: null } } },
      { info: 'httpConnectionFailed', status: undefined },
    ],
    [{ message: 'm', codexErrorInfo: {} }, { info: undefined }],
    ['text alone', { message: 'text alone', info: undefined }],
  ])('[F-12] %j is read', (given, error) => {
    expect(readTurnError(given)).toMatchObject(error);
  });

  it.each([null, undefined, 5, {}, { message: '' }])('[F-12] %j is none', (given) => {
    expect(readTurnError(given)).toBeUndefined();
  });
});

describe('an item', () => {
  it.each([
    [{ id: 'i', type: 'reasoning', summary: ['a', 5, 'b'], content: null }, 'a\nb'],
    [{ id: 'i', type: 'agentMessage', text: 'x' }, 'x'],
    [{ id: 'i', type: 'commandExecution' }, undefined],
  ])('[F-12] %j says what it says', (raw, text) => {
    expect(readItem(raw)?.text).toBe(text);
  });

  it.each([
    ['commandExecution', 'completed', true],
    ['commandExecution', 'declined', false],
    ['fileChange', 'failed', true],
    ['mcpToolCall', undefined, true],
    ['dynamicToolCall', 'inProgress', true],
    ['webSearch', undefined, false],
    ['agentMessage', undefined, false],
  ])('[R-12] of type %s and status %s may have changed something: %s', (type, status, acts) => {
    expect(mayAct({ id: 'i', type, status, raw: {} })).toBe(acts);
  });
});

describe('requests', () => {
  it.each([
    ['turn/start', {}, 300_000],
    ['thread/start', {}, 30_000],
    ['thread/list', {}, 30_000],
    ['skills/list', {}, 30_000],
    ['config/read', {}, 10_000],
    ['config/value/write', {}, 10_000],
    ['command/exec', { timeoutMs: 1234 }, 1234],
    ['command/exec', { timeoutMs: -1 }, 300_000],
    ['command/exec', {}, 300_000],
    ['anything/else', undefined, 30_000],
  ])('[F-7] %s %j may take %d ms', (method, params, limitMs) => {
    expect(requestLimitMs(method, params)).toBe(limitMs);
  });

  it('[F-27] are told with what names things, and without words', () => {
    const params = {
      threadId: 't',
      input: [],
      limit: 1,
      model: 'x'.repeat(201),
      sandbox: { a: 1 },
      includeTurns: true,
      cursor: null,
    };
    expect(tellableParams(params)).toEqual({
      threadId: 't',
      input: '[left out]',
      limit: 1,
      model: '[left out]',
      sandbox: '[left out]',
      includeTurns: true,
      cursor: null,
    });
    expect(tellableParams(undefined)).toEqual({});
  });

  it('take a text or parts', () => {
    expect(inputParts('hi')).toEqual([{ type: 'text', text: 'hi', text_elements: [] }]);
    expect(inputParts([{ type: 'image', url: 'x' }])).toEqual([{ type: 'image', url: 'x' }]);
  });
});

describe('a thread', () => {
  it('[F-25] whose last turn was cut off says which', () => {
    const turn = (id: string, status: string) => ({ id, status });
    const read = (...turns: object[]) => brokenTurn(readThread({ id: 't', turns })?.turns ?? []);
    expect(read(turn('a', 'interrupted'), turn('b', 'completed'))).toBeUndefined();
    expect(read(turn('a', 'completed'), turn('b', 'interrupted'))).toBe('b');
    expect(read(turn('b', 'inProgress'))).toBe('b');
    expect(read(turn('b', 'failed'))).toBeUndefined();
    expect(read()).toBeUndefined();
  });

  it('[F-12] without an id is none; turns that are none are passed over', () => {
    expect(readThread({})).toBeUndefined();
    expect(readThread({ id: 't', turns: [5, {}, { id: 'u', error: { message: 'no' } }] })).toEqual({
      id: 't',
      turns: [{ id: 'u', status: 'unknown', error: 'no' }],
    });
  });
});
