import { describe, expect, it } from 'vitest';
import { isTimeoutReason } from '../../../src/policy/failures/timeoutReason.ts';

const named = (name: string, message = 'x') => Object.assign(new Error(message), { name });

describe('the reason of an abort or a cancel', () => {
  it.each([
    ['AbortSignal.timeout', new DOMException('The operation was aborted due to timeout', 'TimeoutError')],
    ['an error of that name', named('TimeoutError')],
    ['the official SDK, as it writes it to the server', 'McpError: MCP error -32001: Request timed out'],
    ['the official SDK, as an error', Object.assign(new Error('x'), { code: -32_001 })],
    ['its second edition', Object.assign(new Error('x'), { code: 'REQUEST_TIMEOUT' })],
    ['a socket', Object.assign(new Error('x'), { code: 'ETIMEDOUT' })],
    ['words', 'Timeout after 60s'],
    ['words of an error', new Error('Maximum total timeout exceeded')],
    ['words of Go', 'context deadline exceeded'],
  ])('[R-18] is a limit that passed: %s', (_, reason) => {
    expect(isTimeoutReason(reason)).toBe(true);
  });

  it.each([
    ['nothing', undefined],
    ['an abort', new DOMException('This operation was aborted', 'AbortError')],
    ['a person', 'User cancelled the request'],
    ['a word that has it within', 'sometimeouts'],
    [
      'a getter that throws',
      Object.defineProperty({}, 'name', {
        get: () => {
          throw new Error('no');
        },
      }),
    ],
  ])('[R-18] is a word of its caller: %s', (_, reason) => {
    expect(isTimeoutReason(reason)).toBe(false);
  });
});
