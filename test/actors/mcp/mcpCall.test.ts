import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { callFacts, toolResult, unlimitedMs } from '../../../src/actors/mcp/mcpCall.ts';
import { AttemptError, type FailureFacts } from '../../../src/policy/failures/failure.ts';

const here = { aborted: false };
const lost: FailureFacts = { kind: 'crash', reason: 'connection_lost', message: 'killed', outcome: 'unknown', code: 9 };
const tooLarge: FailureFacts = { kind: 'protocol', reason: 'message_too_large', message: 'large', outcome: 'unknown' };

function thrown(action: () => unknown): FailureFacts {
  try {
    action();
  } catch (error) {
    if (error instanceof AttemptError) return error.facts;
  }
  throw new Error('It threw no AttemptError');
}

describe('what an error of an MCP request means', () => {
  it.each([
    [-32601, 'permanent', 'failed'],
    [-32602, 'permanent', 'failed'],
    [-32600, 'permanent', 'failed'],
    [-32002, 'permanent', 'failed'],
    [-32042, 'permanent', 'failed'],
    [-32700, 'protocol', 'failed'],
    [-32022, 'protocol', 'failed'],
    [-32603, 'unknown', 'unknown'],
    [-32001, 'unknown', 'unknown'],
    [-32000, 'unknown', 'unknown'],
    [-32050, 'unknown', 'unknown'],
  ])('[R-5] %i of the server is %s', (code, kind, outcome) => {
    expect(callFacts(new ProtocolError(code, 'no'), here)).toMatchObject({ kind, outcome, code, message: 'no' });
  });

  it.each(['Server is overloaded', 'Too many requests', 'rate limit reached', 'busy, try again'])(
    '[R-5] %s is overloaded',
    (text) => {
      expect(callFacts(new ProtocolError(-32001, text), here)).toMatchObject({ kind: 'overloaded', outcome: 'failed' });
    },
  );

  it('[R-5] the words of the server do not outweigh its code', () => {
    expect(callFacts(new ProtocolError(-32602, 'too many arguments'), here)).toMatchObject({ kind: 'permanent' });
  });

  it('[P-1] the end of the connection is the loss itself, of unknown effect', () => {
    const closed = new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed');
    expect(callFacts(closed, { aborted: false, lost })).toEqual(lost);
    expect(callFacts(closed, { aborted: false, lost: tooLarge })).toEqual(tooLarge);
    expect(callFacts(closed, { aborted: false, lost: { ...lost, outcome: 'not_started' } }).outcome).toBe('unknown');
  });

  it('[P-1] a request that found no connection was never started', () => {
    const facts = { kind: 'crash', reason: 'connection_lost', outcome: 'not_started' };
    for (const error of [new Error('Not connected'), new SdkError(SdkErrorCode.NotConnected, 'Not connected')]) {
      expect(callFacts(error, here)).toMatchObject(facts);
      expect(callFacts(error, { aborted: false, lost })).toMatchObject({ ...facts, message: 'killed', code: 9 });
    }
  });

  it('[P-1] an abort of our own is a cancellation, whatever the SDK makes of it', () => {
    expect(callFacts(new SdkError(SdkErrorCode.RequestTimeout, 'aborted'), { aborted: true })).toMatchObject({
      kind: 'cancelled',
    });
  });

  it('[P-1] a server that is itself a client may hand on a limit or a loss of its own, even with our figures', () => {
    const data = { timeout: unlimitedMs };
    const own = new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', data);
    expect(callFacts(own, here)).toMatchObject({ kind: 'timeout', reason: 'attempt_timeout', outcome: 'unknown' });
    expect(callFacts(new ProtocolError(-32001, 'Request timed out', data), here)).toMatchObject({ kind: 'unknown' });
    const closed = new ProtocolError(-32000, 'Connection closed');
    expect(callFacts(closed, { aborted: false, lost })).toMatchObject({ kind: 'unknown', code: -32000 });
  });

  it('[P-1] a method that the era of the connection does not have was never sent', () => {
    const error = new SdkError(SdkErrorCode.MethodNotSupportedByProtocolVersion, 'no such method');
    expect(callFacts(error, here)).toMatchObject({ kind: 'permanent', outcome: 'not_started' });
  });

  it('[R-5] anything else that is thrown about an answer is a malformed one', () => {
    expect(callFacts(new TypeError('bad shape'), here)).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
  });

  it('facts that are known already stay as they are', () => {
    expect(callFacts(new AttemptError(lost), { aborted: true })).toBe(lost);
  });
});

describe('the result of a tool', () => {
  it('is passed on when the tool does not say that it failed', () => {
    const result = { content: [{ type: 'text' as const, text: 'ok' }], isError: false };
    expect(toolResult(result)).toBe(result);
  });

  it('[R-5] is an error with all its text, bounded', () => {
    const content = ['a', 'x'.repeat(3000)].map((text) => ({ type: 'text' as const, text }));
    const { message } = thrown(() => toolResult({ content, isError: true }));
    expect(message).toMatch(/^a\nx+\.\.\.$/);
    expect(message).toHaveLength(2000);
  });

  it('[I-4] says so when a tool fails without a word', () => {
    const facts = thrown(() => toolResult({ content: [], isError: true }));
    expect(facts).toMatchObject({
      kind: 'permanent',
      reason: 'tool_error',
      message: expect.stringMatching(/\w/) as unknown,
    });
  });
});
